import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { shownDate } from "./dates";
import { CardOf } from "./round_card";
import * as rounds from "./rounds_api";
import type { RoundRow, RoundSummary, RoundView, Who } from "./rounds_api";
import { strings } from "./strings";

const said = strings.rounds;
const PLACE = /^#\/rounds(?:\/([^/]+))?(?:\/([^/]+))?$/;
const POLL_MS = 2_000;

export const isRounds = (): boolean => PLACE.test(location.hash);

const placeOf = (): { roundId: string | null; patientId: string | null } => {
  const [, roundId, patientId] = PLACE.exec(location.hash) ?? [];
  return {
    roundId: roundId ? decodeURIComponent(roundId) : null,
    patientId: patientId ? decodeURIComponent(patientId) : null,
  };
};

export const addressOf = (roundId: string, patientId?: string): string =>
  `#/rounds/${encodeURIComponent(roundId)}${patientId === undefined ? "" : `/${encodeURIComponent(patientId)}`}`;

/** Lists of patients, one list, or one card of it: the address says which. */
export function RoundsPage({ onSignedOut }: { onSignedOut: (error: unknown) => void }) {
  const [place, setPlace] = useState(placeOf);
  useEffect(() => {
    const follow = (): void => setPlace(placeOf());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return (
    <main class="rounds">
      <header class="rounds-head">
        <h1>{said.title}</h1>
        <a href="#/chats">{said.back}</a>
        {place.roundId !== null && <a href="#/rounds">{said.lists}</a>}
      </header>
      {place.roundId === null ? (
        <Lists onSignedOut={onSignedOut} />
      ) : place.patientId === null ? (
        <List key={place.roundId} roundId={place.roundId} onSignedOut={onSignedOut} />
      ) : (
        <CardOf
          key={place.roundId + place.patientId}
          roundId={place.roundId}
          patientId={place.patientId}
          onSignedOut={onSignedOut}
        />
      )}
    </main>
  );
}

/** What was read last, why not, and a way to read it again. */
export function useRead<T>(read: () => Promise<T>, onSignedOut: (error: unknown) => void) {
  const [found, setFound] = useState<T | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const again = useCallback(async (): Promise<void> => {
    try {
      setFound(await read());
      setProblem(null);
    } catch (error) {
      // What somebody may not see any more must not stay on the screen.
      setFound(null);
      setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
      if (api.isSignedOut(error)) onSignedOut(error);
    }
  }, []);
  useEffect(() => void again(), [again]);
  return { found, problem, again, setProblem };
}

export function Problem({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <p class="strip error" role="alert">
      {text}
    </p>
  );
}

function Lists({ onSignedOut }: { onSignedOut: (error: unknown) => void }) {
  const { found, problem, again, setProblem } = useRead(rounds.listRounds, onSignedOut);
  const [patients, setPatients] = useState("");
  const [day, setDay] = useState("");
  useWhile(found?.some((one) => one.waiting > 0) ?? false, again);
  const make = async (event: Event): Promise<void> => {
    event.preventDefault();
    const named = patients
      .split(/[\n;]/)
      .map((one) => one.trim())
      .filter(Boolean);
    try {
      const made = await rounds.createRound(named, day);
      location.hash = addressOf(made.round_id);
    } catch (error) {
      setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
    }
  };
  return (
    <>
      <form class="rounds-form" onSubmit={(event) => void make(event)}>
        <label>
          {said.patients}
          <textarea rows={5} value={patients} onInput={(event) => setPatients(event.currentTarget.value)} />
        </label>
        <label>
          {said.day}
          <input type="date" value={day} onInput={(event) => setDay(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button primary" disabled={patients.trim() === "" && day === ""}>
          {said.prepare}
        </button>
      </form>
      <Problem text={problem} />
      <h2>{said.lists}</h2>
      {found?.length === 0 && <p>{said.noLists}</p>}
      <ul class="rounds-list">
        {found?.map((one) => (
          <li key={one.round_id}>
            <a class="side-item" href={addressOf(one.round_id)}>
              <span class="side-title">
                {said.list(shownDate(one.day || one.created_at, true), one.patients)}
              </span>
              <Progress summary={one} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Progress({ summary }: { summary: RoundSummary }) {
  const { ready, failed, closed, ticked, patients, is_mine: isMine } = summary;
  const parts = [
    said.progress(ready, patients),
    failed > 0 && said.failed(failed),
    closed > 0 && said.closed(closed),
    ticked > 0 && said.ticked(ticked),
    !isMine && said.fromColleague,
  ];
  return <span role="status">{parts.filter(Boolean).join(" · ")}</span>;
}

function List({ roundId, onSignedOut }: { roundId: string; onSignedOut: (error: unknown) => void }) {
  const { found, problem, again, setProblem } = useRead<RoundView>(
    () => rounds.showRound(roundId),
    onSignedOut,
  );
  const [counted, setCounted] = useState<RoundSummary | null>(null);
  const summary = counted ?? found?.summary ?? null;
  // Who the patients are is read again only when one is ready: each reading is on record.
  useWhile((summary?.waiting ?? 0) > 0, async () => {
    const now = (await rounds.listRounds()).find((one) => one.round_id === roundId);
    if (now === undefined || now.waiting === summary?.waiting) return;
    setCounted(now);
    await again();
  });
  const sameAgain = async (view: RoundView): Promise<void> => {
    try {
      const ids = view.patients.map((one) => one.patient_id);
      location.hash = addressOf((await rounds.createRound(ids, "")).round_id);
    } catch (error) {
      setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
    }
  };
  return (
    <>
      <Problem text={problem} />
      {summary && (
        <p>
          <Progress summary={summary} />
        </p>
      )}
      {found && (
        <a
          class="button"
          href={rounds.printUrl(roundId)}
          target="_blank"
          rel="noopener"
          onClick={(event) => api.openWithToken(event, "ward-list.html")}
        >
          {said.print}
        </a>
      )}
      {found?.summary.is_mine && (
        <button type="button" class="button" onClick={() => void sameAgain(found)}>
          {said.sameAgain}
        </button>
      )}
      <ol class="rounds-list">
        {found?.patients.map((row) => (
          <li key={row.patient_id}>
            <a class="side-item" href={addressOf(roundId, row.patient_id)}>
              <span class="side-title" dir="auto">
                <Identity who={row.who} patientId={row.patient_id} />
              </span>
              <span>
                {said.state[row.state]}
                {row.ticked_at && " · ☑"}
                {row.handed_to && ` · ${said.handedTo(row.handed_to)}`}
              </span>
              {row.problem && <span class="rounds-problem">{row.problem}</span>}
            </a>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Both identifiers, always; of a closed chart its number alone. */
export function Identity({ who, patientId }: { who: Who | null; patientId: string }): ComponentChildren {
  if (who === null) return patientId;
  const born = who.birth_date ? strings.banner.born(shownDate(who.birth_date)) : said.noBirth;
  const numbers = who.numbers.length > 0 ? `${said.number} ${who.numbers.join(", ")}` : "";
  return [who.name || said.noName, born, strings.banner.sex(who.sex), who.deceased, numbers, patientId]
    .filter(Boolean)
    .join(" · ");
}

export const isDone = (row: RoundRow): boolean => row.ticked_at !== null;

/** Does something every two seconds while something goes on. */
function useWhile(goesOn: boolean, act: () => Promise<void>): void {
  useEffect(() => {
    if (!goesOn) return undefined;
    const timer = setInterval(() => void act().catch(() => undefined), POLL_MS);
    return () => clearInterval(timer);
  }, [goesOn, act]);
}
