"""Events survive being written down, whatever they hold."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, Artifact, Citation
from data_models.errors import CorruptDocumentError
from data_models.plan import Plan, PlanStep
from data_models.scenario_session import ScenarioPlace
from data_models.statement_check import CheckedStatement
from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    ClaimsChecked,
    Notice,
    RunFailed,
    RunFinished,
    RunStarted,
    SharedState,
    StateChanged,
    StepFinished,
    StepStarted,
    ToolCallArguments,
    ToolCallEnded,
    ToolCallResult,
    ToolCallStarted,
    TurnEvent,
    TurnTiming,
    ViewShown,
)
from services.run_journal.event_lines import events_in, lines_of

NOW = datetime(2030, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
CITATION = Citation(ref="DocumentReference/note-3", title="Note", date="2029-05-06")
MESSAGE = AgentMessage(
    message_id="m1", agent="Radiology", text="Größe 3 cm\n", timestamp=NOW, citations=[CITATION]
)
ALL: list[TurnEvent] = [
    RunStarted("run_1", "chat"),
    StepStarted("load"),
    StepFinished("load"),
    Notice("restored", "Continuing.", {"patient": "patient_4", "count": 3}),
    AgentMessageStarted("m1", "Radiology"),
    AgentTextDelta("m1", "Größe\u2028 3"),
    ClaimsChecked("m1", (CheckedStatement(start=0, end=5, state="supported", sources=("O/1",)),)),
    ViewShown("m1", ChartView(tool="results", kind="series", title="K", rows=(ViewRow(name="K"),))),
    AgentMessageFinished(MESSAGE),
    ToolCallStarted("c1", "Radiology", "find"),
    ToolCallArguments("c1", '{"a": 1}'),
    ToolCallEnded("c1"),
    ToolCallResult("c1", "[]", is_error=False, duration_ms=1.25),
    RunFailed("interrupted", "Stopped.", "run_1"),
    RunFinished("success", TurnTiming(total_ms=3.5, analyzer_ms=None, storage_ops=4)),
]


def test_every_kind_of_event_comes_back_as_it_was() -> None:
    assert {type(event) for event in ALL} | {StateChanged} == set(get_args(TurnEvent))
    assert events_in(lines_of(ALL)) == ALL


def test_a_state_comes_back_with_its_plan_files_and_scenario() -> None:
    plan = Plan(
        plan_id="p1",
        run_id="run_1",
        steps=[PlanStep(number=1, agent="Radiology", text="Look")],
        created_at=NOW,
        updated_at=NOW,
    )
    artifact = Artifact(
        artifact_id="a1",
        file_name="r.txt",
        media_type="text/plain",
        size_bytes=3,
        created_at=NOW,
        run_id="run_1",
    )
    place = ScenarioPlace(scenario="board", step="collect", done=1, total=4, keys=["stage"])
    state = SharedState(
        conversation_id="chat",
        patient_id="patient_4",
        all_patient_ids=("patient_4", "patient_15"),
        patient_count=2,
        plan=plan,
        question={"id": "q", "kind": "clear", "text": "Sure?"},
        artifacts=(artifact,),
        scenario=place,
    )
    assert events_in(lines_of([StateChanged(state)])) == [StateChanged(state)]


@given(st.lists(st.text()))
def test_whatever_an_agent_says_is_one_line(texts: list[str]) -> None:
    events: list[TurnEvent] = [AgentTextDelta("m1", text) for text in texts]
    lines = lines_of(events)
    assert lines.count(b"\n") == len(texts)
    assert events_in(lines) == events


@pytest.mark.parametrize(
    "line",
    [
        b"no json\n",
        b"[]\n",
        b'{"kind": "ToolCallEnded"}\n',
        b'{"kind": "OfTomorrow", "event": {}}\n',
        b'{"kind": "StepStarted", "event": {"step": "secret of patient_4"}}\n',
    ],
)
def test_what_is_no_event_is_damage_and_its_words_are_not_told(line: bytes) -> None:
    with pytest.raises(CorruptDocumentError) as failure:
        events_in(line)
    assert "patient" not in str(failure.value)
    assert failure.value.__cause__ is None


def test_a_field_of_a_newer_release_is_passed_over() -> None:
    line: Any = b'{"kind": "StepStarted", "event": {"step": "load", "since": 3}}\n'
    assert events_in(line) == [StepStarted("load")]
