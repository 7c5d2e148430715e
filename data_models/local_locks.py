"""Locks by name that hold between threads and between processes of one machine."""

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from data_models.local_files import FILE_MODE

_STRIPES = 64
_WAIT_LIMIT_SECONDS = 3.5  # for threads, and again for processes: a store answers within 8 s
_POLL_SECONDS = 0.001


class StripedLocks:
    """Names share a fixed number of lock files, so their number does not grow with use.

    The operating system frees a lock when its process dies. A process that is stopped while it
    holds one keeps it: the others then give up within 7 s.
    """

    def __init__(self, *, folder: Path) -> None:
        self._folder = folder
        self._threads = [threading.Lock() for _ in range(_STRIPES)]
        # Guarded by the thread's lock of the same stripe, hence not thread-local. Made when first
        # held: most stripes of a store of few names are never used, and each costs at every fork.
        self._processes: dict[int, FileLock] = {}

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Hold the lock of `name`; blocks the thread and is not reentrant.

        Raises:
            TimeoutError: others held it for 7 s.
            OSError: the lock file cannot be opened.
        """
        stripe = zlib.crc32(name.encode()) % _STRIPES
        if not self._threads[stripe].acquire(timeout=_WAIT_LIMIT_SECONDS):
            raise TimeoutError
        try:
            with self._process_lock(stripe).acquire(
                timeout=_WAIT_LIMIT_SECONDS, poll_interval=_POLL_SECONDS
            ):
                yield
        finally:
            self._threads[stripe].release()

    def _process_lock(self, stripe: int) -> FileLock:
        if stripe not in self._processes:
            path = self._folder / f"{stripe:02x}.lock"
            self._processes[stripe] = FileLock(path, mode=FILE_MODE, thread_local=False)
        return self._processes[stripe]
