/** Frames and turns as the server sends them, for tests. */

import { type Chat, EMPTY, newTurn, reduce, withTurn } from "../src/chat";
import type { Frame, SharedState, Turn, ViewRow } from "../src/types";

export const RUN = "run_1";

export const stateOf = (patientId: string | null): SharedState => ({
  ...EMPTY.state,
  patient_id: patientId,
  all_patient_ids: patientId === null ? [] : [patientId],
  patient_count: patientId === null ? 0 : 1,
});

/** The chat once each frame came, numbered in the order of its run. */
export function following(chat: Chat, ...frames: Frame[]): Chat {
  return frames.reduce(
    (before, frame, at) =>
      reduce(before, { ...frame, metadata: { runId: RUN, seq: at + 1, ...frame.metadata } }),
    chat,
  );
}

export const asked = (text = "What is the stage?"): Chat => withTurn(EMPTY, newTurn("key_1", text, RUN));

export const said = (words: string, id = "m1"): Frame[] => [
  { type: "TEXT_MESSAGE_START", messageId: id, name: "Radiology" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: words },
];

export const started: Frame = { type: "RUN_STARTED", runId: RUN };
export const finished: Frame = { type: "RUN_FINISHED", outcome: { type: "success" } };

export const stored = (number: number): Turn => ({
  turn_id: number,
  run_id: `run_of_${number}`,
  timestamp: "2026-11-22T10:00:00Z",
  user: "Ada",
  user_message: `question ${number}`,
  agent_responses: [],
  turn_status: "COMPLETED",
});

export const rowOf = (given: Partial<ViewRow>): ViewRow => ({
  kind: "value",
  name: "Potassium",
  value: "4.1",
  number: 4.1,
  unit: "mmol/L",
  range: "3.5-5.1",
  flag: "",
  status: "",
  date: "2026-12-02",
  end: "",
  detail: "",
  sources: [],
  ...given,
});
