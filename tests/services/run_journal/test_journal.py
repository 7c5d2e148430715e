"""What one replica writes down of a run, another reads in order, each event once."""

import asyncio

import pytest

from data_models.blob_store import BlobStore
from data_models.errors import BlobChangedError, StoreUnavailableError
from data_models.turn_events import AgentTextDelta, TurnEvent
from services.run_journal.journal import PART_BYTES, JournalNames, JournalReader, JournalWriter
from services.run_journal.replica_signals import ReplicaSignal, ReplicaSignals
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore

NAMES = JournalNames(conversation_id="chat", run_id="run_1", replica="host:1/2/3")


def texts(*numbers: int, size: int = 1) -> list[TurnEvent]:
    return [AgentTextDelta("m1", f"{number} " * size) for number in numbers]


async def names(store: BlobStore) -> list[str]:
    return [row.name async for row in store.list("chat/")]


async def test_a_reader_gets_each_event_once_and_in_order() -> None:
    store = MemoryBlobStore()
    writer = JournalWriter(store=store, names=NAMES)
    reader = JournalReader(store=store, names=NAMES)
    assert await reader.news() == []
    await writer.add(texts(1, 2))
    assert await reader.news() == texts(1, 2)
    assert await reader.news() == []
    await writer.add(texts(3))
    await writer.add(texts(4))
    assert await reader.news() == texts(3, 4)
    assert writer.seq == 4


async def test_a_long_run_goes_on_in_parts_and_leaves_nothing() -> None:
    store = MemoryBlobStore()
    writer = JournalWriter(store=store, names=NAMES)
    early = JournalReader(store=store, names=NAMES)
    seen: list[TurnEvent] = []
    for number in range(20):
        await writer.add(texts(number, size=2_000))
        seen += await early.news()
    late = await JournalReader(store=store, names=NAMES).news()
    assert seen == late == texts(*range(20), size=2_000)
    parts = [store.contents[name] for name in await names(store)]
    assert len(parts) > 2
    assert all(len(part) < PART_BYTES + 10_000 for part in parts)
    await writer.delete()
    assert await names(store) == []


async def test_events_that_could_not_be_written_may_be_tried_again() -> None:
    inner = MemoryBlobStore()
    writer = JournalWriter(store=FaultyBlobStore(inner, {1: Down()}), names=NAMES)
    with pytest.raises(StoreUnavailableError):
        await writer.add(texts(1))
    await writer.add(texts(1, 2))
    assert await JournalReader(store=inner, names=NAMES).news() == texts(1, 2)


async def test_two_do_not_write_one_journal() -> None:
    store = MemoryBlobStore()
    await JournalWriter(store=store, names=NAMES).add(texts(1))
    with pytest.raises(BlobChangedError):
        await JournalWriter(store=store, names=NAMES).add(texts(2))


async def test_a_run_begun_anew_by_another_replica_has_a_journal_of_its_own() -> None:
    store = MemoryBlobStore()
    other = JournalNames(conversation_id="chat", run_id="run_1", replica="host:1/9/9")
    await JournalWriter(store=store, names=NAMES).add(texts(1))
    await JournalWriter(store=store, names=other).add(texts(2))
    assert await JournalReader(store=store, names=other).news() == texts(2)


async def test_what_earlier_runs_left_is_swept() -> None:
    store = MemoryBlobStore()
    old = JournalNames(conversation_id="chat", run_id="run_0", replica="dead")
    await JournalWriter(store=store, names=old).add(texts(1))
    await store.create("chat/conversation.json", b"{}")
    await JournalWriter(store=store, names=NAMES).sweep()
    assert await names(store) == ["chat/conversation.json"]


async def test_a_bell_tells_its_replica_everything_that_was_asked() -> None:
    store = MemoryBlobStore()
    signals = ReplicaSignals(store=store)
    assert await signals.received("one") == []
    rings = [ReplicaSignal(run_id=f"run_{number}", what="show") for number in range(8)]
    await asyncio.gather(*(signals.send("one", send) for send in [*rings, *rings]))
    assert sorted(send.run_id for send in await signals.received("one")) == sorted(
        send.run_id for send in rings
    )
    assert await signals.received("two") == []
    await signals.take_down("one")
    assert await signals.received("one") == []


async def test_a_bell_keeps_only_the_newest_rings() -> None:
    signals = ReplicaSignals(store=MemoryBlobStore())
    for number in range(70):
        await signals.send("one", ReplicaSignal(run_id=f"run_{number}", what="show"))
    rings = await signals.received("one")
    assert [send.run_id for send in rings] == [f"run_{number}" for number in range(6, 70)]


async def test_a_bell_of_another_release_is_no_error() -> None:
    store = MemoryBlobStore()
    signals = ReplicaSignals(store=store)
    await signals.send("one", ReplicaSignal(run_id="run_1", what="stop"))
    (name,) = store.contents
    blob = await store.read(name)
    assert blob is not None
    await store.replace(name, b'{"rings": [{"run_id": "r", "what": "sing"}]}', etag=blob.etag)
    assert await signals.received("one") == []
    await signals.send("one", ReplicaSignal(run_id="run_2", what="stop"))
    assert await signals.received("one") == [ReplicaSignal(run_id="run_2", what="stop")]
