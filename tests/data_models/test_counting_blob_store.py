"""What a turn costs is counted for that turn alone."""

import asyncio

import pytest

from data_models.counting_blob_store import CountingBlobStore, storage_counter
from data_models.errors import BlobExistsError, StoreUnavailableError
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore


@pytest.fixture
def store() -> CountingBlobStore:
    return CountingBlobStore(MemoryBlobStore())


async def test_operations_and_bytes_are_counted_by_kind(store: CountingBlobStore) -> None:
    with storage_counter() as counts:
        etag = await store.create("c/a", b"12345")
        await store.replace("c/a", b"123", etag=etag)
        await store.read("c/a")
        await store.read("c/absent")
        await store.append("c/log", b"12", position=0)
        await store.copy("c/a", "c/b")
        [row async for row in store.list("c/")]
        await store.delete("c/a")
        await store.check()
    assert counts.operations == {
        "create": 1,
        "replace": 1,
        "read": 2,
        "append": 1,
        "copy": 1,
        "list": 1,
        "delete": 1,
    }
    assert (counts.total, counts.bytes_read, counts.bytes_written) == (8, 3, 10)


async def test_a_refused_and_a_failed_operation_count(store: CountingBlobStore) -> None:
    await store.create("c/a", b"1")
    down = CountingBlobStore(FaultyBlobStore(MemoryBlobStore(), always=Down()))
    with storage_counter() as counts:
        with pytest.raises(BlobExistsError):
            await store.create("c/a", b"1")
        with pytest.raises(StoreUnavailableError):
            await down.read("c/a")
    assert counts.operations == {"create": 1, "read": 1}


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
    assert counts.operations == {"read": 2}
