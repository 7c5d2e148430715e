import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, describe, expect, test, vi } from "vitest";

import { chooseNotices } from "../src/appearance";
import { newTurn, type Turn } from "../src/chat";
import { usePlanNotice } from "../src/notices";
import { Who } from "../src/patient_mark";
import { PlanCard } from "../src/plan_card";
import { QuestionCard } from "../src/question_card";
import { RecordSystemStrip } from "../src/record_system";
import { strings } from "../src/strings";
import { followedTo } from "../src/transcript";
import { TurnView } from "../src/turn_view";
import type { Question, RecordSystem, Session, SharedState } from "../src/types";
import { estimatedHeight, wordsOf } from "../src/windowed";
import { asked, finished, following, said, started, stateOf } from "./scenes";

const session: Session = {
  principal: { id: "ada", name: "Ada" },
  agents: [{ name: "Radiology", description: "Reads reports.", is_facilitator: false }],
  model_kind: "language_model",
  patient_id_example: "patient_4",
  link_hosts: [],
  dictation: "",
};

const root = document.body;

function draw(view: preact.ComponentChild): void {
  act(() => render(view, root));
}

const button = (name: string): HTMLButtonElement =>
  [...root.querySelectorAll("button")].find((one) => one.textContent?.trim() === name) as HTMLButtonElement;

afterEach(() => draw(null));

describe("the end of a plan", () => {
  const told = vi.fn();
  const Room = ({ state }: { state: SharedState }) => {
    usePlanNotice(state);
    return null;
  };
  const planOf = (patientId: string, status: "running" | "done"): SharedState => ({
    ...stateOf(patientId),
    plan: { plan_id: `plan-${patientId}`, status, steps: [] },
  });

  test("is told once it is there, and not when another chart hides a plan that runs", () => {
    vi.stubGlobal("Notification", told);
    vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    chooseNotices(true);
    const states = [planOf("patient_4", "running"), stateOf("patient_15"), planOf("patient_4", "running")];
    for (const state of [...states, stateOf(null), planOf("patient_4", "running")])
      draw(<Room state={state} />);
    expect(told).not.toHaveBeenCalled();
    draw(<Room state={planOf("patient_4", "done")} />);
    draw(<Room state={stateOf("patient_4")} />);
    expect(told).toHaveBeenCalledTimes(1);
    chooseNotices(false);
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
});

describe("a turn", () => {
  const actions = {
    onEdit: vi.fn(),
    onResend: vi.fn(),
    onWithdraw: vi.fn(),
    onRepeat: vi.fn(),
    onSource: vi.fn(),
    onReceipt: vi.fn(),
  };
  const show = (turn: Turn): void => draw(<TurnView turn={turn} session={session} actions={actions} />);

  test("shows what was asked as text, never as HTML", () => {
    show(newTurn("k", "<b>bold</b> & 5 < 6"));
    expect(root.querySelector(".user-message b")).toBeNull();
    expect(root.querySelector(".user-message")?.textContent).toContain("<b>bold</b> & 5 < 6");
  });

  test("that failed can be sent again with the same words", () => {
    show({ ...newTurn("k", "Stage?"), status: "failed" });
    act(() => button(strings.transcript.resend).click());
    expect(actions.onResend).toHaveBeenCalledWith("Stage?");
  });

  test("that waits says so", () => {
    show({ ...newTurn("k", "Stage?"), status: "queued", meanwhile: "Second in line." });
    expect(root.textContent).toContain("Second in line.");
  });

  test("has several tools in one line that opens", () => {
    const tool = (id: string) => ({
      kind: "tool" as const,
      id,
      agent: "Radiology",
      tool: "labs",
      args: "",
      result: "ok",
      isError: false,
      durationMs: 1,
    });
    show({ ...newTurn("k", "Stage?"), status: "done", items: [tool("a"), tool("b")] });
    expect(root.querySelectorAll(":scope > details")).toHaveLength(1);
    expect(root.querySelectorAll("details details")).toHaveLength(2);
  });

  test("labels an answer by who made it, not by the server of today", () => {
    const by = (madeBy: "model" | "rules"): string => {
      const end = { type: "TEXT_MESSAGE_END" as const, messageId: "m1", metadata: { madeBy } };
      show(following(asked(), started, ...said("IVA"), end, finished).turns[0] as Turn);
      return root.querySelector("article")?.textContent ?? "";
    };
    expect(by("rules")).toContain(strings.transcript.byRules);
    expect(by("model")).not.toContain(strings.transcript.byRules);
  });
});

describe("a question", () => {
  const show = (question: Question, onAnswer = vi.fn()) => {
    draw(<QuestionCard question={question} isBusy={false} onAnswer={onAnswer} />);
    return onAnswer;
  };

  test("to be answered with yes or no has two buttons that name what they answer", () => {
    const onAnswer = show({ id: "q1", kind: "clear", text: "Clear *everything*? yes / no" });
    expect(root.querySelector("p")?.textContent).toBe("Clear everything?");
    act(() => button(strings.question.yes).click());
    expect(onAnswer).toHaveBeenCalledWith("yes", { target_id: "q1", answer: "yes" });
  });

  test("about two charts keeps its lines, and its buttons are no warning", () => {
    const text = "Nebeneinanderlegen?\n- **Ada** (patient_4)\n- **Bo** (patient_7)\n\nja / nein";
    show({ id: "q1", kind: "compare", text });
    expect(root.querySelector("p")?.textContent).toBe(
      "Nebeneinanderlegen?\n- Ada (patient_4)\n- Bo (patient_7)",
    );
    expect(root.querySelector(".danger")).toBeNull();
  });

  test("which of several is meant has a button for each", () => {
    const onAnswer = show({ id: "q2", kind: "which_entity", text: "Which one?\n1. *CEA*\n2. *CA 19-9*" });
    act(() => button("2. CA 19-9").click());
    expect(onAnswer).toHaveBeenCalledWith("2", { target_id: "q2", answer: "2" });
  });

  test("of another kind is answered in words", () => {
    show({ id: "q3", kind: "confirm_time", text: "Tuesday at ten?" });
    expect(root.querySelectorAll("button")).toHaveLength(0);
    expect(root.textContent).toContain("Tuesday at ten?");
  });
});

test("a plan that rests is gone on with by a button, and not while a turn runs", () => {
  const onAnswer = vi.fn();
  const step = { number: 1, agent: "Radiology", text: "review the imaging", status: "running" as const };
  const plan = { plan_id: "p1", status: "running" as const, steps: [step] };
  draw(<PlanCard plan={plan as never} isBusy={true} onAnswer={onAnswer} onChange={() => {}} />);
  expect(button(strings.plan.goOn)).toBeUndefined();
  draw(<PlanCard plan={plan as never} isBusy={false} onAnswer={onAnswer} onChange={() => {}} />);
  act(() => button(strings.plan.goOn).click());
  expect(onAnswer).toHaveBeenCalledWith("continue");
});

test("a patient is shown by mark, name, id, birth date and sex", () => {
  const person = { name: "Margaret Whitfield", birth_date: "1957-03-14", sex: "female" };
  draw(<Who people={new Map([["patient_4", person]])} patientId="patient_4" person={person} />);
  for (const part of ["MW", "Margaret Whitfield", "patient_4", "1957", "female"])
    expect(root.textContent).toContain(part);
});

describe("what is followed", () => {
  test("is the end, until the question is at the top of the window", () => {
    expect(followedTo(0, 500, 300)).toBe(300);
    expect(followedTo(300, 500, 2_000)).toBe(500);
    expect(followedTo(500, 500, 2_100)).toBeNull();
  });

  test("is the end again for who has read on beyond the question", () => {
    expect(followedTo(1_800, 500, 2_000)).toBe(2_000);
  });
});

test("a turn that was never drawn is thought the higher the more it says", () => {
  const short = newTurn("k", "Stage?");
  expect(estimatedHeight({ ...short, text: "word ".repeat(1_000) })).toBeGreaterThan(estimatedHeight(short));
  expect(wordsOf(asked("What is the stage?").turns[0] ?? short)).toBe("What is the stage?");
});

describe("what the record system shows", () => {
  const other = { patient_id: "patient_7", name: "Jan <b>Novak</b>", birth_date: "1968-07-21" };
  const open = vi.fn();
  const show = (told: RecordSystem, patientId: string | null = "patient_4"): void =>
    draw(<RecordSystemStrip told={told} patientId={patientId} isBusy={false} onOpen={open} />);

  test("is opened by a press alone, named by both identifiers", () => {
    show({ kind: "asks", patient: other });
    expect(root.textContent).toContain("Jan <b>Novak</b>, born 1968-07-21 (patient_7)");
    expect(open).not.toHaveBeenCalled();
    act(() => button(strings.recordSystem.open).click());
    expect(open).toHaveBeenCalledWith("patient_7");
  });

  test("is left alone by a press until it is told again", () => {
    show({ kind: "asks", patient: other });
    act(() => button(strings.recordSystem.stay).click());
    expect(root.textContent).toBe("");
    show({ kind: "asks", patient: other });
    expect(root.textContent).toContain("patient_7");
  });

  test("is no question once the patient is open here too", () => {
    show({ kind: "asks", patient: other }, "patient_7");
    expect(root.textContent).toBe("");
  });

  test.each(["unknown", "apart", "lost"] as const)("says when it cannot be followed: %s", (kind) => {
    show({ kind, patient: null });
    expect(root.textContent).toBe(strings.recordSystem[kind]);
    show({ kind: "followed", patient: null });
    expect(root.textContent).toBe("");
  });
});
