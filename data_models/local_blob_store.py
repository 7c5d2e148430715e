"""Blobs on the local disk."""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from data_models.blob_names import checked_blob_name, checked_blob_prefix
from data_models.blob_store import Blob, BlobInfo
from data_models.errors import StoreUnavailableError
from data_models.local_folder import LocalFolder

_THREADS = 8
_ROWS_PER_HOP = 64

T = TypeVar("T")


class LocalBlobStore:
    """A `BlobStore` in the folder `root`; its ETags are hashes of the content.

    Each operation is one hop to a thread of the store's own, so a slow disk does not use up the
    threads that others wait for.
    """

    def __init__(self, *, root: Path) -> None:
        self._folder = LocalFolder(root=root)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="local-blobs")

    async def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        return await self._run(partial(self._folder.read, checked_blob_name(name)))

    async def create(self, name: str, data: bytes) -> str:
        """See `BlobStore.create`."""
        return await self._run(partial(self._folder.create, checked_blob_name(name), data))

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """See `BlobStore.replace`."""
        return await self._run(partial(self._folder.replace, checked_blob_name(name), data, etag))

    async def delete(self, name: str) -> None:
        """See `BlobStore.delete`."""
        await self._run(partial(self._folder.delete, checked_blob_name(name)))

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """See `BlobStore.list`."""
        names = await self._run(partial(self._folder.names, checked_blob_prefix(prefix)))
        for start in range(0, len(names), _ROWS_PER_HOP):
            some = names[start : start + _ROWS_PER_HOP]
            for row in await self._run(partial(self._folder.rows, some)):
                yield row

    async def folders(self) -> AsyncIterator[str]:
        """See `BlobStore.folders`."""
        for name in await self._run(self._folder.folders):
            yield name

    async def copy(self, source: str, target: str) -> None:
        """See `BlobStore.copy`."""
        work = partial(self._folder.copy, checked_blob_name(source), checked_blob_name(target))
        await self._run(work)

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        """See `BlobStore.append`."""
        work = partial(self._folder.append, checked_blob_name(name), data, position)
        return await self._run(work)

    async def check(self) -> None:
        """See `BlobStore.check`."""
        await self._run(self._folder.check)

    async def close(self) -> None:
        """See `BlobStore.close`."""
        await asyncio.to_thread(self._threads.shutdown)

    async def _run(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._translated, work)

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            self._folder.open()
            return work()
        except OSError as error:
            kind = errno.errorcode.get(error.errno or 0, type(error).__name__)
        # Outside the handler: an OSError names the file, and with it the conversation.
        raise StoreUnavailableError(f"the local file store failed: {kind}")
