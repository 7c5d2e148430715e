/** The server's HTTP side. */

import type { ChatSummary, ChatView, Demographics, HistoryPage, Session } from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function ask<T>(path: string, method = "GET"): Promise<T> {
  const reply = await fetch(path, { method, headers: { Accept: "application/json" } });
  if (reply.ok) return (await reply.json()) as T;
  const problem = (await reply.json().catch(() => ({}))) as { detail?: string };
  throw new ApiError(reply.status, problem.detail ?? `The server answered ${reply.status}.`);
}

const chat = (chatId: string): string => `/api/chats/${encodeURIComponent(chatId)}`;

export const session = (): Promise<Session> => ask("/api/session");

export const createChat = async (): Promise<string> =>
  (await ask<{ chat_id: string }>("/api/chats", "POST")).chat_id;

export const listChats = async (): Promise<ChatSummary[]> =>
  (await ask<{ chats: ChatSummary[] }>("/api/chats")).chats;

async function orIfAbsent<T, A>(asked: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return absent;
    throw error;
  }
}

/** A conversation nobody has written to yet is not there: null. */
export const showChat = (chatId: string): Promise<ChatView | null> =>
  orIfAbsent(ask<ChatView>(chat(chatId)), null);

/** A patient named only just now has no history yet. */
export const history = (
  chatId: string,
  patientId: string | null,
  before: number | null,
): Promise<HistoryPage> => {
  const place = before === null ? "" : `&before=${before}`;
  const query = `patient_id=${encodeURIComponent(patientId ?? "session")}${place}`;
  return orIfAbsent(ask<HistoryPage>(`${chat(chatId)}/messages?${query}`), {
    turns: [],
    next_before: null,
  });
};

export const demographics = (chatId: string, patientId: string): Promise<Demographics> =>
  ask(`${chat(chatId)}/patients/${encodeURIComponent(patientId)}`);

export const artifactUrl = (chatId: string, patientId: string, artifactId: string): string =>
  `${chat(chatId)}/artifacts/${encodeURIComponent(artifactId)}?patient_id=${encodeURIComponent(patientId)}`;

export const exportUrl = (chatId: string, patientId: string | null): string =>
  `${chat(chatId)}/export?format=md&patient_id=${encodeURIComponent(patientId ?? "session")}`;

export function socketUrl(chatId: string, resume: { run: string; after: number } | null): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const place = resume ? `&run=${encodeURIComponent(resume.run)}&after=${resume.after}` : "";
  const path = `/api/ws/chats/${encodeURIComponent(chatId)}/messages`;
  return `${scheme}://${location.host}${path}?stream=1${place}`;
}
