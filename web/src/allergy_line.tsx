import { useEffect, useRef } from "preact/hooks";

import { strings } from "./strings";
import type { ViewRow } from "./types";
import { useChartPart } from "./use_chart_part";

const said = strings.allergyLine;
/** Kinds of rows that state an absence, or that nothing is known. */
const ABSENCES = ["no known allergy", "not known"];

const UNCONFIRMED = "unconfirmed";

interface AllergyLineProps {
  chatId: string;
  patientId: string;
  onOpen: () => void;
}

/**
 * The allergies of the open patient, always in view and all of them: the one that is left out may be the one that
 * kills. Opens the list. What cannot be read is never shown as none.
 */
export function AllergyLine({ chatId, patientId, onOpen }: AllergyLineProps) {
  const { view, problem, again } = useChartPart(chatId, patientId, "allergies");
  useReturn(again);
  if (view === null && problem === null) return null;
  const open = (): void => {
    if (problem !== null) again();
    onOpen();
  };
  const active = view?.rows.filter((row) => !strings.chart.over.includes(row.status)) ?? [];
  const known = active.filter((row) => !ABSENCES.includes(row.kind));
  const names = [...new Set([...known, ...active].map(nameOf))];
  const none = view?.rows.length ? said.noneActive : said.noneRecorded;
  return (
    <button type="button" class={`allergy-line ${known.length > 0 ? "has-allergies" : ""}`} onClick={open}>
      {problem !== null ? said.unread : names.length > 0 ? said.told(names) : none}
    </button>
  );
}

/** One that nobody has confirmed is shown, and not as a sure one. */
function nameOf({ name, detail }: ViewRow): string {
  return detail.split("; ").includes(UNCONFIRMED) ? said.unsure(name) : name;
}

/** Somebody else may have recorded one while the page was out of view or of touch. */
function useReturn(again: () => void): void {
  const read = useRef(again);
  read.current = again;
  useEffect(() => {
    const note = (): void => {
      if (!document.hidden) read.current();
    };
    document.addEventListener("visibilitychange", note);
    addEventListener("online", note);
    return () => {
      document.removeEventListener("visibilitychange", note);
      removeEventListener("online", note);
    };
  }, []);
}
