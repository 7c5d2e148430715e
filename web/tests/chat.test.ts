import { describe, expect, test } from "vitest";

import {
  EMPTY,
  isBegun,
  reduce,
  visibleTurns,
  withHistory,
  withInterrupted,
  withState,
  withStopped,
} from "../src/chat";
import { timesOffered } from "../src/times";
import type { Frame } from "../src/types";
import { asked, finished, following, RUN, said, started, stateOf, stored } from "./scenes";

const end: Frame = { type: "TEXT_MESSAGE_END", messageId: "m1", metadata: { madeBy: "rules" } };

const SLOTS: Frame = { type: "TOOL_CALL_START", toolCallId: "t1", toolCallName: "available_slots" };

describe("free times", () => {
  const offered = (text: string, ...before: Frame[]): string[] => {
    const [turn] = following(asked(), started, ...before, ...said(text), end, finished).turns;
    return turn ? timesOffered(turn) : [];
  };

  test("of one day are offered where the answer asks which suits", () => {
    const text = "Dr. Smith, 2026-12-01: free are 09:00, 09:30. Which time suits?";
    expect(offered(text, SLOTS)).toEqual(["09:00", "09:30"]);
    expect(offered(text)).toEqual([]);
  });

  test.each([
    "2026-12-01: 09:00; 2026-12-02: 10:30. Which suits?",
    "Booked on 2026-12-01 from 09:00 to 09:30.",
    "Free are 09:00 and 10:00. Which suits?",
  ])("are not where a time alone says too little: %s", (text) => {
    expect(offered(text, SLOTS)).toEqual([]);
  });
});

describe("a run", () => {
  test("grows its message word by word and says who made it", () => {
    const [turn] = following(asked(), started, ...said("Stage IVA"), end, finished).turns;
    expect(turn?.status).toBe("done");
    expect(turn?.items).toMatchObject([{ kind: "agent", text: "Stage IVA", isDone: true, madeBy: "rules" }]);
  });

  test("says nothing twice where the server repeats what is known", () => {
    const chat = following(asked(), started, ...said("Stage IVA"));
    const again = reduce(chat, {
      type: "TEXT_MESSAGE_CONTENT",
      messageId: "m1",
      delta: "Stage IVA",
      metadata: { runId: RUN, seq: 3 },
    });
    expect(again).toBe(chat);
  });

  test("of another screen is taken over with what was asked there", () => {
    const input = { messages: [{ role: "user", content: "asked elsewhere" }] };
    const chat = reduce(EMPTY, {
      type: "RUN_STARTED",
      runId: "other",
      input,
      metadata: { runId: "other", seq: 1 },
    });
    expect(chat.turns.map((turn) => [turn.text, turn.status])).toEqual([["asked elsewhere", "running"]]);
  });

  test("that fails keeps what was said, closes it, and gives the reference", () => {
    const error: Frame = {
      type: "RUN_ERROR",
      message: "Ask again.",
      code: "model",
      metadata: { ref: "run_1" },
    };
    const [turn] = following(asked(), started, ...said("Half"), error).turns;
    expect(turn?.status).toBe("failed");
    expect(turn?.items).toMatchObject([
      { kind: "agent", text: "Half", isDone: true },
      { kind: "error", text: "Ask again.", ref: "run_1" },
    ]);
  });

  test("that was cancelled is stopped, not done", () => {
    const stop: Frame = { type: "RUN_FINISHED", outcome: { type: "cancelled" } };
    expect(following(asked(), started, stop).turns[0]?.status).toBe("stopped");
  });

  test("waits with the server's own words, and is not begun before a frame came", () => {
    const notice = { kind: "queued", text: "Third in line.", details: { is_answer: true } };
    const chat = following(asked(), { ...started, metadata: { notice } });
    expect(chat.turns[0]).toMatchObject({ status: "queued", meanwhile: "Third in line." });
    expect(asked().turns.some(isBegun)).toBe(false);
  });

  test("folds what a tool gave under its call", () => {
    const [turn] = following(
      asked(),
      started,
      { type: "TOOL_CALL_START", toolCallId: "t1", toolCallName: "labs" },
      { type: "TOOL_CALL_ARGS", toolCallId: "t1", delta: '{"name":' },
      { type: "TOOL_CALL_ARGS", toolCallId: "t1", delta: '"K"}' },
      { type: "TOOL_CALL_RESULT", toolCallId: "t1", content: "4.1", metadata: { durationMs: 7 } },
    ).turns;
    expect(turn?.items).toMatchObject([{ kind: "tool", args: '{"name":"K"}', result: "4.1", durationMs: 7 }]);
  });
});

describe("patients", () => {
  const view = (patientId: string): Frame => ({
    type: "CUSTOM",
    name: "view",
    value: {
      message_id: "m1",
      view_id: "v1",
      patient_id: patientId,
      kind: "table",
      title: "",
      columns: [],
      rows: [],
      sources: [],
      left_out: [],
      nothing: "",
      notes: [],
    },
  });
  const opened: Frame = { type: "STATE_SNAPSHOT", snapshot: stateOf("patient_4") };

  test("rows of another patient's chart are never drawn", () => {
    const drawn = (patientId: string): unknown =>
      following(asked(), started, opened, ...said("Here"), view(patientId)).turns[0]?.items[0];
    expect(drawn("patient_15")).toMatchObject({ views: [] });
    expect(drawn("patient_4")).toMatchObject({ views: [{ view_id: "v1" }] });
    // Two charts that were laid side by side are of neither alone.
    expect(drawn("")).toMatchObject({ views: [{ view_id: "v1" }] });
  });

  test("turns of a patient who is no longer open are not shown", () => {
    const chat = following(asked(), started, opened, finished);
    expect(visibleTurns(chat)).toHaveLength(1);
    expect(visibleTurns(withState(chat, stateOf("patient_15")))).toEqual([]);
  });

  test("a cleared conversation forgets who was there", () => {
    const chat = following(asked(), started, opened, finished);
    const cleared = withState(chat, stateOf(null));
    expect(cleared.turns).toEqual([]);
    expect(cleared.people.size).toBe(0);
  });

  test("the marks of patients stay where they are when another comes", () => {
    const first = withState(EMPTY, stateOf("patient_9"));
    const second = withState(first, {
      ...stateOf("patient_1"),
      all_patient_ids: ["patient_1", "patient_9"],
      patient_count: 2,
    });
    expect([...second.people.keys()]).toEqual(["patient_9", "patient_1"]);
  });
});

describe("history", () => {
  const page = (from: number, to: number, next: number | null) => ({
    turns: Array.from({ length: to - from + 1 }, (_, at) => stored(from + at)),
    next_before: next,
  });

  test("stands in its order, once, whatever pages were read", () => {
    const newest = withHistory(EMPTY, null, page(3, 4, 3), true);
    const whole = withHistory(newest, null, page(1, 2, null), false);
    const again = withHistory(whole, null, page(3, 4, 3), true);
    expect(again.turns.map((turn) => turn.turnId)).toEqual([1, 2, 3, 4]);
    expect(again.earlier.size).toBe(0);
  });

  test("comes before what was said since the page opened", () => {
    const chat = withHistory(asked("just now"), null, page(1, 2, null), true);
    expect(chat.turns.map((turn) => turn.text)).toEqual(["question 1", "question 2", "just now"]);
  });

  test("keeps that a turn was stopped or failed", () => {
    const turns = [
      { ...stored(1), turn_status: "STOPPED" as const },
      { ...stored(2), turn_status: "FAILED" as const },
    ];
    const chat = withHistory(EMPTY, null, { turns, next_before: null }, true);
    expect(chat.turns.map((turn) => turn.status)).toEqual(["stopped", "failed"]);
  });
});

describe("a turn over which the server died", () => {
  const dead = { ...stored(7), turn_status: "FAILED" as const, error_code: "interrupted" };
  const session = { turns: [dead], next_before: null };
  const open = withState(EMPTY, stateOf("patient_4"));

  test("is shown with the open patient, once, and says what happened", () => {
    const chat = withInterrupted(open, dead.run_id, session);
    expect(visibleTurns(withInterrupted(chat, dead.run_id, session))).toMatchObject([
      { text: "question 7", status: "failed", items: [{ kind: "error", code: "interrupted" }] },
    ]);
  });

  test("is not shown beside the message that was sent again and heard of it", () => {
    const ref = dead.run_id;
    const error: Frame = { type: "RUN_ERROR", message: "stopped", code: "interrupted", metadata: { ref } };
    const chat = withState(following(asked(), started, error), stateOf("patient_4"));
    expect(withInterrupted(chat, ref, session)).toBe(chat);
    expect(withHistory(chat, "patient_4", session, true).turns).toHaveLength(1);
  });

  test("is not shown once something was said after it, nor one that failed otherwise", () => {
    expect(withInterrupted(open, "another", session)).toBe(open);
    const failed = { turns: [{ ...dead, error_code: "model" }], next_before: null };
    expect(withInterrupted(open, dead.run_id, failed)).toBe(open);
  });
});

test("a message that was withdrawn is stopped, the others go on", () => {
  expect(withStopped(asked(), new Set(["key_1"])).turns[0]?.status).toBe("stopped");
  expect(withStopped(asked(), new Set(["other"])).turns[0]?.status).toBe("sending");
});
