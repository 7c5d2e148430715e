"""Where a backup lies: a folder of this machine, or a container of another storage account."""

import asyncio
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BaseModel

from data_models.clock import IdSource
from data_models.errors import BackupError, BlobExistsError
from data_models.storage.blob_store import BlobStore
from data_models.storage.local_blob_store import BESIDE, LocalBlobStore
from data_models.storage.local_files import FOLDER_MODE
from data_models.values import read_value


@dataclass(slots=True, kw_only=True)
class BackupFiles:
    """The files of one backup, by paths with `/` between their parts.

    Attributes:
        place: What people are told of it.
        prefix: Of all its names in `store`; "" or with a `/` at its end.
        folder: Of this machine; None: it lies in a container.
    """

    store: BlobStore
    place: str
    prefix: str = ""
    folder: Path | None = None
    _ends: dict[str, int] = field(default_factory=dict)

    async def begin(self) -> None:
        """Make the place.

        Raises:
            BackupError: there is something in it already, or it cannot be written to.
            OSError: it cannot be made.
        """
        if (found := await self._any()) is not None:
            raise BackupError(
                f"{self.place} is not empty (it has {found}); name a new one, or --dated"
            )
        if self.folder is not None:
            self.folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise BackupError(f"{self.place} cannot be written to; name another folder")

    async def put(self, path: str, data: bytes) -> None:
        """Write a file, in place of one of an earlier try; durable."""
        name = f"{self.prefix}{path}"
        try:
            await self.store.create(name, data)
        except BlobExistsError:
            await self.store.delete(name)
            await self.store.create(name, data)

    async def grow(self, path: str, data: bytes) -> None:
        """Put `data`, 4 MB at most, at the end of a file that only this backup writes."""
        if not data:  # Azure appends no empty piece, and a list may have no line
            if path not in self._ends:
                await self.put(path, data)
            return
        end = self._ends.get(path, 0)
        self._ends[path] = await self.store.append(f"{self.prefix}{path}", data, position=end)

    async def remove(self, folder: str) -> None:
        """Delete all files of a folder; an absent one is no error."""
        async for found in self.store.list(f"{self.prefix}{folder}/"):
            await self.store.delete(found.name)

    async def read(self, path: str) -> bytes | None:
        """Return a file, None where there is none.

        Raises:
            InvalidIdentifierError: the path leads out of the backup.
        """
        if self.folder is not None and not self.folder.is_dir():
            return None
        found = await self.store.read(f"{self.prefix}{path}")
        return None if found is None else found.data

    async def close(self) -> None:
        """Let go of connections, and of what a store leaves beside the files."""
        await self.store.close()
        if self.folder is not None:
            for left in BESIDE:
                await asyncio.to_thread(shutil.rmtree, self.folder / left, ignore_errors=True)

    async def _any(self) -> str | None:
        if self.folder is not None:
            there = self.folder.iterdir() if self.folder.is_dir() else ()
            return next((one.name for one in there), None)
        async for found in self.store.list(self.prefix):
            return found.name
        return None


def open_backup(target: str, *, ids: IdSource) -> BackupFiles:
    """Return the folder, or `https://ACCOUNT.blob.core.windows.net/CONTAINER/NAME`, for a backup.

    Raises:
        BackupError: the address names no container and backup.
    """
    if "://" not in target:
        folder = Path(target)
        store = LocalBlobStore(root=folder, beside=folder)
        return BackupFiles(store=store, place=target, folder=folder)
    parts = urlsplit(target)
    container, _, prefix = parts.path.strip("/").partition("/")
    if parts.scheme != "https" or not prefix or parts.query:
        raise BackupError(
            f"{parts.netloc}{parts.path} names no backup; it looks like "
            "https://ACCOUNT.blob.core.windows.net/backups/2026-11-26, without a signature"
        )
    # Azure's SDK takes half a second to import.
    from data_models.storage.azure_blob_store import AzureBlobStore

    endpoint = f"https://{parts.netloc}"
    return BackupFiles(
        store=AzureBlobStore(endpoint, container=container, ids=ids),
        place=f"{endpoint}/{container}/{prefix}",
        prefix=f"{prefix}/",
    )


# What a backup holds: a line for each blob, and a page that says that it is whole.

ROWS = "manifest.jsonl"
SUMMARY = "manifest.json"


class BackupRow(BaseModel):
    """One blob; its file is `{container}/{name}` of the backup."""

    container: str
    name: str
    size_bytes: int
    sha256: str

    @property
    def path(self) -> str:
        """Where its file is."""
        return f"{self.container}/{self.name}"


class BackupSummary(BaseModel):
    """Written last: a backup without it was interrupted.

    Attributes:
        rows_sha256: Of `manifest.jsonl`, so that a row taken out is noticed.
    """

    made_at: AwareDatetime
    folders: int
    blobs: int
    size_bytes: int
    rows_sha256: str


async def read_summary(files: BackupFiles) -> BackupSummary:
    """Return the summary of the backup, after a look at its list.

    Raises:
        BackupError: there is none, it is not ours, or the list was changed.
    """
    if (data := await files.read(SUMMARY)) is None:
        raise BackupError(f"{files.place} holds no whole backup: {SUMMARY} is missing")
    refusal = BackupError(f"{SUMMARY} of {files.place} is not a backup's")
    summary = read_value(data, BackupSummary, refusal=refusal)
    if sha256_of(await _list(files)) != summary.rows_sha256:
        raise BackupError(f"{ROWS} of {files.place} was changed after the backup was made")
    return summary


async def read_rows(files: BackupFiles) -> Iterator[BackupRow]:
    """Return the rows, each of which is parsed when it is its turn.

    Raises:
        BackupError: there is no list.
    """
    return map(BackupRow.model_validate_json, (await _list(files)).splitlines())


async def _list(files: BackupFiles) -> bytes:
    if (data := await files.read(ROWS)) is None:
        raise BackupError(f"{ROWS} of {files.place} is missing")
    return data


def sha256_of(data: bytes) -> str:
    """Return the SHA-256, as hex digits."""
    return hashlib.sha256(data).hexdigest()
