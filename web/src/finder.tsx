import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { shownDate } from "./dates";
import { strings } from "./strings";
import type { FoundPatients } from "./types";

const said = strings.finder;
const PAUSE_MS = 250;
export const QUERY_LIMIT_CHARS = 200;

interface FinderProps {
  /** While an answer is on its way no other chart is opened. */
  isBusy: boolean;
  onPatient: (patientId: string) => void;
}

/** Finds patients by name, birth date and number; one is opened by a press. */
export function Finder({ isBusy, onPatient }: FinderProps) {
  const [query, setQuery] = useState("");
  const { found, problem } = useFound(query.trim());
  const open = (patientId: string): void => {
    setQuery("");
    onPatient(patientId);
  };
  return (
    <form class="finder" role="search" aria-label={said.label} onSubmit={(event) => event.preventDefault()}>
      <label for="finder">{said.label}</label>
      <input
        id="finder"
        type="text"
        autocomplete="off"
        spellcheck={false}
        maxLength={QUERY_LIMIT_CHARS}
        placeholder={said.hint}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setQuery("")}
      />
      <p class={found ? "side-note" : "visually-hidden"} role="status">
        {found && (found.is_whole ? said.found(found.patients.length) : said.more)}
      </p>
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
      <ul class="side-list">
        {found?.patients.map((one) => (
          <li key={one.patient_id}>
            <button type="button" class="side-item" disabled={isBusy} onClick={() => open(one.patient_id)}>
              <span class="side-title" dir="auto">
                {one.name || one.patient_id}
              </span>
              <span class="side-details">
                {[shownDate(one.birth_date), strings.banner.sex(one.sex), one.patient_id]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </form>
  );
}

/** Who a server's search finds, a moment after the last letter. */
export function useFound(query: string): { found: FoundPatients | null; problem: string | null } {
  const [found, setFound] = useState<FoundPatients | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setFound(null);
    setProblem(null);
    if (query === "") return undefined;
    let isCurrent = true;
    const pause = setTimeout(() => {
      api.findPatients(query).then(
        (answer) => isCurrent && setFound(answer),
        (error: unknown) =>
          isCurrent && setProblem(error instanceof api.ApiError ? error.message : strings.unreachable),
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(pause);
    };
  }, [query]);
  return { found, problem };
}
