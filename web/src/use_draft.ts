/** What is being written: at once on this page, a moment later on the server, for the user's other devices. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";

const PAUSE_MS = 1_000;

/**
 * The text of the composer. What is about a patient is kept for that patient, whichever chart is open meanwhile.
 *
 * @param begun What was begun in each conversation of this page: signing in again must not lose it.
 * @returns The text, how it is set, and how more is added to it: a button takes no word that is written.
 */
export function useDraft(
  chatId: string,
  patientId: string | null,
  begun: Map<string, string>,
): [string, (text: string) => void, (text: string) => void] {
  const [draft, show] = useState(() => begun.get(chatId) ?? "");
  const text = useRef(draft);
  const writtenFor = useRef<string | null>(null);
  /** What was last sent to the server to be kept. */
  const kept = useRef("");
  const keep = useKeeper(chatId);
  const setDraft = useCallback(
    (now: string): void => {
      begun.set(chatId, now);
      text.current = now;
      show(now);
    },
    [chatId, begun],
  );
  const add = useCallback(
    (more: string): void => setDraft([text.current.trimEnd(), more].filter(Boolean).join("\n")),
    [setDraft],
  );
  useEffect(() => {
    if (patientId === null || text.current !== "") return undefined;
    let isCurrent = true;
    api.draft(chatId, patientId).then(
      (found) => {
        // Who has begun to write meanwhile goes on with that.
        if (!isCurrent || found === "" || text.current !== "") return;
        writtenFor.current = patientId;
        kept.current = found;
        setDraft(found);
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId, setDraft]);
  useEffect(() => {
    if (draft !== "") writtenFor.current ??= patientId;
    const of = writtenFor.current;
    if (draft === "") writtenFor.current = null;
    if (of === null || draft === kept.current) return undefined;
    const save = (): void => {
      kept.current = draft;
      keep(of, draft);
    };
    // What was sent, or taken away, is nowhere else to be found.
    if (draft === "") return void save();
    const pause = setTimeout(save, PAUSE_MS);
    return () => clearTimeout(pause);
  }, [patientId, draft, keep]);
  return [draft, setDraft, add];
}

/** Sends one after the other: what was written last is kept. What fails stays on this page, and goes with the next. */
function useKeeper(chatId: string): (patientId: string, text: string) => void {
  const last = useRef(Promise.resolve());
  return useCallback(
    (patientId, text) => {
      last.current = last.current.then(() => api.keepDraft(chatId, patientId, text)).catch(() => undefined);
    },
    [chatId],
  );
}
