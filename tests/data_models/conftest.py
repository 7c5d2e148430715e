"""The stores that keep the one contract."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from data_models.clock import RandomIds, SystemClock
from data_models.storage.azure_blob_store import AzureBlobStore
from data_models.storage.blob_store import BlobStore
from data_models.storage.counting_blob_store import CountingBlobStore
from data_models.storage.local_blob_store import LocalBlobStore
from tests.extending.sqlite_blob_store import SqliteBlobStore
from tests.fakes_store import MemoryBlobStore
from tests.faults import FaultyBlobStore

_containers = itertools.count(1)


@pytest.fixture
def container() -> str:
    """The name of a container that no other test has."""
    return f"chat-sessions-{next(_containers)}"


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[LocalBlobStore]:
    store = LocalBlobStore(root=tmp_path / "data" / "chat-sessions")
    yield store
    await store.close()


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteBlobStore]:
    store = SqliteBlobStore(path=tmp_path / "blobs.sqlite")
    yield store
    await store.close()


@pytest.fixture
async def azure(azurite: str, container: str) -> AsyncIterator[AzureBlobStore]:
    store = AzureBlobStore(azurite, container=container, ids=RandomIds())
    yield store
    await store.close()


@pytest.fixture(
    params=[
        "memory",
        "counting",
        "faulty",
        "local",
        "sqlite",
        pytest.param("azure", marks=pytest.mark.slow),
    ]
)
def store(request: pytest.FixtureRequest) -> BlobStore:
    """Each store in turn; whatever passes here can stand for the others."""
    if request.param == "memory":
        return MemoryBlobStore()
    if request.param == "counting":
        return CountingBlobStore(MemoryBlobStore(), clock=SystemClock())
    if request.param == "faulty":
        return FaultyBlobStore(MemoryBlobStore())
    found: LocalBlobStore | AzureBlobStore | SqliteBlobStore = request.getfixturevalue(
        request.param
    )
    return found
