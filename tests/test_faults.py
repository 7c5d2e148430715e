"""The store that fails as told does fail, as told, and only then."""

import time

import pytest

from data_models.errors import BlobExistsError, StoreUnavailableError
from tests.fakes_store import MemoryBlobStore
from tests.faults import (
    WRITES,
    Delay,
    Down,
    Fault,
    FaultyBlobStore,
    Kill,
    LostAnswer,
    Operation,
    SimulatedKill,
)


@pytest.fixture
def inner() -> MemoryBlobStore:
    return MemoryBlobStore()


async def test_the_numbered_operation_fails_and_the_next_works(inner: MemoryBlobStore) -> None:
    store = FaultyBlobStore(inner, {2: Down()})
    await store.create("c/a", b"1")
    with pytest.raises(StoreUnavailableError):
        await store.create("c/b", b"1")
    await store.create("c/b", b"1")
    assert store.operations == [
        Operation(1, "create", "c/a"),
        Operation(2, "create", "c/b"),
        Operation(3, "create", "c/b"),
    ]


@pytest.mark.parametrize(
    ("fault", "error", "done"),
    [
        (Down(), StoreUnavailableError, False),
        (LostAnswer(), StoreUnavailableError, True),
        (Kill(), SimulatedKill, False),
        (Kill(after=True), SimulatedKill, True),
    ],
)
async def test_a_fault_comes_before_or_after_the_write(
    inner: MemoryBlobStore, fault: Fault, error: type[BaseException], *, done: bool
) -> None:
    with pytest.raises(error):
        await FaultyBlobStore(inner, {1: fault}).create("c/a", b"1")
    assert ("c/a" in inner.contents) is done


async def test_a_lost_refusal_is_a_lost_answer(inner: MemoryBlobStore) -> None:
    await inner.create("c/a", b"1")
    store = FaultyBlobStore(inner, {1: LostAnswer()})
    with pytest.raises(StoreUnavailableError):
        await store.create("c/a", b"2")
    with pytest.raises(BlobExistsError):
        await store.create("c/a", b"2")


async def test_a_killed_process_does_nothing_more(inner: MemoryBlobStore) -> None:
    store = FaultyBlobStore(inner, {1: Kill()})
    for _ in range(2):
        with pytest.raises(SimulatedKill):
            await store.create("c/a", b"1")
    assert inner.contents == {}


async def test_a_delayed_operation_is_done_late(inner: MemoryBlobStore) -> None:
    store = FaultyBlobStore(inner, {1: Delay(0.05)})
    started = time.monotonic()
    await store.create("c/a", b"1")
    assert time.monotonic() - started >= 0.05
    assert inner.contents == {"c/a": b"1"}


async def test_only_chosen_kinds_are_numbered(inner: MemoryBlobStore) -> None:
    store = FaultyBlobStore(inner, {1: Down()}, only=WRITES)
    await store.read("c/a")
    with pytest.raises(StoreUnavailableError):
        await store.create("c/a", b"1")


async def test_a_store_that_is_down_stays_down_until_told(inner: MemoryBlobStore) -> None:
    store = FaultyBlobStore(inner, always=Down())
    for attempt in (store.read("c/a"), store.check(), anext(aiter(store.list("c/")))):
        with pytest.raises(StoreUnavailableError):
            await attempt
    store.always = None
    assert await store.read("c/a") is None
