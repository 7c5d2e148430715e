"""Operators see what single sessions did, among what they did themselves."""

from datetime import timedelta

from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import MigrationAppliedEvent
from services.audit.trail import NoAudit
from services.scenarios.operators.journal import JUMPED, ActLog, JournalEntry
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore

NOW = FixedClock().now()
SESSION = "chat_1/patient_4"


def jump(number: int) -> MigrationAppliedEvent:
    return MigrationAppliedEvent(
        event_id=f"e{number}",
        session_id=SESSION,
        scenario_id="booking",
        plan_ids=["p"],
        from_version=1,
        to_version=2,
        migration_scenario="clean_graft",
        anchor_hash="h",
        step_before="slot",
        step_after="slot",
        action_taken="teleport",
        timestamp=NOW + timedelta(minutes=number),
    )


async def test_jumps_stand_among_the_acts_newest_first() -> None:
    store = MemoryBlobStore()
    journal = ActLog(audit=NoAudit(), blobs=store, now=FixedClock().now)
    act = JournalEntry(time=NOW + timedelta(minutes=2), operator="ada", action="deploy")
    await journal.write("booking", act)
    for number in (1, 3):
        name = f"scenarios/booking/events/e{number}.json"
        await store.create(name, jump(number).model_dump_json().encode())
    entries = await journal.newest("booking")
    assert [one.action for one in entries] == [JUMPED, "deploy", JUMPED]
    assert entries[0].note == (
        f"session {hashed(SESSION)[:10]}: version 1 to 2, slot to slot, clean graft"
    )
    assert "patient_4" not in entries[0].note
    assert await journal.newest("another") == []
