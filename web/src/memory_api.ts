/** What is remembered of a patient, over HTTP; field names are the wire's. */

import { ask, history } from "./api";
import type { Turn } from "./types";

export interface MemorySources {
  turns: number[];
  runs: string[];
  tool: string | null;
  agent: string | null;
}

export interface MemoryItem {
  id: string;
  kind: "topic" | "point" | "wish" | "finding" | "thing";
  label: string;
  value: unknown;
  status: "active" | "retired" | "expired" | "deleted";
  origin: string;
  updated_at: string | null;
  sources: MemorySources;
  can_correct: boolean;
}

export interface MemoryRun {
  id: string;
  tool: string;
  agent: string;
  asked: string;
  parameters: Record<string, unknown>;
  result: string;
  success: boolean;
  error: string | null;
  at: string;
  turn_id: number;
}

export interface MemoryChange {
  change_id: number;
  at: string;
  by: string;
  action: "correct" | "retire" | "restore" | "undo";
  item: string;
  label: string;
  before: unknown;
  after: unknown;
  undone: boolean;
  can_undo: boolean;
}

export interface Memory {
  patient_id: string | null;
  revision: string;
  topic: MemoryItem | null;
  phase: string;
  summary: string;
  understood: MemoryItem[];
  found: MemoryItem[];
  ran: MemoryRun[];
  changes: MemoryChange[];
}

export type Operation =
  | { op: "correct"; item: string; value: unknown }
  | { op: "retire" | "restore"; item: string }
  | { op: "undo"; change_id: number };

const place = (chatId: string, patientId: string): string =>
  `/api/chats/${encodeURIComponent(chatId)}/memory?patient_id=${encodeURIComponent(patientId)}`;

export const memory = (chatId: string, patientId: string): Promise<Memory> => ask(place(chatId, patientId));

export const change = (
  chatId: string,
  patientId: string,
  operation: Operation,
  revision: string,
): Promise<Memory> => ask(place(chatId, patientId), "PATCH", { operations: [operation], revision });

/** One turn, from the document or the archive; null if it is not there. */
export async function turnOf(chatId: string, patientId: string, turnId: number): Promise<Turn | null> {
  const page = await history(chatId, patientId, turnId + 1, 1);
  return page.turns.find((turn) => turn.turn_id === turnId) ?? null;
}
