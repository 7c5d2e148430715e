"""One folder of blobs on a local disk; the blocking half of `LocalBlobStore`."""

import hashlib
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from data_models.blob_names import is_blob_name
from data_models.blob_store import Blob, BlobInfo
from data_models.errors import BlobChangedError, BlobExistsError, StoreUnavailableError
from data_models.local_files import (
    FOLDER_MODE,
    append_to_file,
    is_real_folder,
    make_folder,
    read_file,
    sync_folder,
    write_new_file,
)
from data_models.striped_locks import StripedLocks

_STRAY_AFTER_SECONDS = 3_600


class LocalFolder:
    """Blobs as files under `root`; several processes of one machine may share it.

    `.locks` and `.temp` lie beside `root`, on the same disk: no listing meets them, and what a
    killed process left in `.temp` is removed when a store is next opened, an hour later or more.
    """

    def __init__(self, *, root: Path) -> None:
        self._root = root.absolute()
        self._temp = self._root.parent / ".temp"
        self._locks_folder = self._root.parent / ".locks"
        self._locks = StripedLocks(folder=self._locks_folder)
        self._opening = threading.Lock()
        self._open = False

    def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        with self._shared(name):
            data = self._load(name)
        return None if data is None else Blob(data, _etag(data))

    def create(self, name: str, data: bytes) -> str:
        """See `BlobStore.create`."""
        with self._exclusive(name):
            if self._load(name) is not None:
                raise BlobExistsError("a blob of that name exists")
            return self._put(name, data)

    def replace(self, name: str, data: bytes, etag: str) -> str:
        """See `BlobStore.replace`."""
        with self._exclusive(name):
            current = self._load(name)
            if current is None or _etag(current) != etag:
                raise BlobChangedError("the blob is at another version, or absent")
            return self._put(name, data)

    def delete(self, name: str) -> None:
        """See `BlobStore.delete`.

        Not synced: a power loss can bring the blob back, and whoever deletes repeats until a
        listing is empty.
        """
        with self._exclusive(name):
            path = self._path(name, make=False)
            if path is not None:
                path.unlink(missing_ok=True)

    def names(self, prefix: str) -> list[str]:
        """Return the names of the blobs under `prefix` in order."""
        self._ensure_open()
        folder = self._path(f"{prefix}any", make=False)
        if folder is None:
            self._check_root()
            return []
        return sorted(self._walk(folder.parent))

    def info(self, name: str) -> BlobInfo | None:
        """Return one row of a listing, or None if the blob has been deleted meanwhile."""
        path = self._path(name, make=False)
        found = None if path is None else read_file(path)
        if found is None:
            return None
        data, status = found
        modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
        return BlobInfo(name, _etag(data), len(data), modified_at)

    def copy(self, source: str, target: str) -> None:
        """See `BlobStore.copy`; what was written is read back and compared."""
        blob = self.read(source)
        if blob is None:
            raise BlobChangedError("the source of a copy is absent")
        self.create(target, blob.data)
        if self.read(target) != blob:
            raise StoreUnavailableError("a copy differs from its source")

    def append(self, name: str, data: bytes, position: int) -> int:
        """See `BlobStore.append`."""
        with self._exclusive(name):
            path = self._path(name, make=position == 0)
            if path is None or not append_to_file(path, data, position=position):
                raise BlobChangedError("the blob is of another length, or absent")
        return position + len(data)

    def check(self) -> None:
        """See `BlobStore.check`; proves that the disk can be written, too."""
        self._ensure_open()
        self._check_root()
        probe = self._temp / f"{secrets.token_hex(16)}.tmp"
        try:
            probe.touch(mode=0o600, exist_ok=False)
        finally:
            probe.unlink(missing_ok=True)

    def _shared(self, name: str) -> AbstractContextManager[None]:
        # Elsewhere a rename is invisible to readers; Windows refuses it while a reader is at it.
        return self._exclusive(name) if os.name == "nt" else self._unlocked()

    def _unlocked(self) -> AbstractContextManager[None]:
        self._ensure_open()
        return nullcontext()

    def _exclusive(self, name: str) -> AbstractContextManager[None]:
        self._ensure_open()
        return self._locks.holding(name)

    def _load(self, name: str) -> bytes | None:
        path = self._path(name, make=False)
        found = None if path is None else read_file(path)
        if found is None:
            self._check_root()
            return None
        return found[0]

    def _put(self, name: str, data: bytes) -> str:
        path = self._path(name, make=True)
        temp = self._temp / f"{secrets.token_hex(16)}.tmp"
        try:
            write_new_file(temp, data)
            temp.replace(path)
        finally:
            temp.unlink(missing_ok=True)
        # Without this a power loss can undo the rename after the answer was given.
        sync_folder(path.parent)
        return _etag(data)
