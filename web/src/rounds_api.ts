/** The ward round on the server. */

import { ask, tell } from "./api";
import { language } from "./strings";
import type { AgentMessage, ChartView } from "./types";

export type RoundState = "waiting" | "ready" | "failed" | "closed";
export type Part = "why" | "changes" | "results" | "open" | "medications" | "allergies";
export type Severity = "stable" | "watcher" | "unstable";

export interface RoundSummary {
  round_id: string;
  created_at: string;
  day: string;
  is_mine: boolean;
  patients: number;
  waiting: number;
  ready: number;
  failed: number;
  closed: number;
  ticked: number;
}

export interface Who {
  patient_id: string;
  name: string;
  birth_date: string;
  sex: string;
  deceased: string;
  numbers: string[];
}

export interface RoundRow {
  patient_id: string;
  state: RoundState;
  who: Who | null;
  problem: string;
  ticked_at: string | null;
  handed_to: string;
  accepted_at: string | null;
}

export interface RoundView {
  summary: RoundSummary;
  patients: RoundRow[];
}

export interface SignOut {
  by: string;
  to: string;
  at: string;
  illness_severity: Severity;
  patient_summary: string;
  action_list: string;
  situation_awareness: string;
  synthesis: string;
}

export interface RoundCard {
  place: number;
  of: number;
  row: RoundRow;
  parts: { part: Part; view: ChartView }[];
  said: AgentMessage[];
  chat_id: string;
  notes: { by: string; at: string; text: string }[];
  sign_outs: SignOut[];
}

const round = (roundId: string): string => `/api/rounds/${encodeURIComponent(roundId)}`;
const patient = (roundId: string, patientId: string): string =>
  `${round(roundId)}/patients/${encodeURIComponent(patientId)}`;

export const listRounds = async (): Promise<RoundSummary[]> =>
  (await ask<{ rounds: RoundSummary[] }>("/api/rounds")).rounds;

export const createRound = (patients: string[], day: string): Promise<RoundSummary> =>
  ask("/api/rounds", "POST", { patients, day: day || null, language: language === "de" ? "de" : "en" });

export const showRound = (roundId: string): Promise<RoundView> => ask(round(roundId));

export const showCard = (roundId: string, patientId: string): Promise<RoundCard> =>
  ask(patient(roundId, patientId));

export const printUrl = (roundId: string): string => `${round(roundId)}/print?lang=${language}`;

/** Tick, note, hand over, accept, prepare: what is done on a patient of a round. */
export const act = (
  roundId: string,
  patientId: string,
  deed: "tick" | "note" | "hand-over" | "accept" | "prepare",
  body?: unknown,
): Promise<void> => tell(`${patient(roundId, patientId)}/${deed}`, body);
