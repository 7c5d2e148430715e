/** What is being written: at once on this page, a moment later on the server, for the user's other devices. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";

const PAUSE_MS = 1_000;

export interface Draft {
  text: string;
  /** Whose chart was open when it was begun, or when its words were spoken; it may be another by now. */
  writtenFor: string | null;
  set: (text: string) => void;
  /** A line is added: a button takes no word that is written. */
  add: (line: string) => void;
  /** Words are added that were spoken while the chart of `of` was open. */
  hear: (words: string, of: string | null) => void;
}

/**
 * The text of the composer. What is about a patient is kept for that patient, whichever chart is open meanwhile.
 *
 * @param begun What was begun in each conversation of this page: signing in again must not lose it.
 */
export function useDraft(chatId: string, patientId: string | null, begun: Map<string, string>): Draft {
  const [draft, show] = useState(() => begun.get(chatId) ?? "");
  const text = useRef(draft);
  const begunFor = useRef<string | null>(null);
  if (draft === "") begunFor.current = null;
  else begunFor.current ??= patientId;
  const writtenFor = begunFor.current;
  /** What was last sent to the server to be kept, and for whom. */
  const kept = useRef({ of: "", text: "" });
  const keep = useKeeper(chatId);
  const set = useCallback(
    (now: string): void => {
      begun.set(chatId, now);
      text.current = now;
      show(now);
    },
    [chatId, begun],
  );
  const join = useCallback(
    (more: string, by: string): void => set([text.current.trimEnd(), more].filter(Boolean).join(by)),
    [set],
  );
  const add = useCallback((line: string): void => join(line, "\n"), [join]);
  const hear = useCallback(
    (words: string, of: string | null): void => {
      begunFor.current ??= of;
      join(words, " ");
    },
    [join],
  );
  useEffect(() => {
    if (patientId === null || text.current !== "") return undefined;
    let isCurrent = true;
    api.draft(chatId, patientId).then(
      (found) => {
        // Who has begun to write meanwhile goes on with that.
        if (!isCurrent || found === "" || text.current !== "") return;
        begunFor.current = patientId;
        kept.current = { of: patientId, text: found };
        set(found);
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId, set]);
  useEffect(() => {
    const of = writtenFor ?? kept.current.of;
    if (of === "" || draft === kept.current.text) return undefined;
    const save = (): void => {
      kept.current = { of, text: draft };
      keep(of, draft);
    };
    // What was sent, or taken away, is nowhere else to be found.
    if (draft === "") return void save();
    const pause = setTimeout(save, PAUSE_MS);
    return () => clearTimeout(pause);
  }, [writtenFor, draft, keep]);
  return { text: draft, writtenFor, set, add, hear };
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
