import { useEffect, useRef, useState } from "preact/hooks";

import { shownMoment } from "./dates";
import type { MemoryItem } from "./memory_api";
import { TurnSources } from "./memory_history";
import type { MemoryActions } from "./memory_panel";
import { telling, worded } from "./memory_words";
import { strings } from "./strings";
import { plain, spaced, titled } from "./words";

const said = strings.memory;

const SHORT_CHARS = 24;

type Mode = "shown" | "correcting" | "retiring";

/** One thing that is remembered: its value, where it comes from, and what can be done about it. */
export function ItemRow({ item, actions }: { item: MemoryItem; actions: MemoryActions }) {
  const [mode, setMode] = useState<Mode>("shown");
  const back = (): void => setMode("shown");
  const retire = (): void => {
    void actions.onChange({ op: "retire", item: item.id }, said.retired(item.label));
    back();
  };
  return (
    <li class={`memory-item ${item.status}`}>
      <p class="memory-head">
        {item.kind !== "topic" && <span class="memory-label">{item.label}</span>}
        {item.status !== "active" && <span class="badge">{said.status[item.status]}</span>}
      </p>
      <Value value={item.kind === "topic" ? plain(String(item.value)) : item.value} />
      <p class="sheet-note">{origin(item)}</p>
      <TurnSources turns={item.sources.turns} actions={actions} />
      {mode === "shown" && <Buttons item={item} actions={actions} onMode={setMode} />}
      {mode === "correcting" && <Correction item={item} actions={actions} onDone={back} />}
      {mode === "retiring" && (
        <Confirm question={said.askRetire(item.label)} isBusy={actions.isBusy} onYes={retire} onNo={back} />
      )}
    </li>
  );
}

function origin(item: MemoryItem): string {
  const { agent, tool } = item.sources;
  const at = item.updated_at === null ? null : shownMoment(item.updated_at);
  return [said.origin[item.origin] ?? item.origin, agent && spaced(agent), tool && titled(tool), at]
    .filter(Boolean)
    .join(" · ");
}

interface ButtonsProps {
  item: MemoryItem;
  actions: MemoryActions;
  onMode: (mode: Mode) => void;
}

function Buttons({ item, actions, onMode }: ButtonsProps) {
  const restore = (): void =>
    void actions.onChange({ op: "restore", item: item.id }, said.restored(item.label));
  return (
    <p class="memory-actions">
      {item.can_correct && (
        <button
          type="button"
          class="button tiny"
          disabled={actions.isBusy}
          aria-label={said.correctLong(item.label)}
          onClick={() => onMode("correcting")}
        >
          {said.correct}
        </button>
      )}
      {item.status === "active" && item.kind !== "topic" && (
        <button
          type="button"
          class="button tiny"
          disabled={actions.isBusy}
          aria-label={said.retireLong(item.label)}
          onClick={() => onMode("retiring")}
        >
          {said.retire}
        </button>
      )}
      {item.status === "retired" && (
        <button
          type="button"
          class="button tiny"
          disabled={actions.isBusy}
          aria-label={said.restoreLong(item.label)}
          onClick={restore}
        >
          {said.restore}
        </button>
      )}
    </p>
  );
}

interface CorrectionProps {
  item: MemoryItem;
  actions: MemoryActions;
  onDone: () => void;
}

function Correction({ item, actions, onDone }: CorrectionProps) {
  // Of what a tool returned, the name is what people can put right.
  const before = item.kind === "thing" ? item.label : item.value;
  const isText = typeof before === "string";
  const [text, setText] = useState(isText ? before : JSON.stringify(before, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    const value = isText ? text.trim() : parsed(text);
    if (value === undefined || value === "") {
      setProblem(said.notAValue);
      return;
    }
    // What was not stored stays, to be sent once more.
    void actions
      .onChange({ op: "correct", item: item.id, value }, said.corrected(item.label))
      .then((isStored) => isStored && onDone());
  };
  return (
    <form class="memory-form" onSubmit={submit}>
      <label>
        {said.newValue(item.label)}
        <textarea
          ref={field}
          rows={isText ? 2 : 5}
          maxLength={2000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
      <p class="memory-actions">
        <button type="submit" class="button primary" disabled={actions.isBusy}>
          {said.save}
        </button>
        <button type="button" class="button" onClick={onDone}>
          {said.cancel}
        </button>
      </p>
    </form>
  );
}

interface ConfirmProps {
  question: string;
  isBusy: boolean;
  onYes: () => void;
  onNo: () => void;
}

/** Asks before something changes; the safe answer has the focus. */
export function Confirm({ question, isBusy, onYes, onNo }: ConfirmProps) {
  const no = useRef<HTMLButtonElement>(null);
  useEffect(() => no.current?.focus(), []);
  return (
    <div class="memory-actions" role="group" aria-label={question}>
      <span>{question}</span>
      <button type="button" class="button primary" disabled={isBusy} onClick={onYes}>
        {said.yes}
      </button>
      <button ref={no} type="button" class="button" onClick={onNo}>
        {said.no}
      </button>
    </div>
  );
}

export function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object") return <p class="memory-value">{worded(value)}</p>;
  if (Array.isArray(value)) return <Several texts={value.map(worded)} />;
  return (
    <dl class="memory-value">
      {telling(value).map(([name, one]) => (
        <div key={name}>
          <dt>{plain(name)}</dt>
          <dd>{worded(one)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Short values on one line, long ones each on its own. */
function Several({ texts }: { texts: string[] }) {
  if (texts.every((one) => one.length <= SHORT_CHARS)) {
    return <p class="memory-value">{texts.join(", ")}</p>;
  }
  return (
    <ul class="memory-value">
      {texts.map((one, place) => (
        <li key={place}>{one}</li>
      ))}
    </ul>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
