"""No tool run is forgotten, whichever agent made it."""

from dataclasses import replace
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from data_models.entities.entities import Entities
from data_models.tool_memory import ToolMemory
from group_chat.tools.tool import file_derived, remembered
from group_chat.turn_context import TurnContext
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.entities.session import EntitySession
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.fakes import CountingIds, FixedClock
from tests.group_chat.team_world import request_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def _turn(memory: ToolMemory) -> TurnContext:
    store = ToolEntityStore(memory=memory, limits=ToolMemoryLimits(), now=NOW)
    session = ToolMemorySession(
        store=store, turn_id=1, user_text="go", now=NOW, roster=frozenset(), ids=CountingIds()
    )
    request = request_of("go", now=NOW, tool_memory=session)
    return TurnContext(request=request, emit=lambda _: None, agent="Radiology")


def _run(error_code: str | None) -> FinishedRun:
    return FinishedRun(
        tool="imaging_reports",
        agent="Radiology",
        parameters={"password": "x1y2z3"},
        data=None if error_code else {"reports": []},
        error=error_code,
        duration_ms=2.0,
        call_id="call_1",
        error_code=error_code,
    )


def test_good_and_failed_runs_are_remembered() -> None:
    memory = ToolMemory()
    turn = _turn(memory)
    remembered(turn, _run(None))
    remembered(turn, _run("tool_timeout"))
    assert [one.success for one in memory.executions] == [True, False]
    assert "x1y2z3" not in memory.model_dump_json()


def test_a_run_says_what_it_is_remembered_as() -> None:
    memory = ToolMemory()
    found = {"rows": [{"kind": "task", "id": "task_1", "title": "Call the lab"}]}
    told = remembered(_turn(memory), replace(_run(None), data=found))
    assert told.execution_id == memory.executions[0].execution_id
    assert told.entity_ids == ("task_1",)


def test_what_is_too_large_to_derive_refers_to_the_remembered_run() -> None:
    memory, entities = ToolMemory(), Entities()
    turn = _turn(memory)
    session = EntitySession(
        entities=entities,
        team=AgentNames.of(["AppointmentManager"]),
        clock=FixedClock(),
        meter=EntityMeter(registry=CollectorRegistry(), agents=["AppointmentManager"]),
        session_id="c1",
    )
    turn = replace(turn, request=replace(turn.request, entities=session))
    slots = [{"slot_id": f"slot_{number}", "note": "x" * 100} for number in range(40)]
    run = replace(
        _run(None), agent="AppointmentManager", tool="available_slots", data={"slots": slots}
    )
    file_derived(turn, run, remembered(turn, run))
    kept = entities.derived.agent_entities["AppointmentManager"]["available_slots"].value
    assert kept["run"] == memory.executions[0].execution_id
