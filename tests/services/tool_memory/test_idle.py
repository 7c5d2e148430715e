"""What nobody used for a week is archived, and nothing else is touched."""

import json
from datetime import timedelta
from typing import Any

from data_models.chat_context import ChatContext
from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from data_models.tool_memory import ToolExecutionContext, ToolMemory
from services.tool_memory.idle import IdleArchive
from tests.fakes import CountingIds
from tests.fakes_store import MemoryBlobStore

NAME = "chat_1/patient_patient_4_context.json"


async def stored(age: timedelta) -> MemoryBlobStore:
    now = SystemClock().now()
    run = ToolExecutionContext(
        execution_id="exec_1",
        tool_name="list_events",
        agent_name="Assistant",
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
    return IdleArchive(store=store, clock=SystemClock(), ids=CountingIds())


async def document(store: MemoryBlobStore) -> dict[str, Any]:
    blob = await store.read(NAME)
    assert blob is not None
    found = json.loads(blob.data)
    assert isinstance(found, dict)
    return found


async def test_an_idle_memory_is_archived_and_the_rest_of_the_document_stays() -> None:
    store = await stored(timedelta(days=8))
    before = await document(store)
    report = await archive(store).run(["chat_1"], dry_run=False)
    after = await document(store)
    assert (report.archived, report.busy, report.unreadable) == (1, 0, 0)
    assert after["tool_memory"] == {}
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"tool_memory", "write_id"}
    (kept,) = [name for name in store.contents if "_tool_memory/" in name]
    assert json.loads(store.contents[kept]) == before["tool_memory"]
    ChatContext.model_validate(after)
    assert (await archive(store).run(["chat_1"], dry_run=False)).archived == 0


async def test_a_dry_run_counts_and_changes_nothing() -> None:
    store = await stored(timedelta(days=8))
    before = dict(store.contents)
    assert (await archive(store).run(["chat_1"], dry_run=True)).archived == 1
    assert store.contents == before


async def test_what_was_used_within_a_week_stays() -> None:
    store = await stored(timedelta(days=6))
    before = dict(store.contents)
    assert (await archive(store).run(["chat_1"], dry_run=False)).archived == 0
    assert store.contents == before


async def test_an_unreadable_document_is_counted_and_left_alone() -> None:
    store = MemoryBlobStore()
    await store.create(NAME, b"{broken")
    report = await archive(store).run(["chat_1"], dry_run=False)
    assert report.unreadable == 1
    assert store.contents[NAME] == b"{broken"
