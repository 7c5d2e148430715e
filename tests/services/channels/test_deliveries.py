"""What the channel calls our messages is remembered for as long as somebody may rate them."""

from datetime import UTC, datetime, timedelta

import pytest

from data_models.errors import ChannelUnavailableError, StoreUnavailableError
from data_models.storage.blob_store import BlobStore
from services.basis import Replica
from services.channels.deliveries import KEPT_DAYS, SEARCHED_RUNS, Deliveries, Owed
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.given import message_of

BEGAN = datetime(2030, 1, 1, tzinfo=UTC)
"""When the store in memory says that its first blob was written."""


def notes(store: MemoryBlobStore, conversation: str = "c") -> list[str]:
    folder = f"deliveries/{conversation}/sent/"
    return [name.removeprefix(folder) for name in store.contents if name.startswith(folder)]


def on_day(store: BlobStore, days: int) -> Deliveries:
    clock = FixedClock(BEGAN + timedelta(days=days))
    return Deliveries(store=store, replica=Replica(), clock=clock)


def note_of(deliveries: Deliveries, run: str, conversation: str = "c") -> Owed:
    return deliveries.new_note(
        run, message_of(at=BEGAN, conversation_id=conversation, channel="bot", owner="bot:c")
    )


async def settled(deliveries: Deliveries, run: str, *sent: str, conversation: str = "c") -> None:
    note = note_of(deliveries, run, conversation)
    await deliveries.settle(note, dict.fromkeys(sent, "m1"))


async def test_notes_of_old_messages_go_when_a_new_one_comes() -> None:
    store = MemoryBlobStore()
    first = on_day(store, 0)
    for run in ("r1", "r2"):
        await settled(first, run, f"id-{run}")
    await settled(first, "r1", "id", conversation="elsewhere")
    assert await first.find_sent("c", "id-r1") == ("r1", "m1", "")
    later = on_day(store, KEPT_DAYS + 1)
    await settled(later, "r3")
    assert notes(store) == ["r1.json", "r2.json"], "a run without such a note looks for none"
    await settled(later, "r4", "id-r4")
    assert notes(store) == [], "in this store even the new one counts as old"
    assert notes(store, "elsewhere") == ["r1.json"]


async def test_no_conversation_has_more_notes_than_are_searched() -> None:
    store = MemoryBlobStore()
    first = on_day(store, 0)
    for number in range(SEARCHED_RUNS + 9):
        await settled(first, f"r{number:04}", f"id-{number}")
    assert len(notes(store)) == SEARCHED_RUNS + 9, "once a day is enough"
    await settled(on_day(store, 1), "r9999", "id")
    assert len(notes(store)) == SEARCHED_RUNS
    assert notes(store)[0] == "r0010.json"
    assert notes(store)[-1] == "r9999.json"


async def test_what_was_delivered_is_owed_no_more_although_old_notes_cannot_be_removed() -> None:
    inner = MemoryBlobStore()
    failing = FaultyBlobStore(inner, always=Down(), only=frozenset({"list"}))
    deliveries = on_day(failing, 0)
    await deliveries.owe(note_of(deliveries, "r1"))
    with pytest.raises(StoreUnavailableError):
        await settled(deliveries, "r1", "id-r1")
    assert await on_day(inner, 0).read_owed("c") == []


async def owed_note(deliveries: Deliveries) -> Owed:
    (note,) = await deliveries.read_owed("c")
    return note


async def test_a_reply_is_tried_less_and_less_often_and_after_a_day_only_at_a_contact() -> None:
    clock = FixedClock(BEGAN)
    deliveries = Deliveries(store=MemoryBlobStore(), replica=Replica(), clock=clock)
    await deliveries.owe(note_of(deliveries, "r"))
    pauses: list[timedelta] = []
    while not (note := await owed_note(deliveries)).is_parked:
        assert note.next_try is None or deliveries.is_due(note)
        note.activities, note.is_kept = [{"type": "message"}], True
        await deliveries.update(note, failure=ChannelUnavailableError("503"))
        note = await owed_note(deliveries)
        assert note.next_try is not None
        assert not deliveries.is_due(note)
        pauses.append(note.next_try - clock.now())
        clock.advance(pauses[-1].total_seconds())
    assert pauses[:4] == [timedelta(seconds=15 * 2**step) for step in range(4)]
    assert max(pauses) == timedelta(hours=1)
    assert timedelta(hours=23) < sum(pauses, timedelta()) <= timedelta(hours=25)
    assert not deliveries.is_due(note)
    assert deliveries.is_left(note), "the next contact brings it"
    assert await deliveries.take_over(note)


async def test_one_note_that_cannot_be_read_holds_no_other_up() -> None:
    store = MemoryBlobStore()
    deliveries = on_day(store, 0)
    await store.create("owed/c/broken.json", b"{")
    assert [note async for note in deliveries.all_owed()] == []
