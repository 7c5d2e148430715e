"""Servers that begin where the libraries are imported: a start costs a tenth of what it does else.

`app.py` itself, in a process of its own with the settings given, forked from one that has imported
what it imports. The imports are four fifths of a start, and the tests start hundreds of servers.
`test_start.py` and the benches start `app.py` as its operator does.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path

_IMPORTED = ["tests.e2e.forked_imports"]


class ForkedProcess:
    """What of `subprocess.Popen` a `Server` needs."""

    def __init__(self, *, folder: Path, environment: Mapping[str, str], log: Path) -> None:
        self._process = _context().Process(
            target=_serve, args=(str(folder), dict(environment), str(log)), daemon=True
        )
        self._process.start()

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self._process.exitcode

    def wait(self, *, timeout: float) -> int:
        """Return the exit code once it has ended.

        Raises:
            subprocess.TimeoutExpired: it has not after `timeout` seconds.
        """
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("app.py", timeout)
        return code

    def kill(self) -> None:
        """End it as a power failure does."""
        self._process.kill()

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        pid = self._process.pid
        assert pid is not None
        os.kill(pid, number)


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    return context


def _serve(folder: str, environment: dict[str, str], log: str) -> None:
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    from app import main

    sys.exit(main())
