"""Copies all containers into a folder while servers run.

A conversation is copied between two of its turns: the listing before and after is the same, and
nobody runs. One that never rests is held for the moment of its copy.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from data_models.blob_store import BlobInfo, BlobStore
from data_models.clock import Clock
from data_models.errors import BackupError
from data_models.layout import ConversationLayout
from data_models.local_files import sync_folder, write_new_file
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of, is_held
from services.operations.manifest import ROWS, SUMMARY, BackupRow, BackupSummary, sha256_of

WORKERS = 8
_TRIES = 20
_PAUSE_SECONDS = 0.25


@dataclass(slots=True)
class _Tally:
    folders: int = 0
    blobs: int = 0
    size_bytes: int = 0


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

    async def make(self, target: Path) -> BackupSummary:
        """Copy everything into the empty or absent folder `target`.

        Raises:
            BackupError: there is something in `target` already.
            StoreError: a container cannot be read, or a conversation never rests; what was
                copied stays, and has no summary.
        """
        await asyncio.to_thread(_begin, target)
        made_at, tally = self.clock.now(), _Tally()
        for name in self.containers:
            await self._container(name, target, tally)
        summary = BackupSummary(
            made_at=made_at,
            folders=tally.folders,
            blobs=tally.blobs,
            size_bytes=tally.size_bytes,
            rows_sha256=sha256_of(target / ROWS),
        )
        write_new_file(target / SUMMARY, summary.model_dump_json(indent=1).encode())
        sync_folder(target)
        return summary

    async def _container(self, name: str, target: Path, tally: _Tally) -> None:
        folders, taking = self.containers[name].folders(), asyncio.Lock()

        async def work() -> None:
            while True:
                async with taking:
                    folder = await anext(folders, None)
                if folder is None:
                    return
                await self._folder(name, folder, target, tally)

        await asyncio.gather(*(work() for _ in range(self.workers)))

    async def _folder(self, container: str, folder: str, target: Path, tally: _Tally) -> None:
        tally.folders += 1
        if container == self.conversations:
            rows = await self._conversation(container, folder, target)
            await self._noted(rows, target, tally)
            return
        # Each blob of these stands for itself, and there may be very many.
        async for info in self.containers[container].list(ConversationLayout(folder).prefix):
            rows = await self._copied(container, [info], target, exact=False) or []
            await self._noted(rows, target, tally)

    async def _noted(self, rows: Sequence[BackupRow], target: Path, tally: _Tally) -> None:
        async with self._writing:
            await asyncio.to_thread(_note, target / ROWS, rows)
        tally.blobs += len(rows)
        tally.size_bytes += sum(row.size_bytes for row in rows)

    async def _conversation(self, container: str, folder: str, target: Path) -> list[BackupRow]:
        store = self.containers[container]
        for _ in range(_TRIES):
            shutil.rmtree(target / container / folder, ignore_errors=True)
            if (rows := await self._between_turns(container, folder, target)) is not None:
                return rows
            await asyncio.sleep(_PAUSE_SECONDS)
        conversation_id = await conversation_of(store, folder)
        if conversation_id is None:
            raise BackupError(f"the conversation {folder} changes all the time")
        async with self.maintenance_lease.holding(conversation_id, principal_id="backup") as claim:
            rows = await self._copied(container, await _listing(store, folder), target, exact=False)
            await claim.hold()  # if somebody took us for dead, the copy is worth nothing
        return rows or []

    async def _between_turns(
        self, container: str, folder: str, target: Path
    ) -> list[BackupRow] | None:
        store = self.containers[container]
        before = await _listing(store, folder)
        if await is_held(store, folder, now=self.clock.now()):
            return None
        rows = await self._copied(container, before, target, exact=True)
        return rows if await _listing(store, folder) == before else None

    async def _copied(
        self, container: str, listed: Sequence[BlobInfo], target: Path, *, exact: bool
    ) -> list[BackupRow] | None:
        """Write the blobs as files; None if one is not the version that was listed."""
        rows: list[BackupRow] = []
        for info in listed:
            blob = await self.containers[container].read(info.name)
            if exact and (blob is None or blob.etag != info.etag):
                return None
            if blob is not None:
                await asyncio.to_thread(_put, target / container / info.name, blob.data)
                rows.append(_row(container, info.name, blob.data))
        return rows


def _row(container: str, name: str, data: bytes) -> BackupRow:
    digest = hashlib.sha256(data).hexdigest()
    return BackupRow(container=container, name=name, size_bytes=len(data), sha256=digest)


def _begin(target: Path) -> None:
    if target.exists() and any(target.iterdir()):
        raise BackupError(f"{target} is not empty; name a new folder")
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    (target / ROWS).touch(mode=0o600)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # an earlier try may have left another version
    write_new_file(path, data)


def _note(path: Path, rows: Sequence[BackupRow]) -> None:
    with path.open("ab") as lines:
        lines.writelines(row.model_dump_json().encode() + b"\n" for row in rows)


async def _listing(store: BlobStore, folder: str) -> list[BlobInfo]:
    layout = ConversationLayout(folder)
    # A journal grows while a turn runs and is gone after it; the turn is in its document.
    return [row async for row in store.list(layout.prefix) if not layout.is_journal(row.name)]
