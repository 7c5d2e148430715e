"""Counts what a turn asks of storage, whoever asks within it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from data_models.blob_store import Blob, BlobInfo, BlobStore

StorageOperation: TypeAlias = Literal[
    "read", "create", "replace", "delete", "list", "copy", "append"
]


@dataclass(slots=True)
class StorageCounts:
    """Operations by kind, failed ones included, and bytes of content."""

    operations: dict[StorageOperation, int] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_written: int = 0

    @property
    def total(self) -> int:
        """All operations."""
        return sum(self.operations.values())

    def add(self, kind: StorageOperation, *, written: int = 0) -> None:
        """Count one operation of `kind` with `written` bytes."""
        self.operations[kind] = self.operations.get(kind, 0) + 1
        self.bytes_written += written


_current: ContextVar[StorageCounts | None] = ContextVar("storage_counts", default=None)


@contextmanager
def storage_counter() -> Iterator[StorageCounts]:
    """Count every operation made in this context and in tasks started from it.

    A counter within a counter takes the operations for itself alone.
    """
    counts = StorageCounts()
    token = _current.set(counts)
    try:
        yield counts
    finally:
        _current.reset(token)


class CountingBlobStore:
    """A `BlobStore` that counts for the `storage_counter` it is called under, if any.

    `copy` counts as one operation without bytes; `check` and `close` are not counted.
    """

    def __init__(self, inner: BlobStore) -> None:
        self._inner = inner

    async def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        _count("read")
        blob = await self._inner.read(name)
        counts = _current.get()
        if counts is not None and blob is not None:
            counts.bytes_read += len(blob.data)
        return blob

    async def create(self, name: str, data: bytes) -> str:
        """See `BlobStore.create`."""
        _count("create", written=len(data))
        return await self._inner.create(name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """See `BlobStore.replace`."""
        _count("replace", written=len(data))
        return await self._inner.replace(name, data, etag=etag)

    async def delete(self, name: str) -> None:
        """See `BlobStore.delete`."""
        _count("delete")
        await self._inner.delete(name)

    def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """See `BlobStore.list`."""
        _count("list")
        return self._inner.list(prefix)

    async def copy(self, source: str, target: str) -> None:
        """See `BlobStore.copy`."""
        _count("copy")
        await self._inner.copy(source, target)

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        """See `BlobStore.append`."""
        _count("append", written=len(data))
        return await self._inner.append(name, data, position=position)

    async def check(self) -> None:
        """See `BlobStore.check`."""
        await self._inner.check()

    async def close(self) -> None:
        """See `BlobStore.close`."""
        await self._inner.close()


def _count(kind: StorageOperation, *, written: int = 0) -> None:
    counts = _current.get()
    if counts is not None:
        counts.add(kind, written=written)
