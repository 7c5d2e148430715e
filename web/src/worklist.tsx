/** Who is seen today by the records, and whom the user has pinned. */

import { createContext } from "preact";
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks";

import * as api from "./api";
import { shownDate } from "./dates";
import { strings } from "./strings";
import type { FoundPatient, SeenToday, WorklistView } from "./types";

const said = strings.worklist;
/** A screen on a ward stays open all day. */
const READ_AGAIN_MS = 300_000;

interface Worklist {
  /** Null until it was read; no list at all where the server keeps none. */
  view: WorklistView | null;
  isUnreadable: boolean;
  /** While an answer is on its way no other chart is opened. */
  isBusy: boolean;
  isReachable: boolean;
  onPatient: (patientId: string) => void;
  onPin: (patientId: string, isPinned: boolean) => Promise<void>;
}

export const WorklistKnown = createContext<Worklist | null>(null);

/** What `WorklistKnown` provides: read once for all places of the page that show it. */
export function useWorklist(
  isReachable: boolean,
  isBusy: boolean,
  onPatient: (patientId: string) => void,
): Worklist | null {
  const [view, setView] = useState<WorklistView | null>(null);
  const [state, setState] = useState<"absent" | "unreadable" | null>(null);
  const read = useCallback(async (): Promise<void> => {
    try {
      const found = await api.worklist();
      setView(found);
      setState(found === null ? "absent" : null);
    } catch {
      setState("unreadable");
    }
  }, []);
  useEffect(() => {
    if (!isReachable) return undefined;
    void read();
    const again = setInterval(() => document.visibilityState === "visible" && void read(), READ_AGAIN_MS);
    return () => clearInterval(again);
  }, [isReachable, read]);
  const onPin = useCallback(
    async (patientId: string, isPinned: boolean): Promise<void> => {
      try {
        await api.pin(patientId, isPinned);
        await read();
      } catch (error) {
        alert(error instanceof api.ApiError ? error.message : strings.unreachable);
      }
    },
    [read],
  );
  const isUnreadable = state === "unreadable";
  const worklist = useMemo(
    () => ({ view, isUnreadable, isBusy, isReachable, onPatient, onPin }),
    [view, isUnreadable, isBusy, isReachable, onPatient, onPin],
  );
  return state === "absent" ? null : worklist;
}

/** The list: compact in the side bar, in full on the page that is empty. */
export function Today({ isCompact = false }: { isCompact?: boolean }) {
  const worklist = useContext(WorklistKnown);
  if (worklist === null) return null;
  const { view, isUnreadable } = worklist;
  const seen = new Set(view?.today.map((one) => one.patient_id));
  const others = view?.pinned.filter((one) => !seen.has(one.patient_id)) ?? [];
  return (
    <section
      class={isCompact ? "worklist compact" : "worklist"}
      aria-label={isCompact ? said.title : said.label}
    >
      <h2 tabIndex={-1}>
        {said.title} {view && <time dateTime={view.day}>{shownDate(view.day)}</time>}
      </h2>
      {isUnreadable && <p class="side-note">{said.unreadable}</p>}
      {view === null && !isUnreadable && <p class="side-note">{said.loading}</p>}
      {view && <Note view={view} />}
      {view && view.today.length > 0 && (
        <ul class="side-list" aria-label={said.title}>
          {view.today.map((one, place) => (
            <Row key={`${one.patient_id} ${place}`} one={one} visit={one} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <>
          <h3>{said.pinned}</h3>
          <ul class="side-list" aria-label={said.pinned}>
            {others.map((one) => (
              <Row key={one.patient_id} one={one} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** What the list does not show, and why. */
function Note({ view }: { view: WorklistView }) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const notes = [
    view.state !== "listed" && said.states[view.state],
    view.state === "listed" && view.today.length === 0 && said.none,
    view.state === "listed" && view.today.length === 0 && view.pinned.length === 0 && said.hint,
    !view.is_whole && said.more,
    view.today.some((one) => one.time) && view.time_zone !== here && said.zone(view.time_zone),
  ].filter(Boolean);
  return notes.length > 0 ? <p class="side-note">{notes.join(" ")}</p> : null;
}

function Row({ one, visit }: { one: FoundPatient; visit?: SeenToday }) {
  const worklist = useContext(WorklistKnown);
  const since = visit?.since && said.since(shownDate(visit.since));
  return (
    <li class="worklist-row">
      <button
        type="button"
        class="side-item"
        disabled={worklist?.isBusy || !worklist?.isReachable}
        onClick={() => worklist?.onPatient(one.patient_id)}
      >
        <span class="side-title" dir="auto">
          {visit?.time && <time>{visit.time}</time>} {one.name || one.patient_id}
        </span>
        <span class="side-details">
          {[shownDate(one.birth_date), one.patient_id].filter(Boolean).join(" · ")}
        </span>
        {visit && (
          <span class="side-details reason" dir="auto">
            {[visit.reason || said.kinds[visit.kind], since].filter(Boolean).join(" · ")}
          </span>
        )}
      </button>
      <PinButton patientId={one.patient_id} name={one.name} />
    </li>
  );
}

/** Keeps a patient on the user's list, or takes them off. */
export function PinButton({ patientId, name = "" }: { patientId: string; name?: string }) {
  const worklist = useContext(WorklistKnown);
  if (!worklist?.view) return null;
  const isPinned = worklist.view.pinned.some((one) => one.patient_id === patientId);
  const label = (isPinned ? said.unpin : said.pin)(name || patientId);
  const toggle = (event: MouseEvent): void => {
    // The row may go, and with it the focus of whoever pressed its button.
    const button = event.currentTarget as HTMLElement;
    const title = button.closest(".worklist")?.querySelector("h2");
    void worklist.onPin(patientId, !isPinned).then(() => button.isConnected || title?.focus());
  };
  return (
    <button
      type="button"
      class="button subtle pin"
      aria-label={label}
      title={label}
      disabled={!worklist.isReachable}
      onClick={toggle}
    >
      {isPinned ? "★" : "☆"}
    </button>
  );
}
