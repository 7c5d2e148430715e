"""An attempt on another patient is on the audit trail, or the turn ends."""

from datetime import UTC, datetime

import pytest

from data_models.clock import SystemClock
from data_models.errors import AuditUnavailableError
from data_models.identifiers import PatientId
from group_chat.tools.watcher import ToolWatcher
from group_chat.turn_context import TurnContext
from services.audit.trail import AuditTrail
from services.group_chat_port import GroupChatRequest
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.group_chat.team_world import MemoryArtifacts


def _turn() -> TurnContext:
    request = GroupChatRequest(
        conversation_id="c1",
        run_id="run_1",
        patient_id=PatientId("patient_4"),
        all_patient_ids=("patient_4",),
        snapshot="",
        history=(),
        text="go",
        user="Alice",
        principal_id="key:alice",
        now=datetime(2030, 1, 1, tzinfo=UTC),
        deadline=0.0,
        artifacts=MemoryArtifacts(),
    )
    return TurnContext(request=request, emit=lambda _: None, agent="Radiology")


async def test_a_refused_patient_is_on_record_with_who_asked() -> None:
    store = MemoryBlobStore()
    trail = AuditTrail(store=store, replica="r1", clock=SystemClock())
    await ToolWatcher(audit=trail).note_refused_patient(_turn(), "search_record")
    (record,) = [data for name, data in store.contents.items() if name.startswith("trail/")]
    assert b"key:alice" in record
    assert b"tool_refused_patient:search_record" in record
    assert b"refused" in record


async def test_without_a_record_the_turn_ends() -> None:
    store = FaultyBlobStore(MemoryBlobStore(), always=Down())
    trail = AuditTrail(store=store, replica="r1", clock=SystemClock())
    with pytest.raises(AuditUnavailableError):
        await ToolWatcher(audit=trail).note_refused_patient(_turn(), "search_record")
