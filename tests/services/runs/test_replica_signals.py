"""One replica asks another to stop a run."""

import asyncio

from services.runs.hub import ReplicaSignal, ReplicaSignals
from tests.fakes_store import MemoryBlobStore


def stop(number: int) -> ReplicaSignal:
    return ReplicaSignal(run_id=f"run_{number}", what="stop")


async def test_a_replica_is_told_everything_that_was_asked() -> None:
    signals = ReplicaSignals(store=MemoryBlobStore())
    assert await signals.read("one") == []
    sent = [stop(number) for number in range(8)]
    await asyncio.gather(*(signals.send("one", signal) for signal in [*sent, *sent]))
    received = await signals.read("one")
    assert sorted(signal.run_id for signal in received) == [signal.run_id for signal in sent]
    assert await signals.read("two") == []
    await signals.take_down("one")
    assert await signals.read("one") == []


async def test_only_the_newest_signals_are_kept() -> None:
    signals = ReplicaSignals(store=MemoryBlobStore())
    for number in range(70):
        await signals.send("one", stop(number))
    received = await signals.read("one")
    assert received == [stop(number) for number in range(6, 70)]


async def test_a_signal_of_another_release_is_no_error() -> None:
    store = MemoryBlobStore()
    signals = ReplicaSignals(store=store)
    await signals.send("one", stop(1))
    (name,) = store.contents
    blob = await store.read(name)
    assert blob is not None
    await store.replace(name, b'{"rings": [{"run_id": "r", "what": "sing"}]}', etag=blob.etag)
    assert await signals.read("one") == []
    await signals.send("one", stop(2))
    assert await signals.read("one") == [stop(2)]
