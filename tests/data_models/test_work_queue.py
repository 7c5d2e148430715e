"""What every queue of work promises; see `data_models.storage.blob_store`."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from data_models.errors import ConfigurationError, StoreUnavailableError
from data_models.storage.azure_work_queue import AzureWorkQueue
from data_models.storage.blob_store import WorkQueue
from tests.fakes_queue import MemoryWorkQueue
from tests.peers import free_port

HIDDEN_SECONDS = 4
"""Longer than a few requests take on a busy machine."""


@pytest.fixture(params=["memory", pytest.param("azure", marks=pytest.mark.slow)])
async def queue(request: pytest.FixtureRequest) -> AsyncIterator[WorkQueue]:
    if request.param == "memory":
        yield MemoryWorkQueue()
        return
    account: str = request.getfixturevalue("azurite_account")
    queue = AzureWorkQueue(account, queue=f"turns-{uuid4().hex[:12]}")
    yield queue
    await queue.close()


async def wait_out(queue: WorkQueue) -> None:
    """Return when it is past `HIDDEN_SECONDS` for `queue`."""
    if isinstance(queue, MemoryWorkQueue):
        queue.jump(HIDDEN_SECONDS + 0.3)
    else:
        await asyncio.sleep(HIDDEN_SECONDS + 0.3)


async def test_a_note_is_seen_by_others_only_after_its_time(queue: WorkQueue) -> None:
    put = await queue.put("Grüße 🩺", hidden_seconds=HIDDEN_SECONDS)
    assert put.taken == 0
    assert list(await queue.take(limit=8, hidden_seconds=30)) == []
    await wait_out(queue)
    (taken,) = await queue.take(limit=8, hidden_seconds=30)
    assert (taken.item_id, taken.body, taken.taken) == (put.item_id, "Grüße 🩺", 1)
    assert list(await queue.take(limit=8, hidden_seconds=30)) == []


async def test_who_holds_a_note_keeps_it_hidden_and_removes_it(queue: WorkQueue) -> None:
    put = await queue.put("x", hidden_seconds=HIDDEN_SECONDS)
    held = await queue.hide(put, seconds=30)
    assert held is not None
    await wait_out(queue)
    assert list(await queue.take(limit=8, hidden_seconds=30)) == []
    assert await queue.hide(put, seconds=30) is None  # an old receipt proves nothing
    assert await queue.remove(held)
    assert not await queue.remove(held)


async def test_a_note_that_another_took_is_ours_no_more(queue: WorkQueue) -> None:
    put = await queue.put("x", hidden_seconds=0)
    (taken,) = await queue.take(limit=1, hidden_seconds=30)
    assert await queue.hide(put, seconds=30) is None
    assert not await queue.remove(put)
    assert await queue.remove(taken)


async def test_the_largest_body_is_taken(queue: WorkQueue) -> None:
    body = "ä" * 24_000  # two bytes each
    await queue.put(body, hidden_seconds=0)
    (taken,) = await queue.take(limit=1, hidden_seconds=30)
    assert taken.body == body


@pytest.mark.slow
async def test_a_queue_that_does_not_answer_is_not_empty(azurite_account: str) -> None:
    account = azurite_account.partition("QueueEndpoint=")[0]
    gone = f"{account}QueueEndpoint=http://127.0.0.1:{free_port()}/devstoreaccount1;"
    queue = AzureWorkQueue(gone, queue="turns")
    with pytest.raises(StoreUnavailableError):
        await queue.take(limit=1, hidden_seconds=30)
    await queue.close()


def test_what_is_no_address_is_named() -> None:
    with pytest.raises(ConfigurationError, match="TURN_QUEUE"):
        AzureWorkQueue("nonsense", queue="turns")
