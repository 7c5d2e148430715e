"""Puts a backup into empty containers and proves that all of it arrived."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from data_models.blob_store import BlobStore
from data_models.errors import BackupError, BlobChangedError, BlobExistsError
from services.operations.backup_files import BackupFiles
from services.operations.manifest import (
    BackupRow,
    BackupSummary,
    read_rows,
    read_summary,
    sha256_of,
)

_AT_ONCE = 64
# What grows by appending must be made by appending, or it cannot grow on.
_GROWING = ".jsonl"
_APPEND_BYTES = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Restores into `containers`, by name."""

    containers: Mapping[str, BlobStore]

    async def verify(self, source: BackupFiles) -> BackupSummary:
        """Return if every file of the backup is what it was when it was made.

        Raises:
            BackupError: the backup is not whole, or was changed.
        """
        summary = await read_summary(source)
        blobs = 0
        for row in await read_rows(source):
            await _file_of(source, row)
            blobs += 1
        if blobs != summary.blobs:
            raise BackupError(f"the list names {blobs} blobs, the summary {summary.blobs}")
        return summary

    async def run(self, source: BackupFiles, *, resume: bool = False) -> BackupSummary:
        """Restore after a check of the whole backup; read everything back and compare.

        Args:
            source: What `Backup.make` wrote.
            resume: Go on after an interruption: what is there already must be the backup's.

        Raises:
            BackupError: the backup is damaged, or a container is not empty.
            StoreError: a container failed; what was restored stays.
        """
        summary = await self.verify(source)
        if not resume:
            await self._refuse_unless_empty()
        for rows in _batches(await read_rows(source)):
            await asyncio.gather(*(self._put(source, row) for row in rows))
        for rows in _batches(await read_rows(source)):
            await asyncio.gather(*(self._compare(row) for row in rows))
        return summary

    async def _refuse_unless_empty(self) -> None:
        for name, store in self.containers.items():
            async for folder in store.folders():
                raise BackupError(
                    f"container {name} is not empty (it has {folder}); restore into an empty "
                    "one, or go on with --resume"
                )

    async def _put(self, source: BackupFiles, row: BackupRow) -> None:
        store, data = self._store(row), await _file_of(source, row)
        if row.name.endswith(_GROWING) and data:
            await _grow(store, row.name, data)
            return
        with suppress(BlobExistsError):  # compared with all others at the end
            await store.create(row.name, data)

    async def _compare(self, row: BackupRow) -> None:
        blob = await self._store(row).read(row.name)
        if blob is None or sha256_of(blob.data) != row.sha256:
            raise BackupError(f"{row.container}/{row.name} is not as in the backup")

    def _store(self, row: BackupRow) -> BlobStore:
        if row.container not in self.containers:
            raise BackupError(f"the backup has an unknown container: {row.container}")
        return self.containers[row.container]


async def _grow(store: BlobStore, name: str, data: bytes) -> None:
    found = await store.read(name)
    position = 0 if found is None else len(found.data)
    while position < len(data):
        piece = data[position : position + _APPEND_BYTES]
        try:
            position = await store.append(name, piece, position=position)
        except BlobChangedError:
            raise BackupError(f"somebody writes to {name} while it is restored") from None


async def _file_of(source: BackupFiles, row: BackupRow) -> bytes:
    data = await source.read(row.path)
    if data is None or sha256_of(data) != row.sha256:
        raise BackupError(f"{row.path} is missing or was changed after the backup was made")
    return data


def _batches(rows: Iterator[BackupRow]) -> Iterator[list[BackupRow]]:
    while batch := list(islice(rows, _AT_ONCE)):
        yield batch
