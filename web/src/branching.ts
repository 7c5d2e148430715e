/** Going back to a question: what was said before it goes on in a conversation of its own. */

import { useCallback, useRef, useState } from "preact/hooks";

import * as api from "./api";
import type { Turn } from "./chat";
import { strings } from "./strings";

interface Branching {
  problem: string | null;
  edit: (turn: Turn) => void;
}

/** Of a question that nobody has answered its words alone are taken up again. */
export function useBranching(
  chatId: string,
  addToDraft: (text: string) => void,
  openWith: (chatId: string, text: string) => void,
): Branching {
  const [problem, setProblem] = useState<string | null>(null);
  const isAsking = useRef(false);
  const edit = useCallback(
    (turn: Turn): void => {
      const { patientId, runId, text } = turn;
      const isAnswered = turn.status === "done" && typeof patientId === "string" && runId !== null;
      if (!isAnswered) addToDraft(text);
      if (!isAnswered || isAsking.current) return;
      isAsking.current = true;
      setProblem(null);
      const branch = async (): Promise<void> => {
        const place = turn.turnId ?? (await api.turnIdOf(chatId, patientId, runId));
        if (place === null) addToDraft(text);
        else openWith(await api.branch(chatId, patientId, place), text);
      };
      branch()
        .catch((error: unknown) => {
          setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
        })
        .finally(() => {
          isAsking.current = false;
        });
    },
    [chatId, addToDraft, openWith],
  );
  return { problem, edit };
}
