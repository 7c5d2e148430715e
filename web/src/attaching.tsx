import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { identityText, Known } from "./patient_mark";
import { strings } from "./strings";
import type { PaperRead } from "./types";

const said = strings.papers;
const LIMIT_BYTES = 20 * 1024 * 1024;

/** One file on its way to one patient; whoever is opened meanwhile gets nothing of it. */
interface Paper {
  file: File;
  patientId: string;
  found: PaperRead | null;
  problem: string | null;
}

export interface Attaching {
  paper: Paper | null;
  /** What was kept last, by name. */
  kept: string | null;
  problem: string | null;
  /** Counts what was kept, so that lists are read anew. */
  version: number;
  take: (files: FileList | null | undefined) => boolean;
  keep: () => void;
  drop: () => void;
  /** The user went on: what was told of the last file is over. */
  goOn: () => void;
}

/** Reads what is dropped, pasted or chosen, and keeps it with the open patient after a yes. */
export function useAttaching(chatId: string, patientId: string | null): Attaching {
  const [waiting, setWaiting] = useState<File[]>([]);
  const [paper, setPaper] = useState<Paper | null>(null);
  const [kept, setKept] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  // What was to be one patient's is not asked about under another's name.
  useEffect(() => {
    setWaiting([]);
    setPaper(null);
    setKept(null);
    setProblem(null);
  }, [chatId, patientId]);
  const send = useCallback(
    async (one: Paper, isConfirmed: boolean): Promise<void> => {
      const isSame = (now: Paper | null): boolean =>
        now !== null && now.file === one.file && now.patientId === one.patientId;
      try {
        const found = await api.attach(chatId, one.patientId, one.file, isConfirmed);
        if (found.attachment === null) {
          setPaper((now) => (isSame(now) ? { ...one, found } : now));
          return;
        }
        setVersion((before) => before + 1);
        setPaper((now) => {
          if (isSame(now)) setKept(one.file.name);
          return isSame(now) ? null : now;
        });
      } catch (error) {
        const text = error instanceof api.ApiError ? error.message : strings.unreachable;
        setPaper((now) => (isSame(now) ? { ...one, problem: text } : now));
      }
    },
    [chatId],
  );
  useEffect(() => {
    const [file, ...rest] = waiting;
    if (paper !== null || file === undefined || patientId === null) return;
    const next: Paper = { file, patientId, found: null, problem: null };
    setWaiting(rest);
    setKept(null);
    if (file.size > LIMIT_BYTES) setPaper({ ...next, problem: said.tooLarge });
    else {
      setPaper(next);
      void send(next, false);
    }
  }, [waiting, paper, patientId, send]);
  const take = (files: FileList | null | undefined): boolean => {
    if (!files || files.length === 0) return false;
    setProblem(patientId === null ? said.noPatient : null);
    if (patientId !== null) setWaiting((before) => [...before, ...files]);
    return true;
  };
  const keep = (): void => {
    if (paper?.found) void send(paper, true);
  };
  const goOn = (): void => {
    setKept(null);
    setProblem(null);
  };
  return { paper, kept, problem, version, take, keep, drop: () => setPaper(null), goOn };
}

/** What a file is, whose it seems to be, and whether it is to be kept. */
export function PaperQuestion({ attaching }: { attaching: Attaching }) {
  const { paper, kept, problem, keep, drop } = attaching;
  const people = useContext(Known);
  if (problem !== null) {
    return (
      <p class="strip warning" role="alert">
        {problem}
      </p>
    );
  }
  if (paper === null) {
    return kept === null ? null : (
      <p class="strip info" role="status">
        {said.kept(kept)}
      </p>
    );
  }
  const name = paper.file.name;
  if (paper.problem !== null) {
    return (
      <div class="strip error" role="alert">
        {said.notKept(name)} {paper.problem}{" "}
        <button type="button" class="button" onClick={drop}>
          {said.understood}
        </button>
      </div>
    );
  }
  if (paper.found === null) {
    return (
      <p class="strip info" role="status">
        {said.reading(name)}
      </p>
    );
  }
  const { whose, pages, gap } = paper.found;
  return (
    <div class={whose === "theirs" ? "strip info" : "strip warning"} role="group" aria-label={said.label}>
      <span role="alert">
        {said.question(name, pages, identityText(people, paper.patientId))} {said.whose[whose]}{" "}
        {gap && said.gap(gap)}
      </span>{" "}
      <button type="button" class="button primary" onClick={keep}>
        {said.keep}
      </button>{" "}
      <button type="button" class="button" onClick={drop}>
        {said.discard}
      </button>
    </div>
  );
}

/** Opens the chooser; dropping on the page and pasting into the message do the same. */
export function AttachButton({ onFiles }: { onFiles: Attaching["take"] }) {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={chooser}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-label={said.choose}
        accept=".pdf,.docx,.rtf,.html,.htm,.md,.txt,.xml,.png,.jpg,.jpeg,.webp"
        multiple
        onChange={(event) => {
          onFiles(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      <button
        type="button"
        class="button"
        aria-label={said.attachLong}
        title={said.attach}
        onClick={() => chooser.current?.click()}
      >
        <svg class="clip" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5 8.5 9.2 4.3a1.8 1.8 0 0 1 2.5 2.5L7 11.5a3 3 0 0 1-4.3-4.3l4.9-4.9" />
        </svg>
      </button>
    </>
  );
}
