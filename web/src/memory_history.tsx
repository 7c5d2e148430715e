import { useState } from "preact/hooks";

import { shownMoment } from "./dates";
import { turnOf, type MemoryChange, type MemoryRun } from "./memory_api";
import { Confirm } from "./memory_item";
import type { MemoryActions } from "./memory_panel";
import { worded } from "./memory_words";
import { strings } from "./strings";
import type { Turn } from "./types";
import { spaced, titled } from "./words";

const said = strings.memory;
const RUNS_SHOWN = 20;

const isTelling = (given: object): boolean => Object.values(given).some((one) => one !== null && one !== "");

interface TurnSourcesProps {
  turns: number[];
  actions: MemoryActions;
}

/** The turns that something comes from; each opens in place, archived ones too. */
export function TurnSources({ turns, actions }: TurnSourcesProps) {
  const [opened, setOpened] = useState<number | null>(null);
  const [turn, setTurn] = useState<Turn | null>(null);
  const [isAbsent, setAbsent] = useState(false);
  if (turns.length === 0) return null;
  const toggle = (number: number): void => {
    setTurn(null);
    setAbsent(false);
    setOpened(opened === number ? null : number);
    if (opened === number) return;
    turnOf(actions.chatId, actions.patientId, number).then(
      (found) => (found ? setTurn(found) : setAbsent(true)),
      () => setAbsent(true),
    );
  };
  return (
    <div class="memory-sources">
      {turns.map((number) => (
        <button
          type="button"
          class="button tiny"
          key={number}
          aria-expanded={opened === number}
          onClick={() => toggle(number)}
        >
          {said.turn(number)}
        </button>
      ))}
      {opened !== null && isAbsent && (
        <p class="sheet-note" role="status">
          {said.noTurn}
        </p>
      )}
      {opened !== null && turn?.turn_id === opened && <Excerpt turn={turn} />}
    </div>
  );
}

function Excerpt({ turn }: { turn: Turn }) {
  return (
    <blockquote class="memory-turn" aria-label={said.turn(turn.turn_id)}>
      <p>
        <strong>{turn.user || said.user}</strong>: {turn.user_message}
      </p>
      {turn.agent_responses.map((one) => (
        <p key={one.message_id}>
          <strong>{spaced(one.agent)}</strong>: {one.text}
        </p>
      ))}
    </blockquote>
  );
}

export function Runs({ runs, actions }: { runs: MemoryRun[]; actions: MemoryActions }) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? runs : runs.slice(0, RUNS_SHOWN);
  return (
    <section class="memory-list">
      <h3>{said.ran}</h3>
      {runs.length === 0 && <p class="sheet-note">{said.noneRan}</p>}
      <ul>
        {shown.map((run) => (
          <li key={run.id} class="memory-item">
            <p class="memory-head">
              <span class="memory-label">{titled(run.tool)}</span>
              {!run.success && <span class="badge">{said.failed}</span>}
            </p>
            <p class="memory-value">{run.success ? resultOf(run) : (run.error ?? said.failed)}</p>
            <p class="sheet-note">
              {spaced(run.agent)} · {shownMoment(run.at)} · {said.asked(run.asked)}
            </p>
            {isTelling(run.parameters) && <p class="sheet-note">{said.givenTo(worded(run.parameters))}</p>}
            <TurnSources turns={run.turn_id > 0 ? [run.turn_id] : []} actions={actions} />
          </li>
        ))}
      </ul>
      {shown.length < runs.length && (
        <button type="button" class="button" onClick={() => setShowsAll(true)}>
          {said.allRuns(runs.length)}
        </button>
      )}
    </section>
  );
}

/** What came of a run; of most no more than that it is done is kept. */
const resultOf = (run: MemoryRun): string => (run.result === "done" ? strings.tool.done : run.result);

export function Changes({ changes, actions }: { changes: MemoryChange[]; actions: MemoryActions }) {
  return (
    <section class="memory-list">
      <h3>{said.changes}</h3>
      {changes.length === 0 && <p class="sheet-note">{said.noChanges}</p>}
      <ul>
        {changes.map((one) => (
          <ChangeRow key={one.change_id} change={one} actions={actions} />
        ))}
      </ul>
    </section>
  );
}

function ChangeRow({ change, actions }: { change: MemoryChange; actions: MemoryActions }) {
  const [isAsking, setAsking] = useState(false);
  const undo = (): void => {
    void actions.onChange({ op: "undo", change_id: change.change_id }, said.undone(change.label));
    setAsking(false);
  };
  return (
    <li class="memory-item">
      <p>
        {said.changed(change.by, said.did[change.action], change.label)}{" "}
        {change.undone && <span class="badge">{said.takenBack}</span>}
      </p>
      <p class="memory-value">
        <del>{worded(change.before)}</del> → <ins>{worded(change.after)}</ins>
      </p>
      <p class="sheet-note">{shownMoment(change.at)}</p>
      {change.can_undo && !isAsking && (
        <button
          type="button"
          class="button tiny"
          disabled={actions.isBusy}
          aria-label={said.undoLong(change.label)}
          onClick={() => setAsking(true)}
        >
          {said.undo}
        </button>
      )}
      {isAsking && (
        <Confirm
          question={said.askUndo(change.label)}
          isBusy={actions.isBusy}
          onYes={undo}
          onNo={() => setAsking(false)}
        />
      )}
    </li>
  );
}
