import { useState } from "preact/hooks";

import * as api from "./api";
import { View } from "./chart_view";
import { claimsInText } from "./claims";
import { shownDate } from "./dates";
import * as rounds from "./rounds_api";
import type { RoundCard, RoundView, Severity, SignOut } from "./rounds_api";
import { addressOf, Identity, isDone, Problem, useRead } from "./rounds_page";
import { SourcePanel, type Opened } from "./source_panel";
import { strings } from "./strings";

const said = strings.rounds;
const SEVERITIES: Severity[] = ["stable", "watcher", "unstable"];
type Act = (deed: Parameters<typeof rounds.act>[2], body?: unknown) => Promise<boolean>;

interface CardOfProps {
  roundId: string;
  patientId: string;
  onSignedOut: (error: unknown) => void;
}

/** One patient's card: read when it is opened, and after each deed. */
export function CardOf({ roundId, patientId, onSignedOut }: CardOfProps) {
  const { found, problem, again, setProblem } = useRead(
    () => rounds.showCard(roundId, patientId),
    onSignedOut,
  );
  const list = useRead<RoundView>(() => rounds.showRound(roundId), onSignedOut);
  const [opened, setOpened] = useState<Opened | null>(null);
  const act: Act = async (deed, body) => {
    try {
      await rounds.act(roundId, patientId, deed, body);
      await again();
      return true;
    } catch (error) {
      setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
      return false;
    }
  };
  // What came late and is somebody else's is never drawn.
  const card = found?.row.patient_id === patientId ? found : null;
  const who = card === null ? patientId : <Identity who={card.row.who} patientId={patientId} />;
  return (
    <>
      <Pages roundId={roundId} patientId={patientId} list={list.found} />
      <Problem text={problem} />
      {card && (
        <article class="round-card" aria-labelledby="round-who">
          <h2 id="round-who" class="round-who" dir="auto">
            {who}
          </h2>
          {card.row.problem && <p class="strip warning">{card.row.problem}</p>}
          <Deeds card={card} act={act} />
          {card.parts.map(({ part, view }) => (
            <View
              key={part}
              view={{ ...view, title: said.parts[part] }}
              onSource={(one) => card.chat_id && setOpened(one)}
              isNarrow
            />
          ))}
          {card.said.length > 0 && <h3>{said.said}</h3>}
          {card.said.map((one) => (
            <p class="round-words" key={one.message_id} dir="auto">
              {claimsInText(one.text, one.statements)}
            </p>
          ))}
          <Notes card={card} act={act} />
          <HandOver card={card} act={act} />
        </article>
      )}
      {card && opened && (
        <SourcePanel
          key={opened.citation.ref}
          chatId={card.chat_id}
          patientId={patientId}
          opened={opened}
          who={who}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

interface PagesProps {
  roundId: string;
  patientId: string;
  list: RoundView | null;
}

function Pages({ roundId, patientId, list }: PagesProps) {
  const ids = list?.patients.map((one) => one.patient_id) ?? [];
  const at = ids.indexOf(patientId);
  const before = ids[at - 1];
  const after = at < 0 ? undefined : ids[at + 1];
  return (
    <nav class="round-pages" aria-label={said.title}>
      <a class="button" href={addressOf(roundId)}>
        {said.allPatients}
      </a>
      {before !== undefined && (
        <a class="button" href={addressOf(roundId, before)}>
          {said.previous}
        </a>
      )}
      {at >= 0 && <span>{said.place(at + 1, ids.length)}</span>}
      {after !== undefined && (
        <a class="button" href={addressOf(roundId, after)}>
          {said.next}
        </a>
      )}
    </nav>
  );
}

interface PartProps {
  card: RoundCard;
  act: Act;
}

function Deeds({ card, act }: PartProps) {
  const done = isDone(card.row);
  return (
    <p class="round-pages">
      <button
        type="button"
        class="button"
        aria-pressed={done}
        onClick={() => void act("tick", { done: !done })}
      >
        {done ? said.untick : said.tick}
      </button>
      {card.row.state === "failed" && card.chat_id && (
        <button type="button" class="button" onClick={() => void act("prepare")}>
          {said.again}
        </button>
      )}
      {card.row.state === "ready" && card.chat_id && (
        <a class="button" href={`#/chats/${encodeURIComponent(card.chat_id)}`}>
          {said.ask}
        </a>
      )}
      <span role="status">{said.state[card.row.state]}</span>
    </p>
  );
}

function Notes({ card, act }: PartProps) {
  const [text, setText] = useState("");
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    // The card is read anew before this ends, and the next note may have been begun.
    if (await act("note", { text: text.trim() })) setText((now) => (now === text ? "" : now));
  };
  return (
    <section aria-label={said.notes}>
      <h3>{said.notes}</h3>
      {card.notes.map((one, place) => (
        <p class="round-words" key={place} dir="auto">
          {`${one.by}, ${shownDate(one.at, true)}: ${one.text}`}
        </p>
      ))}
      <form class="rounds-form" onSubmit={(event) => void add(event)}>
        <label>
          {said.newNote}
          <textarea
            rows={2}
            maxLength={2000}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button" disabled={text.trim() === ""}>
          {said.addNote}
        </button>
      </form>
    </section>
  );
}

function HandOver({ card, act }: PartProps) {
  const last = card.sign_outs.at(-1);
  const isReceived = last !== undefined && card.chat_id === "" && card.row.accepted_at === null;
  return (
    <section aria-label={said.handOver}>
      <h3>{said.handOver}</h3>
      {last && <Signed last={last} isAccepted={card.row.accepted_at !== null} />}
      {isReceived ? <Acceptance act={act} /> : <NewSignOut act={act} />}
    </section>
  );
}

function Signed({ last, isAccepted }: { last: SignOut; isAccepted: boolean }) {
  const rows = [
    [said.severity, said.severities[last.illness_severity]],
    [said.summary, last.patient_summary],
    [said.actions, last.action_list],
    [said.awareness, last.situation_awareness],
    [said.synthesis, last.synthesis],
  ];
  return (
    <>
      <p>
        {`${last.by}, ${shownDate(last.at, true)}: ${said.handedTo(last.to)}`}
        {isAccepted && ` · ${said.accepted}`}
      </p>
      <dl>
        {rows.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="round-words" dir="auto">
              {text || "—"}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Acceptance({ act }: { act: Act }) {
  const [text, setText] = useState("");
  const take = (event: Event): void => {
    event.preventDefault();
    void act("accept", { synthesis: text.trim() });
  };
  return (
    <form class="rounds-form" onSubmit={take}>
      <Field name={said.synthesis} value={text} onValue={setText} />
      <button type="submit" class="button primary" disabled={text.trim() === ""}>
        {said.accept}
      </button>
    </form>
  );
}

function NewSignOut({ act }: { act: Act }) {
  const [to, setTo] = useState("");
  const [severity, setSeverity] = useState<Severity | "">("");
  const [summary, setSummary] = useState("");
  const [actions, setActions] = useState("");
  const [awareness, setAwareness] = useState("");
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    await act("hand-over", {
      to: to.trim(),
      illness_severity: severity,
      patient_summary: summary.trim(),
      action_list: actions.trim(),
      situation_awareness: awareness.trim(),
    });
  };
  return (
    <details>
      <summary>{said.handOver}</summary>
      <form class="rounds-form" onSubmit={(event) => void send(event)}>
        <label>
          {said.to}
          <input
            type="text"
            maxLength={400}
            value={to}
            onInput={(event) => setTo(event.currentTarget.value)}
          />
        </label>
        <fieldset>
          <legend>{said.severity}</legend>
          {SEVERITIES.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="severity"
                checked={severity === one}
                onChange={() => setSeverity(one)}
              />{" "}
              {said.severities[one]}
            </label>
          ))}
        </fieldset>
        <Field name={said.summary} value={summary} onValue={setSummary} />
        <Field name={said.actions} value={actions} onValue={setActions} />
        <Field name={said.awareness} value={awareness} onValue={setAwareness} />
        <button
          type="submit"
          class="button primary"
          disabled={to.trim() === "" || severity === "" || summary.trim() === ""}
        >
          {said.send}
        </button>
      </form>
    </details>
  );
}

interface FieldProps {
  name: string;
  value: string;
  onValue: (text: string) => void;
}

function Field({ name, value, onValue }: FieldProps) {
  return (
    <label>
      {name}
      <textarea
        rows={3}
        maxLength={2000}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </label>
  );
}
