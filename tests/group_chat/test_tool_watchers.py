"""An attempt on another patient is on the audit trail, or the turn ends."""

from datetime import UTC, datetime

import pytest

from data_models.clock import SystemClock
from data_models.errors import AuditUnavailableError
from group_chat.tools.tool import ToolWatcher
from group_chat.turn_context import TurnContext
from services.audit.trail import AuditTrail
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.group_chat.team_world import request_of


def _turn() -> TurnContext:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    request = request_of("go", now=now, principal_id="key:alice")
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
