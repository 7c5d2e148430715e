/** A conversation on the screen: its state, its socket, and what the clinician can do. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import {
  type Chat,
  EMPTY,
  isOpen,
  newTurn,
  type People,
  reduce,
  withHistory,
  withInterrupted,
  withState,
  withStopped,
  withTurn,
} from "./chat";
import { Connection, type Link, type Outgoing } from "./connection";
import { strings } from "./strings";
import type { ChatView, Frame, Press, RecordSystem, Visit } from "./types";
import { useProgress } from "./use_progress";

const SEARCH_PAGE_TURNS = 200;

export interface ChatControls {
  chat: Chat;
  link: Link;
  /** When the server last confirmed what is shown. */
  verifiedAt: Date;
  problem: string | null;
  /** Whether a turn runs on a server whose answer cannot be seen here as it grows. */
  isElsewhere: boolean;
  isLoading: boolean;
  visit: Visit | null;
  /** What the record system shows; null where none is followed. */
  recordSystem: RecordSystem | null;
  /** Sends a message; `writtenFor`: whose patient's it is, where that is known. */
  send: (text: string, press?: Press, writtenFor?: string) => void;
  stop: () => void;
  withdraw: (runId: string) => void;
  showEarlier: () => void;
}

type Update = (change: (chat: Chat) => Chat) => void;

const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** State that is read at once and drawn once a frame: tokens come faster than screens. */
function useDrawn(): [Chat, { current: Chat }, Update, () => void] {
  const [chat, setChat] = useState<Chat>(EMPTY);
  const current = useRef<Chat>(EMPTY);
  const pause = useRef(0);
  const update = useCallback<Update>((change) => {
    current.current = change(current.current);
    // The first change is drawn at once, those that follow within a frame together.
    if (pause.current !== 0) return;
    setChat(current.current);
    const drawn = current.current;
    pause.current = requestAnimationFrame(() => {
      pause.current = 0;
      if (current.current !== drawn) setChat(current.current);
    });
  }, []);
  const reset = useCallback(() => {
    current.current = EMPTY;
    setChat(EMPTY);
  }, []);
  return [chat, current, update, reset];
}

export function useChat(chatId: string): ChatControls {
  const [chat, current, update, reset] = useDrawn();
  const [link, setLink] = useState<Link>("connecting");
  const [problem, setProblem] = useState<string | null>(null);
  const [isElsewhere, setElsewhere] = useState(false);
  const [isLoading, setLoading] = useState(true);
  const [visit, setVisit] = useState<Visit | null>(null);
  const [recordSystem, setRecordSystem] = useState<RecordSystem | null>(null);
  const connection = useRef<Connection | null>(null);
  // What was said while the page still asked what is stored here, before there was a connection.
  const early = useRef<Outgoing[]>([]);
  const verified = useRef(new Date());
  // Whether something could not be read for want of a network: it is read when there is one again.
  const hasMissed = useRef(false);
  // Whether the state named people who are unknown here, as after an undone clear: their names are asked for.
  const hasStrangers = useRef(false);

  const readHistory = useCallback(
    async (patientId: string | null, running: string | null, before: number | null = null, limit = 50) => {
      const page = await api.history(chatId, patientId, before, limit);
      // What still runs is told by the socket.
      const turns = page.turns.filter((turn) => turn.run_id !== running);
      update((chat) => withHistory(chat, patientId, { ...page, turns }, before === null));
    },
    [chatId, update],
  );

  const failed = useCallback((error: unknown) => {
    if (api.isSignedOut(error)) setLink("signed_out");
    else if (error instanceof api.ApiError) setProblem(error.message);
    // Without a network the strip about the connection says all there is to say.
    else if (error instanceof TypeError) hasMissed.current = true;
    else setProblem(String(error));
  }, []);

  const refresh = useCallback(async () => {
    const view = await api.showChat(chatId);
    if (view) await restore(view, readHistory, update);
    setVisit(view?.visit ?? null);
    if (view?.patient_id && !view.running_turn) await showInterrupted(chatId, current, update);
    return view;
  }, [chatId, current, readHistory, update]);

  useEffect(() => {
    const life = new AbortController();
    reset();
    setProblem(null);
    setElsewhere(false);
    setRecordSystem(null);
    setVisit(null);
    setLoading(true);
    const lost = (runId: string): void => {
      // It ended long ago, or waits for its turn elsewhere; what it said is in the history.
      update((chat) => ({ ...chat, turns: chat.turns.filter((turn) => turn.runId !== runId) }));
      readHistory(current.current.state.patient_id, null).catch(failed);
      api.progress(chatId).then((found) => setElsewhere(found?.running_run_id === runId), failed);
    };
    const received = (frame: Frame): void => {
      verified.current = new Date();
      api.noteWritten(chatId);
      if (frame.type === "RUN_ERROR" && !frame.metadata?.runId && !frame.metadata?.clientMessageId) {
        setProblem(frame.message);
      }
      if (frame.type === "RUN_STARTED") setElsewhere(false);
      if (frame.type === "CUSTOM" && frame.name === "record_system") setRecordSystem(frame.value);
      if (frame.type === "CUSTOM" && frame.name === "run_unknown") lost(frame.value.runId ?? "");
      const before = current.current.state.patient_id;
      const known = current.current.people;
      update((chat) => reduce(chat, frame));
      const after = current.current.state.patient_id;
      if (after !== before) readHistory(after, frame.metadata?.runId ?? null).catch(failed);
      hasStrangers.current ||= known !== current.current.people && hasStranger(current.current, known);
      if (frame.type === "RUN_FINISHED" && hasStrangers.current) {
        hasStrangers.current = false;
        refresh().catch(failed);
      }
    };
    const start = async (): Promise<void> => {
      const view = await refresh();
      if (life.signal.aborted) return;
      verified.current = new Date();
      connection.current = new Connection(chatId, view?.running_turn?.run_id ?? null, {
        turns: () => current.current.turns,
        onFrame: received,
        onLink: setLink,
      });
      for (const message of early.current.splice(0)) connection.current.send(message);
      setLoading(false);
    };
    const noteNetwork = (event: Event): void => connection.current?.hasNetwork(event.type === "online");
    addEventListener("online", noteNetwork, { signal: life.signal });
    addEventListener("offline", noteNetwork, { signal: life.signal });
    start().catch((error: unknown) => {
      if (life.signal.aborted) return;
      setLoading(false);
      setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
      if (api.isSignedOut(error)) setLink("signed_out");
    });
    return () => {
      life.abort();
      connection.current?.close();
      connection.current = null;
      early.current = [];
    };
  }, [chatId, current, failed, readHistory, refresh, reset, update]);

  useProgress(chatId, {
    isWanted: !isLoading && (link === "open" || link === "lost"),
    current,
    onVerified: () => {
      verified.current = new Date();
      if (!hasMissed.current || current.current.turns.some(isOpen)) return;
      hasMissed.current = false;
      refresh().catch(failed);
    },
    onRunning: (runId) => connection.current?.watch(runId),
    onUnseen: () => setElsewhere(true),
    onEnded: () => {
      setElsewhere(false);
      refresh().catch(failed);
    },
    onFailed: failed,
  });

  const send = useCallback(
    (text: string, press?: Press, writtenFor?: string) => {
      const id = crypto.randomUUID();
      setProblem(null);
      const shown = isBusy(current.current) ? null : current.current.state.patient_id;
      const patientId = writtenFor ?? shown;
      const seen = patientId === null ? {} : { seen_patient_id: patientId };
      update((chat) => withTurn(chat, newTurn(id, text)));
      const message = { content: text, client_message_id: id, time_zone: timeZone, ...seen };
      const outgoing = press ? { ...message, press } : message;
      if (connection.current) connection.current.send(outgoing);
      else early.current.push(outgoing);
    },
    [current, update],
  );

  const stop = useCallback(() => {
    const link = connection.current;
    const withdraw = (key: string): boolean => {
      const kept = early.current.filter((message) => message.client_message_id !== key);
      const wasEarly = kept.length < early.current.length;
      early.current = kept;
      return wasEarly || (link?.withdraw(key) ?? false);
    };
    const unsent = current.current.turns.filter((turn) => turn.status === "sending");
    const withdrawn = new Set(unsent.filter((turn) => withdraw(turn.key)).map((turn) => turn.key));
    if (withdrawn.size > 0) update((chat) => withStopped(chat, withdrawn));
    const running = current.current.turns.find((turn) => turn.status === "running");
    link?.stop(running?.runId ?? null);
  }, [current, update]);

  // It ends when its turn would come; the page shows it as stopped once the server has said that it will not run.
  const withdraw = useCallback(
    (runId: string): void => {
      api.withdraw(chatId, runId).then((isWithdrawn) => {
        if (!isWithdrawn) return setProblem(strings.transcript.notWithdrawn);
        const waits = current.current.turns.filter(
          (turn) => turn.runId === runId && turn.status === "queued",
        );
        update((chat) => withStopped(chat, new Set(waits.map((turn) => turn.key))));
      }, failed);
    },
    [chatId, current, failed, update],
  );

  const showEarlier = useCallback(() => {
    const patientId = current.current.state.patient_id;
    const before = current.current.earlier.get(patientId);
    if (before === undefined) return;
    readHistory(patientId, null, before, SEARCH_PAGE_TURNS).catch(failed);
  }, [current, failed, readHistory]);

  const verifiedAt = verified.current;
  return {
    chat,
    link,
    verifiedAt,
    problem,
    isElsewhere,
    isLoading,
    visit,
    recordSystem,
    send,
    stop,
    withdraw,
    showEarlier,
  };
}

/** Whether the state names somebody, other than the open patient, of whom `known` had never heard. */
const hasStranger = ({ state }: Chat, known: People): boolean =>
  state.all_patient_ids.some((id) => id !== state.patient_id && !known.has(id));

/** What the server died over may be kept with no patient; it is shown where it was said. */
async function showInterrupted(chatId: string, current: { current: Chat }, update: Update): Promise<void> {
  const found = await api.progress(chatId);
  const last = found?.last_run_id ?? null;
  if (last === null || current.current.turns.some((turn) => turn.runId === last)) return;
  const session = await api.history(chatId, null, null, 1);
  update((chat) => withInterrupted(chat, last, session));
}

async function restore(
  view: ChatView,
  readHistory: (patientId: string | null, running: string | null) => Promise<void>,
  update: Update,
): Promise<void> {
  const { patient_id, plan, question, artifacts, scenario } = view;
  const all_patient_ids = view.patients.map((patient) => patient.patient_id).sort();
  const patient_count = view.patients.length;
  const people = new Map(
    view.patients.map((one) => [one.patient_id, one.name || one.birth_date ? one : null]),
  );
  const patient = people.get(patient_id ?? "") ?? null;
  const state = { patient_id, patient, plan, question, artifacts, scenario, all_patient_ids, patient_count };
  const branchedFrom = view.branched_from ?? null;
  // What brings a clear back is told once, by its turn: reading again must not take it away.
  update((chat) => {
    const undo = patient_count === 0 ? (chat.state.undo ?? null) : null;
    return { ...withState(chat, { ...state, undo }), people, branchedFrom };
  });
  await readHistory(patient_id, view.running_turn?.run_id ?? null);
}

export const isBusy = (chat: Chat): boolean => chat.turns.some(isOpen);

export const waitingCount = (chat: Chat): number =>
  chat.turns.filter((turn) => turn.status === "queued").length;
