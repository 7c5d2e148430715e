"""Locks by name that hold between threads and between processes of one machine."""

import os
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from data_models.local_files import FILE_MODE, try_lock

_STRIPES = 64
_WAIT_LIMIT_SECONDS = 3.5  # for threads, and again for processes: a store answers within 8 s
_POLL_SECONDS = 0.001
_OPEN = os.O_RDWR | os.O_CREAT | vars(os).get("O_NOFOLLOW", 0) | vars(os).get("O_CLOEXEC", 0)


class StripedLocks:
    """Names share a fixed number of lock files, so their number does not grow with use.

    The operating system frees a lock when its process dies. A process that is stopped while it
    holds one keeps it: the others then give up within 7 s.
    """

    def __init__(self, *, folder: Path) -> None:
        self._paths = [folder / f"{stripe:02x}.lock" for stripe in range(_STRIPES)]
        self._threads = [threading.Lock() for _ in range(_STRIPES)]

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
            descriptor = os.open(self._paths[stripe], _OPEN, FILE_MODE)
            try:
                _lock(descriptor)
                yield
            finally:
                os.close(descriptor)
        finally:
            self._threads[stripe].release()


def _lock(descriptor: int) -> None:
    until = time.monotonic() + _WAIT_LIMIT_SECONDS
    while not try_lock(descriptor):
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(_POLL_SECONDS)
