"""One replica asks another to stop a run."""

import asyncio

from services.runs.hub import ask_to_stop, read_stops
from tests.fakes_store import MemoryBlobStore


async def test_a_replica_is_told_everything_that_was_asked() -> None:
    store = MemoryBlobStore()
    assert await read_stops(store, "one") == []
    runs = [f"run_{number}" for number in range(8)]
    await asyncio.gather(*(ask_to_stop(store, "one", run) for run in [*runs, *runs]))
    assert sorted(await read_stops(store, "one")) == runs
    assert await read_stops(store, "two") == []


async def test_only_the_newest_signals_are_kept() -> None:
    store = MemoryBlobStore()
    for number in range(70):
        await ask_to_stop(store, "one", f"run_{number}")
    assert await read_stops(store, "one") == [f"run_{number}" for number in range(6, 70)]


async def test_a_signal_of_another_release_is_no_error() -> None:
    store = MemoryBlobStore()
    await ask_to_stop(store, "one", "run_1")
    (name,) = store.contents
    blob = await store.read(name)
    assert blob is not None
    await store.replace(name, b'{"rings": [{"run_id": "r", "what": "sing"}]}', etag=blob.etag)
    assert await read_stops(store, "one") == []
    await ask_to_stop(store, "one", "run_2")
    assert await read_stops(store, "one") == ["run_2"]
