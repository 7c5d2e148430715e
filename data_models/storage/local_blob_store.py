"""Blobs as files below one folder: `BlobStore` for one machine."""

import asyncio
import errno
import hashlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from data_models import errors
from data_models.storage import blob_store, local_files
from data_models.storage.local_blob_tags import LocalBlobTags

_BLOCK = bytes(65_536)
_UNWRITABLE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
)
_STRAY_AFTER_SECONDS = 3_600
_FOLDER_TRIES = 100
BESIDE = (".temp", ".locks")

T = TypeVar("T")


class LocalFolder:
    """Blobs as files under `root`; several processes of one machine may share it.

    `.locks` and `.temp` lie in the folder `beside`, on the same disk: no listing meets them, and
    what a killed process left in `.temp` is removed when a store is next opened, an hour later or
    more.
    """

    def __init__(self, *, root: Path, beside: Path | None = None) -> None:
        self._root = root.absolute()
        beside = self._root.parent if beside is None else beside.absolute()
        self._temp, self._locks_folder = (beside / name for name in BESIDE)
        self._holding = partial(local_files.name_held, folder=self._locks_folder)
        self._opening = threading.Lock()
        self._opened = False

    def open(self) -> None:
        """Create the folders, once; what writes needs them."""
        if self._opened:
            return
        with self._opening:
            try:
                self._root.parent.mkdir(mode=local_files.FOLDER_MODE, parents=True, exist_ok=True)
                for folder in (self._root, self._temp, self._locks_folder):
                    local_files.make_folder(folder)
                self._remove_strays(written_before=self._probe() - _STRAY_AFTER_SECONDS)
            except OSError as error:
                if error.errno not in _UNWRITABLE or not self._root.is_dir():
                    raise
                return  # of a disk that cannot be written to, what is there can be read
            self._opened = True

    def read(self, name: str) -> blob_store.Blob | None:
        # Elsewhere a reader does not notice a rename; Windows refuses one while a reader is at it.
        with self._holding(name) if os.name == "nt" else nullcontext():
            data = self._load(name)
        return None if data is None else blob_store.Blob(data, _etag(data))

    def create(self, name: str, data: bytes) -> str:
        with self._holding(name):
            if self._load(name) is not None:
                raise errors.BlobExistsError("a blob of that name exists")
            return self._put(name, data)

    def replace(self, name: str, data: bytes, etag: str) -> str:
        with self._holding(name):
            current = self._load(name)
            if current is None or _etag(current) != etag:
                raise errors.BlobChangedError("the blob is at another version, or absent")
            return self._put(name, data)

    def delete(self, name: str) -> None:
        """See `BlobStore.delete`.

        Not synced: a power loss can bring the blob back, and whoever deletes repeats until a
        listing is empty.
        """
        with self._holding(name):
            if (path := self._find(name)) is not None:
                Path(path).unlink(missing_ok=True)
                self._prune(Path(path).parent)
        self._check_root()

    def names(self, prefix: str) -> list[str]:
        """Return the names of the blobs under `prefix` in order."""
        inside = self._find(f"{prefix}any")
        folder = None if inside is None else Path(inside).parent
        if folder is None or not local_files.is_real_folder(folder):
            self._check_root()
            return []
        found = sorted(self._walk(folder))
        self._check_root()
        return found

    def folders(self) -> list[str]:
        """Return the folders below the root, in order; a delete leaves none that is empty."""
        with os.scandir(self._root) as entries:
            found = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
        self._check_root()
        return sorted(name for name in found if blob_store.is_blob_name(name))

    def rows(self, names: list[str]) -> list[blob_store.BlobInfo]:
        """Return a listing's rows for `names`, without those deleted meanwhile."""
        found = [row for name in names if (row := self._row(name)) is not None]
        self._check_root()
        return found

    def append(self, name: str, data: bytes, position: int) -> int:
        with self._holding(name):
            if not self._append(name, data, position):
                self._check_root()
                raise errors.BlobChangedError("the blob is of another length, or absent")
        return position + len(data)

    def check(self) -> None:
        """See `BlobStore.check`; proves that the disk takes new files, too."""
        self._check_root()
        self._probe(_BLOCK)  # a full disk still takes an empty file

    def _row(self, name: str) -> blob_store.BlobInfo | None:
        path = self._find(name)
        found = None if path is None else local_files.read_file(path)
        if found is None:
            return None
        data, status = found
        modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
        return blob_store.BlobInfo(name, _etag(data), len(data), modified_at)

    def _load(self, name: str) -> bytes | None:
        path = self._find(name)
        found = None if path is None else local_files.read_file(path)
        if found is None:
            self._check_root()
            return None
        return found[0]

    def _put(self, name: str, data: bytes) -> str:
        temp, is_named = self._new_temp(), False
        try:
            local_files.write_new_file(temp, data)
            self._in_folder(name, partial(os.replace, temp))
            is_named = True
        finally:
            if not is_named:
                Path(temp).unlink(missing_ok=True)
        # Without this a power loss can undo the rename after the answer was given.
        local_files.sync_folder(f"{self._root}/{name}".rpartition("/")[0])
        return _etag(data)

    def _append(self, name: str, data: bytes, position: int) -> bool:
        if position == 0:
            return self._in_folder(
                name, lambda path: local_files.append_to_file(path, data, position=0)
            )
        path = self._find(name)
        return path is not None and local_files.append_to_file(path, data, position=position)

    def _in_folder(self, name: str, put: Callable[[str], T]) -> T:
        """Put a file into the folder of `name`, which a delete may remove just now as empty."""
        for _ in range(_FOLDER_TRIES):
            with suppress(FileNotFoundError):
                return put(self._make(name))
            self._check_root()
        raise errors.StoreUnavailableError("the folder of a blob does not stay")

    def _prune(self, folder: Path) -> None:
        """Remove `folder` and those above it if they are empty; never the root."""
        while folder != self._root:
            try:
                folder.rmdir()
            except OSError:
                return  # not empty, or removed by another; an empty folder does no harm
            folder = folder.parent

    # Plain strings: a `Path` is thirty calls, and each write of a turn would make five.

    def _find(self, name: str) -> str | None:
        """Return the path of `name`, or None if one of its folders is absent."""
        *folders, file = name.split("/")
        here = str(self._root)
        for segment in folders:
            here = f"{here}/{segment}"
            if not local_files.is_real_folder(here):
                return None
        return f"{here}/{file}"

    def _make(self, name: str) -> str:
        """Return the path of `name` and create its folders; never the root."""
        *folders, file = name.split("/")
        here = str(self._root)
        for segment in folders:
            here = f"{here}/{segment}"
            if not local_files.is_real_folder(here):
                local_files.make_folder(Path(here))
        return f"{here}/{file}"

    def _walk(self, folder: Path) -> Iterator[str]:
        for here, folders, files in os.walk(folder, onerror=_raise):
            # What is not named like a blob is not ours: a file manager's own files, say.
            relative = Path(here).relative_to(self._root).as_posix()
            yield from (
                name for file in files if blob_store.is_blob_name(name := f"{relative}/{file}")
            )
            for entry in folders:
                local_files.is_real_folder(Path(here, entry))

    def _check_root(self) -> None:
        """Tell an absent blob from an absent disk: after a lost mount everything looks absent."""
        if not self._root.is_dir():
            raise errors.StoreUnavailableError("the folder of the local file store is gone")

    def _new_temp(self) -> str:
        return f"{self._temp}/{os.urandom(16).hex()}.tmp"

    def _probe(self, data: bytes = b"") -> float:
        """Create and delete a file of `data`; return its time, the file system's present."""
        temp = self._new_temp()
        try:
            local_files.write_new_file(temp, data)
            return Path(temp).stat().st_mtime
        finally:
            Path(temp).unlink(missing_ok=True)

    def _remove_strays(self, *, written_before: float) -> None:
        for temp in self._temp.iterdir():
            with suppress(FileNotFoundError):  # another process opens its store right now
                if temp.lstat().st_mtime < written_before:
                    temp.unlink()


def _etag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()  # twice as fast as others where processors know it


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # emptied and removed meanwhile
        raise error


_THREADS = 8
_ROWS_PER_HOP = 64


class LocalBlobStore:
    """A `BlobStore` in the folder `root`; its ETags are hashes of the content.

    What it needs besides lies in `beside`, else in the folder that `root` is in.

    Each operation is one hop to a thread of the store's own, so a slow disk does not use up the
    threads that others wait for.
    """

    def __init__(
        self, *, root: Path, beside: Path | None = None, tags: LocalBlobTags | None = None
    ) -> None:
        """Open `root`; `tags` are kept of what is written, and closed with the store."""
        self._folder, self._tags = LocalFolder(root=root, beside=beside), tags
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="local-blobs")

    async def read(self, name: str) -> blob_store.Blob | None:
        return await self._run(partial(self._folder.read, blob_store.checked_blob_name(name)))

    async def create(self, name: str, data: bytes) -> str:
        work = partial(self._folder.create, blob_store.checked_blob_name(name), data)
        return await self._run(partial(self._noted, work, name, data))

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        work = partial(self._folder.replace, blob_store.checked_blob_name(name), data, etag)
        return await self._run(partial(self._noted, work, name, data))

    async def delete(self, name: str) -> None:
        work = partial(self._folder.delete, blob_store.checked_blob_name(name))
        await self._run(partial(self._noted, work, name, None))

    async def list(self, prefix: str) -> AsyncIterator[blob_store.BlobInfo]:
        names = await self._run(partial(self._folder.names, blob_store.checked_blob_prefix(prefix)))
        for start in range(0, len(names), _ROWS_PER_HOP):
            some = names[start : start + _ROWS_PER_HOP]
            for row in await self._run(partial(self._folder.rows, some)):
                yield row

    async def folders(self) -> AsyncIterator[str]:
        for name in await self._run(self._folder.folders):
            yield name

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        work = partial(self._folder.append, blob_store.checked_blob_name(name), data, position)
        return await self._run(work)

    async def check(self) -> None:
        await self._run(self._folder.check)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        if self._tags is not None:
            await self._tags.close()

    def _noted(self, work: Callable[[], T], name: str, data: bytes | None) -> T:
        found = work()
        if self._tags is not None:
            self._tags.note(name, data)
        return found

    async def _run(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._translated, work)

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            self._folder.open()
            return work()
        except OSError as error:
            kind = errno.errorcode.get(error.errno or 0, type(error).__name__)
            is_shut = error.errno in _UNWRITABLE
        # Outside the handler: an OSError names the file, and with it the conversation.
        failure = errors.StoreUnwritableError if is_shut else errors.StoreUnavailableError
        raise failure(f"the local file store failed: {kind}")
