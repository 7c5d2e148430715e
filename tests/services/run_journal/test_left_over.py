"""A journal whose replica died does not outlive the day."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from services.run_journal.left_over import LEFT_OVER_DAYS, LeftOverJournals
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore

SERVICES = Path(__file__).parents[3] / "services"
OLD, DOCUMENT = "chat_1/watched/run_1/dead-0.jsonl", "chat_1/session_context.json"


@pytest.fixture
async def store() -> MemoryBlobStore:
    store = MemoryBlobStore()
    await store.append(OLD, b"x\n", position=0)
    await store.create(DOCUMENT, b"{}")
    await store.create("chat_10/watched.json", b"{}")
    return store


async def sweeping(store: MemoryBlobStore, *, after: timedelta) -> LeftOverJournals:
    rows = [row async for row in store.list("chat_1/")]
    return LeftOverJournals(store=store, clock=FixedClock(rows[-1].modified_at + after))


async def test_what_is_older_than_a_day_goes_and_nothing_else(store: MemoryBlobStore) -> None:
    left_over = await sweeping(store, after=timedelta(days=LEFT_OVER_DAYS, seconds=1))
    assert await left_over.sweep(["chat_1", "chat_10", "chat_2"], dry_run=False) == 1
    assert list(store.contents) == [DOCUMENT, "chat_10/watched.json"]


async def test_a_dry_run_counts_and_deletes_nothing(store: MemoryBlobStore) -> None:
    left_over = await sweeping(store, after=timedelta(days=LEFT_OVER_DAYS, seconds=1))
    assert await left_over.sweep(["chat_1"], dry_run=True) == 1
    assert OLD in store.contents


async def test_what_may_still_be_written_stays(store: MemoryBlobStore) -> None:
    left_over = await sweeping(store, after=timedelta(days=LEFT_OVER_DAYS, seconds=-60))
    assert await left_over.sweep(["chat_1"], dry_run=False) == 0
    assert OLD in store.contents


def test_storage_may_delete_what_is_appended_to_because_only_journals_are() -> None:
    appending = re.compile(r"\.append\(.*position=")
    found = {
        path.relative_to(SERVICES).as_posix()
        for path in SERVICES.rglob("*.py")
        if appending.search(path.read_text("utf-8"))
    }
    # In containers of their own; and no journal is in a backup.
    elsewhere = {"audit/trail.py", "scenarios/operators/journal.py", "operations/backup.py"}
    assert found - elsewhere == {"run_journal/journal.py"}
