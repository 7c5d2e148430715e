"""Files that neither a crash nor a link can spoil, and the lock of their folder.

Everything here blocks and raises `OSError`; `data_models.storage.local_blob_store` translates.
"""

import errno
import os
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from data_models.errors import ConfigurationError

LOCK_FILE = "server.lock"


@contextmanager
def folder_held(folder: Path, *, is_shared: bool = False) -> Iterator[None]:
    """Hold `folder` for this process, alone if it is not shared.

    Raises:
        ConfigurationError: another process holds it, or it cannot be written to.
    """
    lock = FileLock(folder / LOCK_FILE, mode=FILE_MODE, thread_local=False, blocking=False)
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        for one in (folder, *filter(Path.is_dir, folder.iterdir())):
            if not os.access(one, os.W_OK | os.X_OK):
                raise PermissionError(0, "read-only, or of another user", str(one))
        if not is_shared:
            lock.acquire()
    except Timeout:
        raise ConfigurationError(
            f"DATA_DIR: another server uses {folder}, and two on one local folder may get in each "
            "other's way. Stop it, choose another folder, or use Azure storage. "
            "Example: DATA_DIR=./data2"
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"DATA_DIR: {error.filename or folder} cannot be written to ({error.strerror}). Choose "
            "another, or give it to the user who runs the server. Example: DATA_DIR=./data"
        ) from None
    try:
        yield
    finally:
        lock.release()


FILE_MODE = 0o600
FOLDER_MODE = 0o700
# Windows knows no O_NOFOLLOW, and only Windows knows O_BINARY.
_SAFE = vars(os).get("O_NOFOLLOW", 0) | vars(os).get("O_BINARY", 0) | vars(os).get("O_CLOEXEC", 0)


def read_file(path: Path | str) -> tuple[bytes, os.stat_result] | None:
    """Return the bytes and status of a regular file, or None if nothing is there at all."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFE)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        return file.readall(), status


def write_new_file(path: Path | str, data: bytes) -> None:
    """Write a file that must not exist yet and wait until it is on the disk."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _SAFE, FILE_MODE)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        _write_all(descriptor, data)
        os.fsync(file)


def append_to_file(path: Path | str, data: bytes, *, position: int) -> bool:
    """Append durably if the file is `position` bytes long; tell whether it was.

    At position 0 an absent file is created, if its folder exists. Up to 4 kB survive a killed
    process whole or not at all; what a full disk cut off is taken back.
    """
    create = os.O_CREAT if position == 0 else 0
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | create | _SAFE, FILE_MODE)
    except FileNotFoundError:
        if create:
            raise  # not the file is absent, but its folder
        return False
    with os.fdopen(descriptor, "ab", buffering=0) as file:
        if os.fstat(descriptor).st_size != position:
            return False
        try:
            _write_all(descriptor, data)
            os.fsync(file)
        except OSError:
            os.ftruncate(descriptor, position)
            raise
    if position == 0:
        sync_folder(Path(path).parent)
    return True


def is_real_folder(path: Path | str) -> bool:
    """Tell whether there is a folder at `path`; False if and only if nothing is there.

    Raises:
        NotADirectoryError: a file or a symbolic link is in the way.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder")
    return True


def make_folder(path: Path) -> None:
    """Create the folder `path` durably; its parent exists. Another process may do the same."""
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    sync_folder(path.parent)


def sync_folder(path: Path | str) -> None:
    """Make renames and new entries in `path` survive a power loss (0.1 ms on ext4)."""
    if sys.platform == "win32":
        return  # folders cannot be synced there; NTFS journals its entries
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


_STRIPES = 64
_WAIT_LIMIT_SECONDS = 7.0  # a store answers within 8 s
_POLL_SECONDS = 0.001


def name_held(name: str, *, folder: Path) -> AbstractContextManager[None]:
    """Hold the lock of `name` for one thread of one process; blocks, and is not reentrant.

    Names share a fixed number of lock files, so their number does not grow with use. The operating
    system frees a lock when its process dies. A process that is stopped while it holds one keeps
    it: the others then give up.

    Raises:
        TimeoutError: others held it for 7 s.
        OSError: the lock file cannot be opened.
    """
    # A file of its own for each holder: those of one process exclude each other, too.
    return _file_locked(f"{folder}/{zlib.crc32(name.encode()) % _STRIPES:02x}.lock")


if sys.platform == "win32":

    @contextmanager
    def _file_locked(path: str) -> Iterator[None]:
        lock = FileLock(path, mode=FILE_MODE, thread_local=False)
        with lock.acquire(timeout=_WAIT_LIMIT_SECONDS, poll_interval=_POLL_SECONDS):
            yield

else:
    import fcntl

    @contextmanager
    def _file_locked(path: str) -> Iterator[None]:
        """Lock as `FileLock` does, in a tenth of its time: each write of a turn holds one."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _SAFE, FILE_MODE)
        try:
            _wait_for_lock(descriptor)
            yield
        finally:
            # Not by closing alone: a child that was forked meanwhile has the file open, too.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def _wait_for_lock(descriptor: int) -> None:
        due = time.monotonic() + _WAIT_LIMIT_SECONDS
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > due:
                    raise TimeoutError from None
            time.sleep(_POLL_SECONDS)
