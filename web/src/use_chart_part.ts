import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { strings } from "./strings";
import type { ChartView } from "./types";

/** Reads a part of the chart; what is of another patient is never shown. */
export function useChartPart(chatId: string, patientId: string, part: string, name = "") {
  const [view, setView] = useState<ChartView | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setProblem(null);
    setView(null);
    api.chart(chatId, patientId, part, name).then(
      (found) => isCurrent && found.patient_id === patientId && setView(found),
      (error: unknown) =>
        isCurrent && setProblem(error instanceof api.ApiError ? error.message : strings.unreachable),
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId, part, name, tries]);
  return { view, problem, again: () => setTries(tries + 1) };
}
