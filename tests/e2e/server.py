"""The real server, run as its operator runs it: a process with settings, a port and a log."""

import fcntl
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.e2e.forked import ForkedProcess
from tests.peers import free_port

ROOT = Path(__file__).parents[2]
START_SECONDS = 120.0
STOP_SECONDS = 60.0
# Nothing of the developer's own environment decides what the server does.
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR")


class Server:
    """`app.py` as a process. It can be ended gently or at once, and started again on its data.

    Attributes:
        folder: Where it runs; its data are in `data` below.

    Args:
        program: What Python runs instead of `app.py`.
    """

    def __init__(
        self,
        *,
        folder: Path,
        environment: Mapping[str, str],
        program: Sequence[str] | None = None,
        port: int | None = None,
    ) -> None:
        self.folder = folder
        self._program = program
        self.port = port or free_port()
        self._environment = dict(environment)
        self._process: subprocess.Popen[bytes] | ForkedProcess | None = None
        self._log = folder / "server.log"

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        """Its local state."""
        return self.folder / "data"

    @property
    def log(self) -> str:
        """All that it has logged, earlier lives included."""
        return self._log.read_text("utf-8") if self._log.exists() else ""

    def log_lines(self, event: str) -> list[dict[str, Any]]:
        """The log's entries of one event, in order."""
        rows = [orjson.loads(line) for line in self.log.splitlines() if line.startswith("{")]
        return [row for row in rows if row.get("event") == event]

    def start(self) -> None:
        """Start, and return once it is ready for turns."""
        assert self._process is None, "it runs already"
        given = {name: os.environ[name] for name in _KEPT if name in os.environ}
        own = {
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "DATA_DIR": str(self.data),
            "DATA_DIR_SHARED": "true",  # two replicas on one machine are what some tests are about
            "SAMPLES_DIR": str(ROOT / "samples"),
            "LOG_FORMAT": "json",
        }
        environment = {**given, **own, **self._environment}
        if self._program is None:
            self._process = ForkedProcess(
                folder=self.folder, environment=environment, log=self._log
            )
        else:
            with self._log.open("ab") as sink:
                self._process = subprocess.Popen(
                    [sys.executable, *self._program],
                    cwd=self.folder,
                    env=environment,
                    stdout=sink,
                    stderr=sink,
                )
        self._wait_until_ready()

    def stop(self) -> int:
        """End it as an orchestrator does, with SIGTERM; return its exit code."""
        self.ask_to_stop()
        return self.wait_for_end()

    def ask_to_stop(self) -> None:
        """Send SIGTERM and wait for nothing."""
        self._running().send_signal(signal.SIGTERM)

    def wait_for_end(self) -> int:
        """Return the exit code once it has ended."""
        code = self._running().wait(timeout=STOP_SECONDS)
        self._process = None
        return code

    def kill(self) -> None:
        """End it as a power failure does."""
        process = self._running()
        process.kill()
        process.wait(timeout=STOP_SECONDS)
        self._process = None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, such as SIGSTOP, which makes it stand still."""
        self._running().send_signal(number)

    def freeze(self) -> None:
        """Make it stand still, between two of its writes, until it gets SIGCONT.

        A process that stands still in the middle of a write keeps the operating system's lock,
        and nobody can write that name before it goes on (`data_models.storage.local_files`).
        """
        while True:
            self.signal(signal.SIGSTOP)
            time.sleep(0.1)  # the signal is delivered to each of its threads in its own time
            if not any(_is_locked(path) for path in (self.data / ".locks").glob("*.lock")):
                return
            self.signal(signal.SIGCONT)
            time.sleep(0.05)

    def close(self) -> None:
        """End it in whatever state it is."""
        if self._process is not None:
            self.kill()

    def _running(self) -> "subprocess.Popen[bytes] | ForkedProcess":
        assert self._process is not None, "it does not run"
        return self._process

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._running().poll() is None:
            if _is_ready(self.url):
                return
            time.sleep(0.05)
        log = self.log
        self.close()
        pytest.fail(f"the server did not become ready:\n{log}", pytrace=False)


def _is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=10) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


@contextmanager
def running_server(folder: Path, **environment: str) -> Iterator[Server]:
    """Run the server in `folder` with these settings, and end it after the block."""
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder=folder, environment=environment)
    server.start()
    try:
        yield server
    finally:
        server.close()
