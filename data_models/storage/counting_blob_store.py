"""Counts what a turn asks of storage, whoever asks within it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from data_models.clock import Clock
from data_models.storage.blob_store import Blob, BlobInfo, BlobStore

StorageOperation: TypeAlias = Literal["read", "create", "replace", "delete", "list", "append"]


@dataclass(slots=True)
class StorageCounts:
    """Operations by kind, failed ones included, bytes of content, and the time they took.

    Attributes:
        waited_seconds: Time in which at least one operation was under way.
    """

    operations: dict[StorageOperation, int] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_written: int = 0
    waited_seconds: float = 0.0
    _under_way: int = 0
    _waits_since: float = 0.0

    @property
    def total(self) -> int:
        """All operations."""
        return sum(self.operations.values())

    def add(self, kind: StorageOperation, *, written: int = 0) -> None:
        """Count one operation of `kind` with `written` bytes."""
        self.operations[kind] = self.operations.get(kind, 0) + 1
        self.bytes_written += written

    @contextmanager
    def waiting(self, clock: Clock) -> Iterator[None]:
        """Measure one operation; those side by side count once."""
        if self._under_way == 0:
            self._waits_since = clock.monotonic()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if self._under_way == 0:
                self.waited_seconds += clock.monotonic() - self._waits_since


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


def _ignore(_: StorageOperation) -> None:
    """Tell nobody."""


@dataclass(slots=True, eq=False)
class CountingBlobStore:
    """A `BlobStore` that counts for the `storage_counter` it is called under, if any.

    `copy` counts as one operation without bytes; `check` and `close` are not counted.

    Attributes:
        observe: Told of every operation, whoever asks for it.
    """

    inner: BlobStore
    clock: Clock
    observe: Callable[[StorageOperation], None] = _ignore

    async def read(self, name: str) -> Blob | None:
        with self._counted("read") as counts:
            blob = await self.inner.read(name)
        if blob is not None:
            counts.bytes_read += len(blob.data)
        return blob

    async def create(self, name: str, data: bytes) -> str:
        with self._counted("create", written=len(data)):
            return await self.inner.create(name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        with self._counted("replace", written=len(data)):
            return await self.inner.replace(name, data, etag=etag)

    async def delete(self, name: str) -> None:
        with self._counted("delete"):
            await self.inner.delete(name)

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        rows = self.inner.list(prefix)
        with self._counted("list") as counts:
            row = await anext(rows, None)
        while row is not None:
            yield row
            # What the caller does between two rows is not storage's time.
            with counts.waiting(self.clock):
                row = await anext(rows, None)

    async def folders(self) -> AsyncIterator[str]:
        """See `BlobStore.folders`; counts as one operation."""
        with self._counted("list"):
            found = [each async for each in self.inner.folders()]
        for each in found:
            yield each

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        with self._counted("append", written=len(data)):
            return await self.inner.append(name, data, position=position)

    async def check(self) -> None:
        await self.inner.check()

    async def close(self) -> None:
        await self.inner.close()

    @contextmanager
    def _counted(self, kind: StorageOperation, *, written: int = 0) -> Iterator[StorageCounts]:
        """Count one operation; outside every `storage_counter` for nobody."""
        self.observe(kind)
        counts = _current.get() or StorageCounts()
        counts.add(kind, written=written)
        with counts.waiting(self.clock):
            yield counts
