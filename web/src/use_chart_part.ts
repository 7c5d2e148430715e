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
    const failed = (error: unknown): void => {
      if (error instanceof api.ApiError) hold(null, error.message);
      // Without a network what was read stays, and the page says that it is out of touch.
      else if (isCurrent) {
        const unread = { of, view: null, problem: strings.unreachable };
        setHeld((before) => (before.of === of && before.view ? before : unread));
      }
    };
    api
      .chart(chatId, patientId, part, name)
      .then(
        (found) => (found.patient_id === patientId ? hold(found, null) : hold(null, strings.unreachable)),
        failed,
      );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId, part, name, of, tries]);
  const { view, problem } = held.of === of ? held : NOTHING;
  return { view, problem, again: () => setTries((before) => before + 1) };
}
