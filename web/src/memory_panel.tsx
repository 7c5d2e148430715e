import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "./api";
import * as api from "./memory_api";
import type { Memory, MemoryItem, Operation } from "./memory_api";
import { Changes, Runs } from "./memory_history";
import { ItemRow } from "./memory_item";
import { Sheet } from "./sheet";
import { strings } from "./strings";

const said = strings.memory;
const CHANGED = 412;

interface MemoryPanelProps {
  chatId: string;
  patientId: string;
  /** Whose it is: the sheet may lie over the page's own words on that. */
  who: ComponentChildren;
  onClose: () => void;
}

/** What each row can ask of the panel. */
export interface MemoryActions {
  chatId: string;
  patientId: string;
  isBusy: boolean;
  /** Whether it was stored. */
  onChange: (operation: Operation, done: string) => Promise<boolean>;
}

/** What is remembered of one patient, with its sources; people can put it right. */
export function MemoryPanel({ chatId, patientId, who, onClose }: MemoryPanelProps) {
  const { memory, problem, told, isBusy, change } = useMemory(chatId, patientId);
  const actions = { chatId, patientId, isBusy, onChange: change };
  return (
    <Sheet id="memory-title" title={said.title(patientId)} who={who} onClose={onClose}>
      <p class="sheet-note" role="status">
        {told ?? (memory ? said.hint : !problem && said.loading)}
      </p>
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
      {memory && <MemoryBody memory={memory} actions={actions} />}
    </Sheet>
  );
}

function useMemory(chatId: string, patientId: string) {
  const [memory, setMemory] = useState<Memory | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [told, setTold] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isOpen = useRef(true);
  // What belongs to a patient is shown for that patient only.
  const show = useCallback(
    (found: Memory) => isOpen.current && found.patient_id === patientId && setMemory(found),
    [patientId],
  );
  const failed = (error: unknown): void => {
    setProblem(error instanceof ApiError ? error.message : strings.unreachable);
  };
  useEffect(() => {
    isOpen.current = true;
    api.memory(chatId, patientId).then(show, failed);
    return () => {
      isOpen.current = false;
    };
  }, [chatId, patientId, show]);
  const change = async (operation: Operation, done: string): Promise<boolean> => {
    if (!memory) return false;
    setBusy(true);
    setProblem(null);
    setTold(said.storing);
    try {
      show(await api.change(chatId, patientId, operation, memory.revision));
      setTold(done);
      return true;
    } catch (error) {
      failed(error);
      setTold(null);
      // Somebody, or a turn, was faster: show what holds now.
      if (error instanceof ApiError && error.status === CHANGED) {
        await api.memory(chatId, patientId).then(show, failed);
      }
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { memory, problem, told, isBusy, change };
}

function MemoryBody({ memory, actions }: { memory: Memory; actions: MemoryActions }) {
  return (
    <div class="memory" tabIndex={0} role="region" aria-label={said.content}>
      {memory.topic && <List title={said.topic} items={[memory.topic]} none="" actions={actions} />}
      <List title={said.understood} items={memory.understood} none={said.noneUnderstood} actions={actions} />
      <List title={said.found} items={memory.found} none={said.noneFound} actions={actions} />
      <Runs runs={memory.ran} actions={actions} />
      <Changes changes={memory.changes} actions={actions} />
      <details class="memory-summary">
        <summary>{said.summary}</summary>
        <pre>{memory.summary}</pre>
      </details>
    </div>
  );
}

interface ListProps {
  title: string;
  items: MemoryItem[];
  none: string;
  actions: MemoryActions;
}

function List({ title, items, none, actions }: ListProps) {
  return (
    <section class="memory-list">
      <h3>{title}</h3>
      {items.length === 0 && <p class="sheet-note">{none}</p>}
      <ul>
        {items.map((item) => (
          <ItemRow key={item.id} item={item} actions={actions} />
        ))}
      </ul>
    </section>
  );
}
