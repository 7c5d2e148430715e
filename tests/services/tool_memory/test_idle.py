"""What nobody used for a week is archived, and nothing else is touched."""

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any

from data_models.chat_context import ChatContext
from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from data_models.tool_memory import ToolExecutionContext, ToolMemory
from services.conversations.maintenance_lease import MaintenanceLease, caretaker_for
from services.stores import ContextDocuments
from services.tool_memory.cleanup import IdleArchive
from settings import Settings
from tests.fakes import CountingIds
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.services.world import CHAT, World, heard

NAME = "chat_1/patient_patient_4_context.json"


async def stored(age: timedelta) -> MemoryBlobStore:
    now = SystemClock().now()
    run = ToolExecutionContext(
        execution_id="exec_1",
        tool_name="list_events",
        agent_name="Secretary",
        user_request="what's on?",
        timestamp=now - age,
    )
    context = ChatContext(
        conversation_id="chat_1",
        patient_id=PatientId("patient_4"),
        tool_memory=ToolMemory(executions=[run]),
    )
    document = {**json.loads(context.model_dump_json()), "of_a_newer_version": 1}
    store = MemoryBlobStore()
    await store.create(NAME, json.dumps(document).encode())
    return store


def archive(store: MemoryBlobStore) -> IdleArchive:
    clock, ids = SystemClock(), CountingIds()
    lease = caretaker_for(Settings(), sessions=store, users=MemoryBlobStore(), clock=clock, ids=ids)
    documents = ContextDocuments(store=store, lease=lease, principal_id="up")
    return IdleArchive(documents=documents, clock=clock, ids=ids)


async def document(store: MemoryBlobStore) -> dict[str, Any]:
    found = json.loads(present(await store.read(NAME)).data)
    assert isinstance(found, dict)
    return found


async def test_an_idle_memory_is_archived_and_the_rest_of_the_document_stays() -> None:
    store = await stored(timedelta(days=8))
    before = await document(store)
    report = await archive(store).run(dry_run=False)
    after = await document(store)
    assert (report.archived, report.busy, report.unreadable) == (1, 0, 0)
    assert after["tool_memory"] == {}
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"tool_memory", "write_id"}
    (kept,) = [name for name in store.contents if "_tool_memory/" in name]
    assert json.loads(store.contents[kept]) == before["tool_memory"]
    ChatContext.model_validate(after)
    assert (await archive(store).run(dry_run=False)).archived == 0


async def test_a_dry_run_counts_and_changes_nothing() -> None:
    store = await stored(timedelta(days=8))
    before = dict(store.contents)
    assert (await archive(store).run(dry_run=True)).archived == 1
    assert store.contents == before


async def test_what_was_used_within_a_week_stays() -> None:
    store = await stored(timedelta(days=6))
    before = dict(store.contents)
    assert (await archive(store).run(dry_run=False)).archived == 0
    assert store.contents == before


async def test_an_unreadable_document_is_counted_and_left_alone() -> None:
    store = MemoryBlobStore()
    await store.create(NAME, b"{broken")
    report = await archive(store).run(dry_run=False)
    assert report.unreadable == 1
    assert store.contents[NAME] == b"{broken"


async def test_a_conversation_in_which_a_turn_runs_is_left_for_the_next_run() -> None:
    sessions = MemoryBlobStore()
    world = World(sessions=sessions)
    await world.tell("start a tumor board for patient_4, please")
    await _age(sessions, world.clock.now() - timedelta(days=8))
    run = await world.hold("what was the stage?")
    await asyncio.sleep(0.05)
    before = dict(sessions.contents)
    report = await _archive_of(world).run(dry_run=False)
    assert (report.archived, report.busy) == (0, 1)
    assert {name: sessions.contents[name] for name in before if "conversation" not in name} == {
        name: data for name, data in before.items() if "conversation" not in name
    }
    world.team.gate.set()
    await heard(run)


async def test_an_idle_conversation_is_held_while_its_memory_is_archived_and_goes_on_after() -> (
    None
):
    sessions = MemoryBlobStore()
    world = World(sessions=sessions)
    await world.tell("start a tumor board for patient_4, please")
    await _age(sessions, world.clock.now() - timedelta(days=8))
    assert (await _archive_of(world).run(dry_run=False)).archived == 1
    assert [name for name in sessions.contents if "_tool_memory/" in name]
    answer = await world.say("what was the stage?")
    assert answer.texts == ["Heard: what was the stage?"]


def _archive_of(world: World) -> IdleArchive:
    lease = MaintenanceLease(claimant=world.claimant, ids=world.ids, wait_seconds=0)
    documents = ContextDocuments(store=world.sessions, lease=lease, principal_id="up")
    return IdleArchive(documents=documents, clock=world.clock, ids=world.ids)


async def _age(store: MemoryBlobStore, used: datetime) -> None:
    """Give the patient's document a tool memory that was used then."""
    name = f"{CHAT}/patient_patient_4_context.json"
    blob = present(await store.read(name))
    document = ChatContext.model_validate_json(blob.data)
    run = ToolExecutionContext(
        execution_id="exec_1", tool_name="t", agent_name="A", user_request="u", timestamp=used
    )
    document.tool_memory.executions.append(run)
    await store.replace(name, document.model_dump_json().encode(), etag=blob.etag)
