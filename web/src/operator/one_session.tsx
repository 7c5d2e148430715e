import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "./operator_api";
import { when } from "./plan";
import { Sure } from "./sure";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Done, SessionAct, SessionAction, SessionView } from "./types";
import { words } from "./words";

const said = words.session;
const ACTIONS = ["resume", "move", "ask_again", "pin", "end"] as const;

/** Opens a session by the beginning of its id, as logs and the journal name it. */
export function FindSession({ onOpen }: { onOpen: (session: string) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      class="panel field inline"
      onSubmit={(event) => {
        event.preventDefault();
        onOpen(text.trim());
      }}
    >
      <label for="find-session">{said.find}</label>
      <input id="find-session" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" class="button" disabled={text.trim().length < 8}>
        {said.show}
      </button>
    </form>
  );
}

interface OneSessionProps {
  scenarioId: string;
  session: string;
  onDone: () => Promise<void>;
  onClose: () => void;
}

/** One session: its way, its fields, what comes next, and what to do about it. */
export function OneSession({ scenarioId, session, onDone, onClose }: OneSessionProps) {
  const [view, setView] = useState<SessionView | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [told, setTold] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const read = (): void => {
    api
      .session(scenarioId, session)
      .then((found) => {
        setView(found);
        setTrouble(null);
      })
      .catch((error: unknown) => {
        setView(null);
        setTrouble(troubleOf(error));
      });
  };
  useEffect(read, [scenarioId, session]);
  useEffect(() => heading.current?.focus(), []);
  const done = async (act: SessionAct): Promise<void> => {
    await api.act(scenarioId, session, act);
    setTold(said.done[act.action]);
    if (act.action === "end") setView(null);
    else read();
    // The form is free for the next act already; what is read anew must not empty it later.
    void onDone();
  };
  return (
    <section class="panel" aria-labelledby="session-title">
      <div class="panel-head">
        <h3 id="session-title" ref={heading} tabIndex={-1}>
          {said.title(session.slice(0, 10))}
        </h3>
        <button type="button" class="button subtle" onClick={onClose}>
          {said.close}
        </button>
      </div>
      <Problem trouble={trouble} />
      <p role="status">{told}</p>
      {view && <SessionFacts view={view} />}
      {view && <ActForm view={view} onAct={done} />}
    </section>
  );
}

function SessionFacts({ view }: { view: SessionView }) {
  const { next } = view;
  return (
    <div>
      <p>
        {said.at(view.step_name, view.version)} {view.is_left && said.left}{" "}
        {view.reason && said.flagged(words.review.reasons[view.reason] ?? view.reason)}{" "}
        {view.pinned && said.pinned}
      </p>
      <h4>{said.way}</h4>
      <ol class="way">
        {view.way.map((visit, place) => (
          <li key={place}>
            {visit.name} <span class="hint">{visit.is_skipped ? said.skipped : when(visit.at)}</span>
          </li>
        ))}
      </ol>
      {view.checkpoints.length > 0 && <p>{said.checkpoints(view.checkpoints.join(", "))}</p>}
      <h4>{said.fields}</h4>
      {view.fields.length === 0 ? (
        <p class="hint">{said.noFields}</p>
      ) : (
        <ul>
          {view.fields.map((field) => (
            <li key={field.name}>
              <strong>{field.label}</strong>: {String(field.value)}{" "}
              <span class="hint">{said.evidence(field.source, field.turn, field.quote)}</span>
            </li>
          ))}
        </ul>
      )}
      {view.missing.length > 0 && <p>{said.missing(view.missing.join(", "))}</p>}
      <h4>{said.next}</h4>
      <p>
        {next
          ? said.would(
              next.version,
              words.dryRun.effects[next.effect] ?? next.effect,
              view.steps[next.step_after] ?? next.step_after,
              [...next.asks, ...next.runs].join(", "),
            )
          : said.noNext}
      </p>
    </div>
  );
}

interface ActFormProps {
  view: SessionView;
  onAct: (act: SessionAct) => Promise<void>;
}

function ActForm({ view, onAct }: ActFormProps) {
  const [action, setAction] = useState<SessionAction>("resume");
  const [step, setStep] = useState(view.step);
  const [field, setField] = useState(view.fields[0]?.name ?? "");
  const [reason, setReason] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const act = (): void => {
    setTrouble(null);
    const more = action === "move" ? { step } : action === "ask_again" ? { fields: [field] } : {};
    onAct({ action, reason: reason.trim(), ...more })
      .then(() => setReason((now) => (now === reason ? "" : now)))
      .catch((error: unknown) => setTrouble(troubleOf(error)));
  };
  return (
    <div class="act-form">
      <h4>{said.act}</h4>
      <Choice id="act-kind" label={said.what} value={action} onChange={setAction} />
      {action === "move" && (
        <div class="field">
          <label for="act-step">{said.where}</label>
          <select id="act-step" value={step} onChange={(event) => setStep(event.currentTarget.value)}>
            {Object.entries(view.steps).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </div>
      )}
      {action === "ask_again" && (
        <div class="field">
          <label for="act-field">{said.which}</label>
          <select id="act-field" value={field} onChange={(event) => setField(event.currentTarget.value)}>
            {view.fields.map((one) => (
              <option key={one.name} value={one.name}>
                {one.label}
              </option>
            ))}
          </select>
        </div>
      )}
      <Reason id="act-reason" value={reason} onInput={setReason} />
      <Problem trouble={trouble} />
      <button
        type="button"
        class="button primary"
        disabled={reason.trim().length < 3}
        onClick={() => setAsking(true)}
      >
        {said.doIt}
      </button>
      {isAsking && (
        <Sure question={said.sure(said.actions[action])} onYes={act} onNo={() => setAsking(false)} />
      )}
    </div>
  );
}

interface BulkProps {
  scenarioId: string;
  versions: number[];
  onDone: () => Promise<void>;
}

/** The same for every session of a filter. */
export function BulkActs({ scenarioId, versions, onDone }: BulkProps) {
  const [filter, setFilter] = useState("*");
  const [action, setAction] = useState<SessionAction>("resume");
  const [step, setStep] = useState("");
  const [reason, setReason] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [result, setResult] = useState<Done | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const run = async (): Promise<void> => {
    setTrouble(null);
    const which = filter.startsWith("v") ? { version: Number(filter.slice(1)) } : { review: filter };
    const what = action === "move" ? { step } : action === "ask_again" ? { fields: [step] } : {};
    const sum: Done = { done: 0, refused: [], cursor: "" };
    try {
      do {
        const sent = { action, reason: reason.trim(), ...which, ...what, after: sum.cursor };
        const page = await api.actOnAll(scenarioId, sent);
        sum.done += page.done;
        sum.refused = [...sum.refused, ...page.refused];
        sum.cursor = page.cursor;
      } while (sum.cursor);
      setResult(sum);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    await onDone();
  };
  return (
    <section class="panel" aria-labelledby="bulk-title">
      <h3 id="bulk-title">{said.bulk}</h3>
      <div class="field">
        <label for="bulk-filter">{said.filter}</label>
        <select id="bulk-filter" value={filter} onChange={(event) => setFilter(event.currentTarget.value)}>
          <option value="*">{said.allFlagged}</option>
          {Object.entries(words.review.reasons).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
          {versions.map((version) => (
            <option key={version} value={`v${version}`}>
              {said.allOf(version)}
            </option>
          ))}
        </select>
      </div>
      <Choice id="bulk-kind" label={said.what} value={action} onChange={setAction} />
      {(action === "move" || action === "ask_again") && (
        <div class="field">
          <label for="bulk-step">{action === "move" ? said.stepId : said.fieldName}</label>
          <input id="bulk-step" value={step} onInput={(event) => setStep(event.currentTarget.value)} />
        </div>
      )}
      <Reason id="bulk-reason" value={reason} onInput={setReason} />
      <Problem trouble={trouble} />
      <button
        type="button"
        class="button"
        disabled={reason.trim().length < 3}
        onClick={() => setAsking(true)}
      >
        {said.doAll}
      </button>
      <div role="status">
        {result && <p>{said.result(result.done, result.refused.length)}</p>}
        {result && result.refused.length > 0 && (
          <ul>
            {result.refused.slice(0, 20).map((one) => (
              <li key={one.session}>
                <code>{one.session.slice(0, 10)}</code> {one.why}
              </li>
            ))}
          </ul>
        )}
      </div>
      {isAsking && (
        <Sure
          question={said.sureAll(said.actions[action])}
          onYes={() => void run()}
          onNo={() => setAsking(false)}
        />
      )}
    </section>
  );
}

interface ChoiceProps {
  id: string;
  label: string;
  value: SessionAction;
  onChange: (action: SessionAction) => void;
}

const Choice = ({ id, label, value, onChange }: ChoiceProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value as SessionAction)}>
      {ACTIONS.map((action) => (
        <option key={action} value={action}>
          {said.actions[action]}
        </option>
      ))}
    </select>
  </div>
);

interface ReasonProps {
  id: string;
  value: string;
  onInput: (text: string) => void;
}

const Reason = ({ id, value, onInput }: ReasonProps) => (
  <div class="field">
    <label for={id}>{said.reason}</label>
    <input id={id} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
  </div>
);
