/** The server's HTTP side. */

import { strings } from "./strings";
import type {
  Attachment,
  ChartView,
  ChatSummary,
  ChatView,
  Demographics,
  FoundPatients,
  FoundTurns,
  HistoryPage,
  Opinion,
  PaperRead,
  Progress,
  Receipt,
  Session,
  SourceText,
  WorklistView,
} from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problems: string[] = [],
    /** Where the user signs in, if the server has such a page. */
    readonly signIn: string | null = null,
  ) {
    super(message);
  }
}

export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** What a browser can send as a WebSocket subprotocol, the only place for a token there. */
const SENDABLE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Of a file whose kind the browser does not know; the server looks at its bytes and its name. */
const OCTETS = "application/octet-stream";

/** Lives as long as the page and is stored nowhere. */
let token: string | null = null;
/** Shown with every write by whom a cookie signed in. */
let csrf: string | null = null;

export const isSendable = (key: string): boolean => SENDABLE.test(key);

export const signInWith = (key: string | null): void => {
  token = key;
};

export const socketProtocols = (): string[] => (token === null ? ["rounds"] : ["rounds", `bearer.${token}`]);

/** A page in a frame shows its own token and nothing else: no cookie may act for who clicks there. */
export const isFramed = (): boolean => window.self !== window.top;

async function request(
  path: string,
  method = "GET",
  body?: unknown,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...more };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  const isFile = body instanceof Blob;
  const sent = body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) };
  if (csrf !== null && method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) headers["Content-Type"] = isFile ? body.type || OCTETS : "application/json";
  const credentials = isFramed() ? "omit" : "same-origin";
  const reply = await fetch(path, { method, headers, credentials, ...sent });
  csrf = reply.headers.get("X-CSRF-Token") ?? csrf;
  if (reply.ok) return reply;
  const problem = (await reply.json().catch(() => ({}))) as {
    detail?: string;
    problems?: string[];
  };
  const text = problem.detail ?? `The server answered ${reply.status}.`;
  throw new ApiError(reply.status, text, problem.problems, reply.headers.get("X-Sign-In"));
}

export const ask = async <T>(path: string, method = "GET", body?: unknown): Promise<T> =>
  (await (await request(path, method, body)).json()) as T;

/** Writes something that is answered with nothing. */
export const tell = async (path: string, body?: unknown): Promise<void> => {
  await request(path, "POST", body);
};

const LAUNCHED = /^#\/launch\/([^/]+)\/([^/]+)$/;

/** A record system opened the page in a frame: takes its ticket out of the address, and signs in. */
export const takeLaunch = async (): Promise<void> => {
  const [, ticket, chatId] = LAUNCHED.exec(location.hash) ?? [];
  // Elsewhere a link could bring a ticket of its sender.
  if (!isFramed() || !ticket || !chatId) return;
  window.history.replaceState(null, "", `#/chats/${chatId}`);
  signInWith((await ask<{ token: string }>("/smart/token", "POST", { ticket })).token);
};

const chat = (chatId: string): string => `/api/chats/${encodeURIComponent(chatId)}`;

export const session = (): Promise<Session> => ask("/api/session");

export const hasSignedInHere = (): boolean => csrf !== null;

/** Ends the session here and, where it says how, at the provider. */
export const signOut = async (): Promise<void> => {
  const { url } = await ask<{ url: string }>("/auth/logout", "POST");
  location.assign(url);
};

/** Conversations of this page that nobody has written to yet: the server does not know them. */
const unwritten = new Set<string>();

/** The words of a recording; the server keeps neither. */
export const writeDown = async (audio: Blob): Promise<string> => {
  const reply = await request("/api/speech", "POST", audio);
  return ((await reply.json()) as { text: string }).text;
};

export const createChat = async (): Promise<string> => {
  const { chat_id } = await ask<{ chat_id: string }>("/api/chats", "POST");
  unwritten.add(chat_id);
  return chat_id;
};

/** The server has said something of it, so it is there. */
export const noteWritten = (chatId: string): void => {
  unwritten.delete(chatId);
};

export const listChats = async (archived = false): Promise<ChatSummary[]> =>
  (await ask<{ chats: ChatSummary[] }>(`/api/chats${archived ? "?archived=true" : ""}`)).chats;

/** How the caller calls a conversation, and whether it is put away; for the caller alone. */
export const nameChat = (chatId: string, change: { title?: string; archived?: boolean }): Promise<unknown> =>
  ask(chat(chatId), "PATCH", change);

export const searchChats = (query: string): Promise<FoundTurns> =>
  ask(`/api/chats/search?${new URLSearchParams({ q: query })}`);

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
  unwritten.has(chatId) ? Promise.resolve(null) : orIfAbsent(ask<ChatView>(chat(chatId)), null);

export const progress = (chatId: string): Promise<Progress | null> =>
  unwritten.has(chatId) ? Promise.resolve(null) : orIfAbsent(ask<Progress>(`${chat(chatId)}/progress`), null);

/** A patient named only just now has no history yet. */
export const history = (
  chatId: string,
  patientId: string | null,
  before: number | null,
  limit = 50,
): Promise<HistoryPage> => {
  const place = before === null ? "" : `&before=${before}`;
  const query = `patient_id=${encodeURIComponent(patientId ?? "session")}&limit=${limit}${place}`;
  return orIfAbsent(ask<HistoryPage>(`${chat(chatId)}/messages?${query}`), {
    turns: [],
    next_before: null,
  });
};

export const demographics = (chatId: string, patientId: string): Promise<Demographics> =>
  ask(`${chat(chatId)}/patients/${encodeURIComponent(patientId)}`);

export const receiptUrl = (chatId: string, runId: string, patientId: string | null): string => {
  const whose = encodeURIComponent(patientId ?? "session");
  return `${chat(chatId)}/runs/${encodeURIComponent(runId)}/receipt?patient_id=${whose}`;
};

/** Null for an answer that left none. */
export const receipt = (chatId: string, runId: string, patientId: string | null): Promise<Receipt | null> =>
  orIfAbsent(ask<Receipt>(receiptUrl(chatId, runId, patientId)), null);

/** The place of a run's turn in a patient's history; null where it is not among the newest. */
export const turnIdOf = async (chatId: string, patientId: string, runId: string): Promise<number | null> => {
  const page = await history(chatId, patientId, null);
  return page.turns.find((turn) => turn.run_id === runId)?.turn_id ?? null;
};

/** A new conversation with what was said of a patient before a turn. */
export const branch = async (chatId: string, patientId: string, beforeTurn: number): Promise<string> => {
  const wanted = { patient_id: patientId, before_turn: beforeTurn };
  return (await ask<{ chat_id: string }>(`${chat(chatId)}/branch`, "POST", wanted)).chat_id;
};

const whose = (patientId: string | null): string =>
  `patient_id=${encodeURIComponent(patientId ?? "session")}`;

export const giveOpinion = async (
  chatId: string,
  patientId: string | null,
  runId: string,
  opinion: Opinion | null,
): Promise<void> => {
  const path = `${chat(chatId)}/runs/${encodeURIComponent(runId)}/feedback?${whose(patientId)}`;
  await (opinion === null ? request(path, "DELETE") : request(path, "PUT", opinion));
};

const draftPath = (chatId: string, patientId: string): string =>
  `${chat(chatId)}/draft?patient_id=${encodeURIComponent(patientId)}`;

/** What the user has begun to write about a patient, here or on another device; "" for nothing. */
export const draft = async (chatId: string, patientId: string): Promise<string> =>
  (await orIfAbsent(ask<{ text: string }>(draftPath(chatId, patientId)), { text: "" })).text;

export const keepDraft = async (chatId: string, patientId: string, text: string): Promise<void> => {
  await request(draftPath(chatId, patientId), "PUT", { text });
};

export const findPatients = (query: string): Promise<FoundPatients> =>
  ask(`/api/patients?q=${encodeURIComponent(query)}`);

/** Takes back a message that waits; false where it waits no more, or at another replica. */
export const withdraw = async (chatId: string, runId: string): Promise<boolean> =>
  (await ask<{ stopped: boolean }>(`${chat(chatId)}/stop?run_id=${encodeURIComponent(runId)}`, "POST"))
    .stopped;

/** Null where the server keeps no list. */
export const worklist = (): Promise<WorklistView | null> =>
  orIfAbsent(ask<WorklistView>("/api/worklist"), null);

export const pin = async (patientId: string, isPinned: boolean): Promise<void> => {
  await request(`/api/worklist/${encodeURIComponent(patientId)}`, isPinned ? "PUT" : "DELETE");
};

export const chart = (chatId: string, patientId: string, part: string, name: string): Promise<ChartView> => {
  const query = new URLSearchParams({ patient_id: patientId, part, ...(name && { name }) });
  return ask(`${chat(chatId)}/chart?${query.toString()}`);
};

export const source = (chatId: string, patientId: string, ref: string): Promise<SourceText> =>
  ask(`${chat(chatId)}/sources?patient_id=${encodeURIComponent(patientId)}&ref=${encodeURIComponent(ref)}`);

/** Reads a file; once it is confirmed it is kept with the patient. */
export const attach = async (
  chatId: string,
  patientId: string,
  file: File,
  isConfirmed: boolean,
): Promise<PaperRead> => {
  const headers = { "X-Patient-Id": patientId, "X-File-Name": encodeURIComponent(file.name) };
  const path = `${chat(chatId)}/attachments${isConfirmed ? "?confirmed=true" : ""}`;
  return (await (await request(path, "POST", file, headers)).json()) as PaperRead;
};

const papers = (chatId: string, patientId: string, attachmentId = ""): string =>
  `${chat(chatId)}/attachments${attachmentId && `/${attachmentId}`}?patient_id=${encodeURIComponent(patientId)}`;

export const attachments = async (chatId: string, patientId: string): Promise<Attachment[]> =>
  (await ask<{ attachments: Attachment[] }>(papers(chatId, patientId))).attachments;

export const attachmentUrl = papers;

export const removeAttachment = async (chatId: string, patientId: string, id: string): Promise<void> => {
  await request(papers(chatId, patientId, id), "DELETE");
};

export const artifactUrl = (chatId: string, patientId: string, artifactId: string): string =>
  `${chat(chatId)}/artifacts/${encodeURIComponent(artifactId)}?patient_id=${encodeURIComponent(patientId)}`;

export type ExportForm = "md" | "docx" | "json";

export const exportUrl = (chatId: string, patientId: string | null, form: ExportForm): string =>
  `${chat(chatId)}/export?format=${form}&patient_id=${encodeURIComponent(patientId ?? "session")}`;

/** A plain link cannot show a token: then the page fetches the file itself. */
export function saveWithToken(event: MouseEvent): void {
  if (token === null) return;
  event.preventDefault();
  const link = event.currentTarget as HTMLAnchorElement;
  save(link.getAttribute("href") ?? "", link.download).catch(() => alert(strings.notSaved));
}

/** A page of the server to look at; with a token it comes as a file. */
export function openWithToken(event: MouseEvent, fileName: string): void {
  if (token === null) return;
  (event.currentTarget as HTMLAnchorElement).download = fileName;
  saveWithToken(event);
}

export async function save(path: string, fileName: string): Promise<void> {
  const reply = await request(path);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await reply.blob());
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}

export function socketUrl(chatId: string, resume: { run: string; after: number } | null): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const place = resume ? `&run=${encodeURIComponent(resume.run)}&after=${resume.after}` : "";
  const path = `/api/ws/chats/${encodeURIComponent(chatId)}/messages`;
  return `${scheme}://${location.host}${path}?stream=1${place}`;
}
