/** What the user thinks of answers, and which answer is the newest. */

import { createContext } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";

import * as api from "./api";
import { type Chat, newestVisible } from "./chat";
import type { Opinion } from "./types";

export interface Answers {
  /** Key of the turn at the end. */
  newest: string | undefined;
  /** What was said on this page, by the answers' runs; null: it was taken back. */
  given: ReadonlyMap<string, Opinion | null>;
  /** Keeps an opinion of a run's answer, or takes it back; throws if that failed. */
  give: (runId: string, patientId: string | null, opinion: Opinion | null) => Promise<void>;
}

export const AnswersContext = createContext<Answers>({
  newest: undefined,
  given: new Map(),
  give: () => Promise.resolve(),
});

export function useAnswers(chatId: string, chat: Chat): Answers {
  const newest = newestVisible(chat)?.key;
  const [given, setGiven] = useState<ReadonlyMap<string, Opinion | null>>(new Map());
  const give = useCallback(
    async (runId: string, patientId: string | null, opinion: Opinion | null): Promise<void> => {
      await api.giveOpinion(chatId, patientId, runId, opinion);
      setGiven((now) => new Map(now).set(runId, opinion));
    },
    [chatId],
  );
  return useMemo(() => ({ newest, given, give }), [newest, given, give]);
}
