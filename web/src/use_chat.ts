/** A conversation on the screen: its state, its socket, and what the clinician can do. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { type Chat, EMPTY, isOpen, newTurn, reduce, withHistory, withStopped, withTurn } from "./chat";
import { Connection, type Link } from "./connection";
import type { ChatView, Frame, Press } from "./types";

export interface ChatControls {
  chat: Chat;
  link: Link;
  problem: string | null;
  isLoading: boolean;
  send: (text: string, press?: Press) => void;
  stop: () => void;
  showEarlier: () => void;
}

const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function useChat(chatId: string): ChatControls {
  const [chat, setChat] = useState<Chat>(EMPTY);
  const [link, setLink] = useState<Link>("connecting");
  const [problem, setProblem] = useState<string | null>(null);
  const [isLoading, setLoading] = useState(true);
  const current = useRef<Chat>(EMPTY);
  const connection = useRef<Connection | null>(null);
  const painted = useRef(0);

  const update = useCallback((change: (chat: Chat) => Chat) => {
    current.current = change(current.current);
    // Tokens come faster than screens are drawn: one drawing a frame.
    painted.current ||= requestAnimationFrame(() => {
      painted.current = 0;
      setChat(current.current);
    });
  }, []);

  const readHistory = useCallback(
    async (patientId: string | null, running: string | null, before: number | null = null) => {
      const page = await api.history(chatId, patientId, before);
      // What still runs is told by the socket.
      const turns = page.turns.filter((turn) => turn.run_id !== running);
      update((chat) => withHistory(chat, patientId, { ...page, turns }));
    },
    [chatId, update],
  );

  useEffect(() => {
    const life = new AbortController();
    current.current = EMPTY;
    setChat(EMPTY);
    setProblem(null);
    setLoading(true);
    const start = async (): Promise<void> => {
      const view = await api.showChat(chatId);
      if (life.signal.aborted) return;
      if (view) await restore(view, readHistory, update);
      if (life.signal.aborted) return;
      connection.current = new Connection(chatId, view?.running_turn?.run_id ?? null, {
        turns: () => current.current.turns,
        onFrame: (frame) => received(frame),
        onLink: setLink,
      });
      setLoading(false);
    };
    const received = (frame: Frame): void => {
      if (frame.type === "RUN_ERROR" && !frame.metadata?.runId && !frame.metadata?.clientMessageId) {
        setProblem(frame.message);
      }
      if (frame.type === "CUSTOM" && frame.name === "run_unknown") lost(frame.value.runId ?? "");
      const before = current.current.state.patient_id;
      update((chat) => reduce(chat, frame));
      const after = current.current.state.patient_id;
      if (after !== before) readHistory(after, frame.metadata?.runId ?? null).catch(failed);
    };
    const lost = (runId: string): void => {
      // It ended long ago; what it said is in the history.
      update((chat) => ({ ...chat, turns: chat.turns.filter((turn) => turn.runId !== runId) }));
      readHistory(current.current.state.patient_id, null).catch(failed);
    };
    const failed = (error: unknown): void => {
      if (!life.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    };
    start().catch((error: unknown) => {
      setLoading(false);
      failed(error);
    });
    return () => {
      life.abort();
      connection.current?.close();
      connection.current = null;
    };
  }, [chatId, readHistory, update]);

  const send = useCallback(
    (text: string, press?: Press) => {
      const id = crypto.randomUUID();
      setProblem(null);
      update((chat) => withTurn(chat, newTurn(id, text)));
      const message = { content: text, client_message_id: id, time_zone: timeZone };
      connection.current?.send(press ? { ...message, press } : message);
    },
    [update],
  );

  const stop = useCallback(() => {
    const link = connection.current;
    const unsent = current.current.turns.filter((turn) => turn.status === "sending");
    const withdrawn = new Set(unsent.filter((turn) => link?.withdraw(turn.key)).map((turn) => turn.key));
    if (withdrawn.size > 0) update((chat) => withStopped(chat, withdrawn));
    const running = current.current.turns.find((turn) => turn.status === "running");
    link?.stop(running?.runId ?? null);
  }, [update]);

  const showEarlier = useCallback(() => {
    const patientId = current.current.state.patient_id;
    const before = current.current.earlier.get(patientId);
    if (before === undefined) return;
    readHistory(patientId, null, before).catch((error: Error) => setProblem(error.message));
  }, [readHistory]);

  return { chat, link, problem, isLoading, send, stop, showEarlier };
}

async function restore(
  view: ChatView,
  readHistory: (patientId: string | null, running: string | null) => Promise<void>,
  update: (change: (chat: Chat) => Chat) => void,
): Promise<void> {
  const { patient_id, plan, question, artifacts } = view;
  const all_patient_ids = view.patients.map((patient) => patient.patient_id).sort();
  const patient_count = view.patients.length;
  const state = { patient_id, plan, question, artifacts, all_patient_ids, patient_count };
  update((chat) => ({ ...chat, state }));
  await readHistory(patient_id, view.running_turn?.run_id ?? null);
}

export const isBusy = (chat: Chat): boolean => chat.turns.some(isOpen);
