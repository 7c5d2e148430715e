"""What a turn costs is counted for that turn alone."""

import asyncio

import pytest

from data_models.clock import SystemClock
from data_models.errors import BlobChangedError, BlobExistsError, StoreUnavailableError
from data_models.storage.blob_store import Blob
from data_models.storage.counting_blob_store import (
    CountingBlobStore,
    StorageOperation,
    storage_counter,
)
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Delay, Down, FaultyBlobStore


@pytest.fixture
def store() -> CountingBlobStore:
    return CountingBlobStore(MemoryBlobStore(), clock=SystemClock())


async def test_every_operation_is_counted(store: CountingBlobStore) -> None:
    with storage_counter() as counts:
        etag = await store.create("c/a", b"12345")
        await store.replace("c/a", b"123", etag=etag)
        await store.read("c/a")
        await store.read("c/absent")
        await store.append("c/log", b"12", position=0)
        [row async for row in store.list("c/")]
        await store.delete("c/a")
        await store.check()
    assert counts.total == 7


async def test_a_refused_and_a_failed_operation_count(store: CountingBlobStore) -> None:
    await store.create("c/a", b"1")
    down = CountingBlobStore(FaultyBlobStore(MemoryBlobStore(), always=Down()), clock=SystemClock())
    with storage_counter() as counts:
        with pytest.raises(BlobExistsError):
            await store.create("c/a", b"1")
        with pytest.raises(StoreUnavailableError):
            await down.read("c/a")
    assert counts.total == 2


async def test_without_a_counter_nothing_is_counted(store: CountingBlobStore) -> None:
    with storage_counter() as counts:
        pass
    await store.create("c/a", b"1")
    assert counts.total == 0


async def test_two_turns_at_once_count_apart(store: CountingBlobStore) -> None:
    async def turn(name: str, reads: int) -> int:
        with storage_counter() as counts:
            for _ in range(reads):
                await store.read(name)
                await asyncio.sleep(0)
        return counts.total

    assert [*await asyncio.gather(turn("c/a", 3), turn("c/b", 5))] == [3, 5]


async def test_what_a_turn_starts_beside_itself_counts_for_it(store: CountingBlobStore) -> None:
    with storage_counter() as counts:
        await asyncio.gather(store.read("c/a"), store.read("c/b"))
    assert counts.total == 2


class SlowBlobStore(MemoryBlobStore):
    """A store that reads nothing until the test lets it answer."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = asyncio.Event()

    async def read(self, name: str) -> Blob | None:
        await self.answers.wait()
        return await super().read(name)


async def test_operations_side_by_side_take_their_time_once() -> None:
    clock = FixedClock()
    slow = SlowBlobStore()
    store = CountingBlobStore(slow, clock=clock)
    with storage_counter() as counts:
        reads = [asyncio.create_task(store.read(name)) for name in ("c/a", "c/b")]
        await asyncio.sleep(0)
        clock.advance(0.5)
        slow.answers.set()
        await asyncio.gather(*reads)
        clock.advance(10.0)
    assert counts.waited_seconds == pytest.approx(0.5)


async def test_a_failed_operation_takes_its_time_too() -> None:
    clock = SystemClock()
    plan = {1: Delay(0.02)}
    store = CountingBlobStore(FaultyBlobStore(MemoryBlobStore(), plan), clock=clock)
    with storage_counter() as counts, pytest.raises(BlobChangedError):
        await store.replace("c/absent", b"1", etag="none")
    assert counts.waited_seconds >= 0.02


async def test_what_is_done_between_the_rows_of_a_listing_is_not_its_time() -> None:
    clock = FixedClock()
    store = CountingBlobStore(MemoryBlobStore(), clock=clock)
    await store.create("c/a", b"1")
    await store.create("c/b", b"1")
    with storage_counter() as counts:
        async for _ in store.list("c/"):
            clock.advance(1.0)
    assert counts.waited_seconds == 0


async def test_an_observer_hears_of_operations_outside_of_turns() -> None:
    heard: list[StorageOperation] = []
    store = CountingBlobStore(MemoryBlobStore(), clock=SystemClock(), observe=heard.append)
    await store.create("c/a", b"1")
    await store.read("c/a")
    assert heard == ["create", "read"]
