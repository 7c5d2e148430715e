import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { strings } from "./strings";
import type { ChartView } from "./types";

interface Held {
  /** What was asked for. */
  of: string;
  view: ChartView | null;
  problem: string | null;
}

const NOTHING: Held = { of: "", view: null, problem: null };

/** Reads a part of the chart; what is of another patient or part is never shown, not for one drawing. */
export function useChartPart(chatId: string, patientId: string, part: string, name = "") {
  const [held, setHeld] = useState(NOTHING);
  const [tries, setTries] = useState(0);
  const of = JSON.stringify([chatId, patientId, part, name]);
  useEffect(() => {
    let isCurrent = true;
    const hold = (view: ChartView | null, problem: string | null): void => {
      if (isCurrent) setHeld({ of, view, problem });
    };
    api.chart(chatId, patientId, part, name).then(
      (found) => (found.patient_id === patientId ? hold(found, null) : hold(null, strings.unreachable)),
      (error: unknown) => hold(null, error instanceof api.ApiError ? error.message : strings.unreachable),
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId, part, name, of, tries]);
  const { view, problem } = held.of === of ? held : NOTHING;
  return { view, problem, again: () => setTries((before) => before + 1) };
}
