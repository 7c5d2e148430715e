"""Copies all containers while servers run, and puts a copy back into empty ones.

A conversation is copied between two of its turns: the listing before and after is the same, and
nobody runs. One that never rests is held for the moment of its copy.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from data_models.clock import Clock
from data_models.errors import BackupError, BlobChangedError
from data_models.identifiers import ConversationLayout
from data_models.storage.blob_store import BlobInfo, BlobStore, put_blob
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of, is_held
from services.operations.backup_files import (
    ROWS,
    SUMMARY,
    BackupFiles,
    BackupRow,
    BackupSummary,
    read_rows,
    read_summary,
    sha256_of,
)

WORKERS = 8
_TRIES = 20
_PAUSE_SECONDS = 0.25
_LINES_BYTES = 1_000_000


@dataclass(slots=True)
class _Tally:
    """What was copied, and the lines of the list that are not written yet."""

    folders: int = 0
    blobs: int = 0
    size_bytes: int = 0
    lines: bytearray = field(default_factory=bytearray)
    hash: Any = field(default_factory=hashlib.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """Makes backups of `containers`.

    Attributes:
        containers: By name.
        conversations: The name of the one whose folders are conversations.
        workers: Folders that are copied at once.
    """

    containers: Mapping[str, BlobStore]
    conversations: str
    maintenance_lease: MaintenanceLease
    clock: Clock
    workers: int = WORKERS
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def make(self, target: BackupFiles) -> BackupSummary:
        """Copy everything into the empty or absent place `target`.

        Raises:
            BackupError: there is something in `target` already.
            StoreError: a container cannot be read, or a conversation never rests; what was
                copied stays, and has no summary.
        """
        await target.begin()
        made_at, tally = self.clock.now(), _Tally()
        for name in self.containers:
            await self._container(name, target, tally)
        await self._write_lines(target, tally)
        summary = BackupSummary(
            made_at=made_at,
            folders=tally.folders,
            blobs=tally.blobs,
            size_bytes=tally.size_bytes,
            rows_sha256=tally.hash.hexdigest(),
        )
        await target.put(SUMMARY, summary.model_dump_json(indent=1).encode())
        return summary

    async def _container(self, name: str, target: BackupFiles, tally: _Tally) -> None:
        folders, taking = self.containers[name].folders(), asyncio.Lock()

        async def work() -> None:
            while True:
                async with taking:
                    folder = await anext(folders, None)
                if folder is None:
                    return
                await self._folder(name, folder, target, tally)

        await asyncio.gather(*(work() for _ in range(self.workers)))

    async def _folder(
        self, container: str, folder: str, target: BackupFiles, tally: _Tally
    ) -> None:
        tally.folders += 1
        if container == self.conversations:
            rows = await self._conversation(container, folder, target)
            await self._note(rows, target, tally)
            return
        # Each blob of these stands for itself, and there may be very many.
        async for info in self.containers[container].list(ConversationLayout(folder).prefix):
            rows = await self._copy(container, [info], target, exact=False) or []
            await self._note(rows, target, tally)

    async def _note(self, rows: Sequence[BackupRow], target: BackupFiles, tally: _Tally) -> None:
        tally.blobs += len(rows)
        tally.size_bytes += sum(row.size_bytes for row in rows)
        tally.lines += b"".join(row.model_dump_json().encode() + b"\n" for row in rows)
        if len(tally.lines) > _LINES_BYTES:
            await self._write_lines(target, tally)

    async def _write_lines(self, target: BackupFiles, tally: _Tally) -> None:
        async with self._writing:
            lines, tally.lines = bytes(tally.lines), bytearray()
            tally.hash.update(lines)
            await target.grow(ROWS, lines)

    async def _conversation(
        self, container: str, folder: str, target: BackupFiles
    ) -> list[BackupRow]:
        store = self.containers[container]
        for _ in range(_TRIES):
            await target.remove(f"{container}/{folder}")
            if (rows := await self._copy_between_turns(container, folder, target)) is not None:
                return rows
            await asyncio.sleep(_PAUSE_SECONDS)
        if (conversation_id := await conversation_of(store, folder)) is None:
            raise BackupError(f"the conversation {folder} changes all the time")
        async with self.maintenance_lease.holding(conversation_id, principal_id="backup") as claim:
            rows = await self._copy(container, await _listing(store, folder), target, exact=False)
            await claim.hold()  # if somebody took us for dead, the copy is worth nothing
        return rows or []

    async def _copy_between_turns(
        self, container: str, folder: str, target: BackupFiles
    ) -> list[BackupRow] | None:
        store = self.containers[container]
        before = await _listing(store, folder)
        if await is_held(store, folder, now=self.clock.now()):
            return None
        rows = await self._copy(container, before, target, exact=True)
        return rows if await _listing(store, folder) == before else None

    async def _copy(
        self, container: str, listed: Sequence[BlobInfo], target: BackupFiles, *, exact: bool
    ) -> list[BackupRow] | None:
        """Write the blobs into the backup; None if one is not the version that was listed."""
        rows: list[BackupRow] = []
        for info in listed:
            blob = await self.containers[container].read(info.name)
            if exact and (blob is None or blob.etag != info.etag):
                return None
            if blob is not None:
                size, digest = len(blob.data), sha256_of(blob.data)
                row = BackupRow(container=container, name=info.name, size_bytes=size, sha256=digest)
                await target.put(row.path, blob.data)
                rows.append(row)
        return rows


async def _listing(store: BlobStore, folder: str) -> list[BlobInfo]:
    layout = ConversationLayout(folder)
    # A journal grows while a turn runs and is gone after it; the turn is in its document.
    return [row async for row in store.list(layout.prefix) if not layout.is_journal(row.name)]


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
            for name, store in self.containers.items():
                async for folder in store.folders():
                    raise BackupError(
                        f"container {name} is not empty (it has {folder}); restore into an empty "
                        "one, or go on with --resume"
                    )
        for rows in _batches(await read_rows(source)):
            await asyncio.gather(*(self._put(source, row) for row in rows))
        for rows in _batches(await read_rows(source)):
            await asyncio.gather(*(self._compare(row) for row in rows))
        return summary

    async def _put(self, source: BackupFiles, row: BackupRow) -> None:
        store, data = self._store(row), await _file_of(source, row)
        if row.name.endswith(_GROWING) and data:
            await _grow(store, row.name, data)
            return
        await put_blob(store, row.name, data)  # one that exists is compared at the end

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
