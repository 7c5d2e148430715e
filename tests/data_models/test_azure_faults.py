"""What a network does to Azure's answers: no write happens twice, and nothing waits for ever."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import pytest
from azure.storage.blob.aio import BlobServiceClient

from data_models.clock import RandomIds
from data_models.errors import BlobChangedError, BlobExistsError, StoreUnavailableError
from data_models.storage.azure_blob_store import AzureBlobStore
from data_models.storage.blob_store import Blob, BlobStore
from tests.data_models.fault_proxy import Fault, FaultProxy, running_proxy
from tests.data_models.store_process import LOG, NAME
from tests.data_models.test_local_blob_store import process
from tests.given import present

pytestmark = pytest.mark.slow
Proxied: TypeAlias = tuple[FaultProxy, AzureBlobStore]


@pytest.fixture
async def proxied(azurite: str, container: str) -> AsyncIterator[Proxied]:
    """A store that reaches the container of `azure` through a proxy, already connected."""
    async with running_proxy(azurite) as (proxy, connection_string):
        store = AzureBlobStore(connection_string, container=container, ids=RandomIds())
        await store.check()
        yield proxy, store
        await store.close()


async def contents(store: BlobStore, name: str) -> bytes | None:
    blob = await store.read(name)
    return None if blob is None else blob.data


@pytest.mark.parametrize("fault", ["lose answer", "503 after"])
async def test_a_create_whose_answer_is_lost_happened_once(
    proxied: Proxied, azure: AzureBlobStore, fault: Fault
) -> None:
    proxy, store = proxied
    proxy.faults.append(fault)
    etag = await store.create(NAME, b"1")
    assert await azure.read(NAME) == Blob(b"1", etag)
    assert proxy.seen == ["PUT", "PUT", "HEAD"]


@pytest.mark.parametrize("fault", ["lose answer", "503 after", "stall after"])
async def test_a_replace_whose_answer_does_not_come_happened_once(
    proxied: Proxied, azure: AzureBlobStore, fault: Fault
) -> None:
    proxy, store = proxied
    first = await azure.create(NAME, b"1")
    proxy.faults.append(fault)
    second = await store.replace(NAME, b"2", etag=first)
    assert await azure.read(NAME) == Blob(b"2", second)
    assert await store.replace(NAME, b"3", etag=second)
    assert await contents(azure, NAME) == b"3"


@pytest.mark.parametrize(
    ("before", "faults"),
    [
        # The first append creates the blob, and then appends.
        ([], ["lose answer"]),
        ([], ["pass", "lose answer"]),
        ([b"one\n"], ["lose answer"]),
        ([b"one\n"], ["503 after"]),
    ],
)
async def test_an_append_whose_answer_is_lost_happened_once(
    proxied: Proxied, azure: AzureBlobStore, before: list[bytes], faults: list[Fault]
) -> None:
    proxy, store = proxied
    lines = [b"one\n", b"two\n"]
    for place, line in enumerate(lines):
        if place == len(before):
            proxy.faults.extend(faults)
        writer = azure if place < len(before) else store
        assert await writer.append(LOG, line, position=4 * place) == 4 * place + 4
    assert await contents(azure, LOG) == b"one\ntwo\n"


async def test_a_delete_whose_answer_is_lost_is_done(
    proxied: Proxied, azure: AzureBlobStore
) -> None:
    proxy, store = proxied
    await azure.create(NAME, b"1")
    proxy.faults.append("lose answer")
    await store.delete(NAME)
    assert await azure.read(NAME) is None


async def test_a_true_conflict_stays_one_behind_a_lost_answer(
    proxied: Proxied, azure: AzureBlobStore
) -> None:
    proxy, store = proxied
    await azure.create(NAME, b"theirs")
    proxy.faults.append("503")
    with pytest.raises(BlobExistsError):
        await store.create(NAME, b"ours")
    proxy.faults.append("lose answer")
    with pytest.raises(BlobChangedError):
        await store.replace(NAME, b"ours", etag='"0x1"')
    await azure.append(LOG, b"theirs", position=0)
    proxy.faults.extend(["pass", "lose answer"])
    with pytest.raises(BlobChangedError):
        await store.append(LOG, b"ours", position=0)
    assert (await contents(azure, NAME), await contents(azure, LOG)) == (b"theirs", b"theirs")


async def test_a_write_that_somebody_overwrote_at_once_is_not_taken_for_the_present(
    proxied: Proxied, azure: AzureBlobStore
) -> None:
    proxy, store = proxied
    first = await azure.create(NAME, b"1")

    async def overwrite() -> None:
        await azure.replace(NAME, b"theirs", etag=present(await azure.read(NAME)).etag)

    proxy.after_losing = overwrite
    proxy.faults.append("lose answer")
    with pytest.raises(BlobChangedError):
        await store.replace(NAME, b"ours", etag=first)
    assert await contents(azure, NAME) == b"theirs"


def operations(store: AzureBlobStore) -> list[Callable[[], Awaitable[object]]]:
    return [
        lambda: store.read(NAME),
        lambda: store.create("conv1/new.json", b"1"),
        lambda: store.replace(NAME, b"1", etag='"0x1"'),
        lambda: store.append(LOG, b"1", position=0),
        lambda: store.delete(NAME),
        lambda: anext(aiter(store.list("conv1/"))),
    ]


async def every_operation_is_unavailable(store: AzureBlobStore) -> None:
    """Down is not absent, every wait is bounded, and no error tells whose blob it was."""

    async def fails(operation: Callable[[], Awaitable[object]]) -> None:
        with pytest.raises(StoreUnavailableError) as caught:
            await operation()
        assert "conv1" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None

    await asyncio.gather(*map(fails, operations(store)))


@pytest.mark.parametrize("fault", ["503", "stall", "strange 200", "strange 404"])
async def test_a_store_that_is_down_is_not_empty(
    proxied: Proxied, azure: AzureBlobStore, fault: Fault
) -> None:
    proxy, store = proxied
    await azure.create(NAME, b"kept")
    proxy.otherwise = fault
    await every_operation_is_unavailable(store)
    assert await contents(azure, NAME) == b"kept"
    assert [row.name async for row in azure.list("conv1/")] == [NAME]


async def test_answers_that_are_lost_again_and_again_end(
    proxied: Proxied,
) -> None:
    proxy, store = proxied
    proxy.otherwise = "lose answer"
    proxy.only = frozenset({"PUT", "HEAD", "GET"})
    with pytest.raises(StoreUnavailableError):
        await store.create(NAME, b"1")
    assert len(proxy.seen) <= 12, "three attempts to write, three to look, each on a fresh line too"


async def test_a_container_that_was_deleted_is_not_an_empty_one(
    azure: AzureBlobStore, azurite: str, container: str
) -> None:
    await azure.create(NAME, b"1")
    async with BlobServiceClient.from_connection_string(azurite) as service:
        await service.delete_container(container)
    await every_operation_is_unavailable(azure)
    with pytest.raises(StoreUnavailableError):
        await azure.check()


async def test_a_leased_blob_is_not_a_changed_one(
    azure: AzureBlobStore, azurite: str, container: str
) -> None:
    etag = await azure.create(NAME, b"1")
    async with BlobServiceClient.from_connection_string(azurite) as service:
        await service.get_blob_client(container, NAME).acquire_lease(15)
    for attempt in (azure.replace(NAME, b"2", etag=etag), azure.delete(NAME)):
        with pytest.raises(StoreUnavailableError, match="LeaseIdMissing"):
            await attempt
    assert await contents(azure, NAME) == b"1"


async def test_an_account_that_cannot_be_reached_is_unavailable(container: str) -> None:
    closed = "AccountName=a;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/a"
    store = AzureBlobStore(closed, container=container, ids=RandomIds())
    await every_operation_is_unavailable(store)
    await store.close()


async def test_two_processes_lose_no_increment(
    azure: AzureBlobStore, azurite: str, container: str
) -> None:
    await azure.create(NAME, b"0")
    both = [process("increment-azure", azurite, container, "40") for _ in range(2)]
    ends = [(await asyncio.to_thread(one.communicate), one.returncode) for one in both]
    assert [code for _, code in ends] == [0, 0], ends
    assert await contents(azure, NAME) == b"80"
