"""Counts what a turn asks of storage, whoever asks within it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias

from data_models.clock import Clock
from data_models.storage.blob_store import Blob, BlobInfo, BlobStore

StorageOperation: TypeAlias = Literal["read", "create", "replace", "delete", "list", "append"]


@dataclass(slots=True)
class StorageCounts:
    """How many operations there were, failed ones included, and the time they took.

    Attributes:
        waited_seconds: Time in which at least one operation was under way.
    """

    total: int = 0
    waited_seconds: float = 0.0
    _under_way: int = 0
    _waits_since: float = 0.0

    @contextmanager
    def waiting(self, clock: Clock) -> "Iterator[StorageCounts]":
        """Measure one operation; those side by side count once."""
        if self._under_way == 0:
            self._waits_since = clock.monotonic()
        self._under_way += 1
        try:
            yield self
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

    `check` and `close` are not counted.

    Attributes:
        observe: Told of every operation, whoever asks for it.
    """

    inner: BlobStore
    clock: Clock
    observe: Callable[[StorageOperation], None] = _ignore

    async def read(self, name: str) -> Blob | None:
        with self._counted("read"):
            return await self.inner.read(name)

    async def create(self, name: str, data: bytes) -> str:
        with self._counted("create"):
            return await self.inner.create(name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        with self._counted("replace"):
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
        with self._counted("append"):
            return await self.inner.append(name, data, position=position)

    async def check(self) -> None:
        await self.inner.check()

    async def close(self) -> None:
        await self.inner.close()

    def _counted(self, kind: StorageOperation) -> AbstractContextManager[StorageCounts]:
        """Count one operation; outside every `storage_counter` for nobody."""
        self.observe(kind)
        counts = _current.get() or StorageCounts()
        counts.total += 1
        return counts.waiting(self.clock)
