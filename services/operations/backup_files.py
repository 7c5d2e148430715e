"""Where a backup lies: a folder of this machine, or a container of another storage account."""

import asyncio
import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BaseModel

from data_models.clock import IdSource
from data_models.errors import BackupError, BlobExistsError
from data_models.storage.blob_store import BlobStore
from data_models.storage.local_files import read_file, sync_folder, write_new_file
from data_models.values import read_value


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """Files below `folder`, for nobody but this user."""

    folder: Path

    @property
    def place(self) -> str:
        """What people are told of it."""
        return str(self.folder)

    async def begin(self) -> None:
        """Make the place.

        Raises:
            BackupError: there is something in it already.
        """
        if self.folder.exists() and any(self.folder.iterdir()):
            raise BackupError(f"{self.folder} is not empty; name a new folder")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def put(self, path: str, data: bytes) -> None:
        """Write a file, in place of one of an earlier try; durable."""
        await asyncio.to_thread(self._put, self._path(path), data)

    async def grow(self, path: str, data: bytes) -> None:
        """Put `data` at the end of a file that only this backup writes."""
        await asyncio.to_thread(_grow, self._path(path), data)

    async def remove(self, folder: str) -> None:
        """Delete all files of a folder; an absent one is no error."""
        await asyncio.to_thread(shutil.rmtree, self._path(folder), ignore_errors=True)

    async def read(self, path: str) -> bytes | None:
        """Return a file, None where there is none."""
        found = await asyncio.to_thread(read_file, self._path(path))
        return None if found is None else found[0]

    async def close(self) -> None:
        """Let go of connections: there are none."""

    def _path(self, path: str) -> Path:
        whole = self.folder / path
        if not whole.resolve().is_relative_to(self.folder.resolve()):
            raise BackupError(f"the list names a file outside the backup: {path}")
        return whole

    def _put(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        write_new_file(path, data)
        if path.parent == self.folder:
            sync_folder(self.folder)


def _grow(path: Path, data: bytes) -> None:
    path.touch(mode=0o600)
    with path.open("ab") as file:
        file.write(data)


@dataclass(slots=True)
class ContainerFiles:
    """Blobs below `prefix` of a container.

    Attributes:
        address: Of the container, without the prefix.
    """

    store: BlobStore
    prefix: str
    address: str = "the container"
    _ends: dict[str, int] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.address}/{self.prefix}"

    async def begin(self) -> None:
        async for found in self.store.list(f"{self.prefix}/"):
            raise BackupError(
                f"{self.place} is not empty (it has {found.name}); name a new one, or --dated"
            )

    async def put(self, path: str, data: bytes) -> None:
        name = f"{self.prefix}/{path}"
        try:
            await self.store.create(name, data)
        except BlobExistsError:
            await self.store.delete(name)
            await self.store.create(name, data)

    async def grow(self, path: str, data: bytes) -> None:
        """See `FolderFiles.grow`; at most 4 MB at once, 50,000 times."""
        if not data:  # Azure appends no empty piece, and a list may have no line
            if path not in self._ends:
                await self.put(path, data)
            return
        end = self._ends.get(path, 0)
        self._ends[path] = await self.store.append(f"{self.prefix}/{path}", data, position=end)

    async def remove(self, folder: str) -> None:
        async for found in self.store.list(f"{self.prefix}/{folder}/"):
            await self.store.delete(found.name)

    async def read(self, path: str) -> bytes | None:
        found = await self.store.read(f"{self.prefix}/{path}")
        return None if found is None else found.data

    async def close(self) -> None:
        await self.store.close()


BackupFiles: TypeAlias = FolderFiles | ContainerFiles
"""Files by paths with `/` between their parts."""


def open_backup(target: str, *, ids: IdSource) -> BackupFiles:
    """Return the folder, or `https://ACCOUNT.blob.core.windows.net/CONTAINER/NAME`, for a backup.

    Raises:
        BackupError: the address names no container and backup.
    """
    if "://" not in target:
        return FolderFiles(Path(target))
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
    store = AzureBlobStore(endpoint, container=container, ids=ids)
    return ContainerFiles(store, prefix, address=f"{endpoint}/{container}")


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
