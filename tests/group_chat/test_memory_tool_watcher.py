"""No tool run is forgotten, whichever agent made it."""

from datetime import UTC, datetime

from data_models.identifiers import PatientId
from data_models.tool_memory import ToolMemory
from group_chat.memory_tool_watcher import MemoryToolWatcher
from group_chat.tools.watcher import ToolRun
from group_chat.turn_context import TurnContext
from services.group_chat_port import GroupChatRequest
from services.tool_memory.session import ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.fakes import CountingIds
from tests.group_chat.team_world import MemoryShelf, RecordingWatcher

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def _turn(memory: ToolMemory) -> TurnContext:
    store = ToolEntityStore(memory=memory, limits=ToolMemoryLimits(), now=NOW)
    session = ToolMemorySession(
        store=store, turn_id=1, user_text="go", local_now=NOW, others=(), ids=CountingIds()
    )
    request = GroupChatRequest(
        conversation_id="c1",
        run_id="run_1",
        patient_id=PatientId("patient_4"),
        all_patient_ids=("patient_4",),
        snapshot="",
        history=(),
        text="go",
        user="Alice",
        now=NOW,
        deadline=0.0,
        artifacts=MemoryShelf(),
        tool_memory=session,
    )
    return TurnContext(request=request, emit=lambda _: None, agent="Radiology")


def _run(error_code: str | None) -> ToolRun:
    return ToolRun(
        call_id="call_1",
        agent="Radiology",
        tool="imaging_reports",
        arguments={"password": "x1y2z3"},
        content="{}",
        data=None if error_code else {"reports": []},
        error_code=error_code,
        duration_ms=2.0,
    )


async def test_good_and_failed_runs_are_remembered_and_passed_on() -> None:
    memory, then = ToolMemory(), RecordingWatcher()
    watcher = MemoryToolWatcher(then=then)
    turn = _turn(memory)
    await watcher.finished(turn, _run(None))
    await watcher.finished(turn, _run("tool_timeout"))
    await watcher.refused_patient(turn, "search_notes")
    assert [one.success for one in memory.executions] == [True, False]
    assert "x1y2z3" not in memory.model_dump_json()
    assert len(then.runs) == 2
    assert len(then.refused) == 1
