"""Turn events as AG-UI events: every one valid, numbered, and enough to follow the state."""

import json

import jsonpatch
import pytest
from ag_ui.core import Event
from pydantic import TypeAdapter

from data_models.chat_context import AgentMessage, Citation
from data_models.conversations import turn_events
from data_models.conversations.plan import Plan, PlanStep
from data_models.patient_context_models import TimingInfo
from routes.streams.ag_ui_frames import AgUiFrames, Frame, refusals
from tests.routes.fakes import NOW, spoken, state

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
STARTED = turn_events.RunStarted(run_id="run_1", conversation_id="chat_1")
FINISHED = turn_events.RunFinished(
    outcome="success", timing=turn_events.TurnTiming(total_ms=3.0, llm_calls=2)
)
PLAN = Plan(
    plan_id="plan_1",
    run_id="run_1",
    steps=[PlanStep(number=1, agent="Radiology", text="Read the CT")],
    created_at=NOW,
    updated_at=NOW,
)
WHOLE: list[turn_events.TurnEvent] = [
    STARTED,
    turn_events.StepStarted(step="decide"),
    turn_events.Notice(
        kind="restored", text="Back to patient_4.", details={"patient_id": "patient_4"}
    ),
    turn_events.StateChanged(state=state("chat_1")),
    turn_events.StepFinished(step="decide"),
    turn_events.ToolCallStarted(call_id="c1", agent="Radiology", tool="search_record"),
    turn_events.ToolCallArguments(call_id="c1", arguments='{"text": "CT"}'),
    turn_events.ToolCallEnded(call_id="c1"),
    turn_events.ToolCallResult(call_id="c1", content="[]", is_error=True, duration_ms=4.5),
    *spoken("m1", "Nothing found."),
    turn_events.StateChanged(state=state("chat_1", plan=PLAN)),
    turn_events.StateChanged(state=state("chat_1", plan=PLAN.with_step(1, "done", now=NOW))),
    FINISHED,
]


def rendered(events: list[turn_events.TurnEvent]) -> list[Frame]:
    frames = AgUiFrames(thread_id="chat_1", run_id="run_1")
    return [frames.frame(seq, event) for seq, event in enumerate(events, 1)]


def test_every_event_is_one_valid_frame_with_its_place() -> None:
    frames = rendered(WHOLE)
    for seq, frame in enumerate(frames, 1):
        EVENT.validate_python(frame)
        assert (frame["metadata"]["seq"], frame["metadata"]["runId"]) == (seq, "run_1")
    assert [frame["type"] for frame in frames[:4]] == [
        "RUN_STARTED",
        "STEP_STARTED",
        "CUSTOM",
        "STATE_SNAPSHOT",
    ]


def test_frames_say_nothing_that_the_protocol_does_not_know() -> None:
    for frame in rendered(WHOLE):
        assert EVENT.validate_python(frame).model_extra == {}


def test_the_state_says_how_long_the_decision_took() -> None:
    timing = TimingInfo(analyzer_ms=12.5, service_total_ms=13.0)
    _, frame = rendered([STARTED, turn_events.StateChanged(state=state("chat_1", timing=timing))])
    assert frame["snapshot"]["timing"] == {
        "analyzer_ms": 12.5,
        "storage_fallback_ms": None,
        "service_total_ms": 13.0,
    }


def test_patches_lead_from_the_snapshot_to_the_newest_state() -> None:
    document = None
    for frame in rendered(WHOLE):
        if frame["type"] == "STATE_SNAPSHOT":
            document = frame["snapshot"]
        elif frame["type"] == "STATE_DELTA":
            document = jsonpatch.apply_patch(document, json.loads(json.dumps(frame["delta"])))
    assert document is not None
    assert document["plan"]["steps"][0]["status"] == "done"
    assert document["all_patient_ids"] == ["patient_4"]


def test_a_change_of_one_step_is_a_small_patch() -> None:
    delta = rendered(WHOLE)[-2]["delta"]
    assert {"op": "replace", "path": "/plan/steps/0/status", "value": "done"} in delta
    assert all(operation["path"].startswith("/plan/") for operation in delta)


@pytest.mark.parametrize(
    ("changes", "interrupt"),
    [
        ({"plan": PLAN}, ("plan:plan_1", "plan")),
        (
            {"plan": PLAN, "question": {"id": "q_1", "kind": "clear", "text": "Clear all?"}},
            ("question:q_1", "clear"),
        ),
        ({}, ("input:run_1", "input")),
        ({"plan": PLAN.with_status("running", now=NOW)}, ("input:run_1", "input")),
    ],
)
def test_an_interrupt_says_what_is_waited_for(
    changes: dict[str, object], interrupt: tuple[str, str]
) -> None:
    waits = turn_events.RunFinished(outcome="interrupt", timing=turn_events.TurnTiming())
    frame = rendered([STARTED, turn_events.StateChanged(state=state("chat_1", **changes)), waits])[
        -1
    ]
    [only] = frame["outcome"]["interrupts"]
    assert (only["id"], only["reason"]) == interrupt
    answers = only["responseSchema"]["properties"]["answer"]
    assert answers.get("enum") == (
        ["confirm", "change", "cancel"] if only["reason"] == "plan" else None
    )
    EVENT.validate_python(frame)


def test_a_client_that_takes_no_interrupts_is_given_the_question_in_the_state() -> None:
    asked = {"id": "q_1", "kind": "clear", "text": "Clear all?"}
    frames = AgUiFrames(thread_id="t", run_id="r", interrupts=False)
    frames.frame(1, STARTED)
    told = frames.frame(2, turn_events.StateChanged(state=state("t", question=asked)))
    ended = frames.frame(
        3, turn_events.RunFinished(outcome="interrupt", timing=turn_events.TurnTiming())
    )
    EVENT.validate_python(ended)
    assert ended["outcome"] == {"type": "success"}
    assert told["snapshot"]["question"]["text"] == "Clear all?"


def test_an_interrupt_before_any_state_still_names_something_to_answer() -> None:
    frame = rendered(
        [STARTED, turn_events.RunFinished(outcome="interrupt", timing=turn_events.TurnTiming())]
    )[-1]
    EVENT.validate_python(frame)
    assert frame["outcome"]["interrupts"][0]["id"] == "input:run_1"


def test_timing_and_failure_are_told() -> None:
    finished = rendered([STARTED, FINISHED])[-1]
    assert finished["result"]["timing"]["llm_calls"] == 2
    failed = rendered([STARTED, turn_events.RunFailed(code="model", text="Sorry.", ref="ref_1")])[
        -1
    ]
    assert (failed["code"], failed["message"], failed["metadata"]["ref"]) == (
        "model",
        "Sorry.",
        "ref_1",
    )
    EVENT.validate_python(failed)
    (refused,) = refusals("bad_frame", "No.", ref="ref_1", client_message_id="c")
    EVENT.validate_python(refused)


def test_sources_come_with_the_end_of_a_message() -> None:
    cited = [Citation(ref="DocumentReference/note-3", title="Note")]
    message = AgentMessage(
        message_id="m1", agent="Radiology", text="x", timestamp=NOW, citations=cited
    )
    frame = rendered([STARTED, turn_events.AgentMessageFinished(message=message)])[-1]
    assert frame["metadata"]["citations"][0]["ref"] == "DocumentReference/note-3"


def test_nothing_goes_before_the_start_not_even_that_the_message_waits() -> None:
    waits = turn_events.Notice(kind="queued", text="Wait.")
    frames = rendered([waits, STARTED, FINISHED])
    assert [frame["type"] for frame in frames] == ["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]
    assert frames[0]["metadata"]["notice"]["kind"] == "queued"
    assert frames[1]["value"]["text"] == "Wait."
    for frame in frames:
        EVENT.validate_python(frame)


def test_that_a_run_waits_can_be_said_amid_another() -> None:
    frames = AgUiFrames(thread_id="chat-1", run_id="run_2", client_message_id="c2")
    frame = frames.queued(turn_events.Notice(kind="queued", text="Wait."))
    EVENT.validate_python(frame)
    assert frame["metadata"] == {"runId": "run_2", "clientMessageId": "c2"}
