"""Starts the independent programs that slow tests talk to, and says how to get a missing one."""

import errno
import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.node import find_node
from scripts.test_tools import MODEL_HOME, NODE_HOME

_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
# Below those that systems give to whoever asks for any: an outgoing connection takes none.
_ports = iter(range(20_000, 30_000))
_AZURITE_READY = r"successfully listens on (\S+)\n"
# Azurite's published development account, and others with its key; it opens nothing else.
_ACCOUNT = "devstoreaccount1"
_MORE_ACCOUNTS = tuple(f"account{number}" for number in range(1, 41))
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def needed(path: Path, tool: str) -> Path:
    """Return `path`, or fail the test with the command that installs `tool`."""
    if not path.exists():
        pytest.fail(f"{tool} is missing; run: python3 -m scripts.test_tools {tool}", pytrace=False)
    return path


def node_module(module: str, tool: str) -> Path:
    """Return the folder or file of an installed npm package."""
    return needed(NODE_HOME / "node_modules" / module, tool)


def node_program() -> Path:
    """Return the Node.js which runs the peers."""
    return find_node().program


def chromium_program() -> Path:
    """Return the browser."""
    return needed(Path(shutil.which("chromium") or "/usr/bin/chromium"), "chromium")


def model_file() -> Path:
    """Return the small model's weights."""
    found = sorted(MODEL_HOME.glob("*.gguf"))
    return needed(found[0] if found else MODEL_HOME / "model.gguf", "model")


@contextmanager
def running_node(arguments: Sequence[str | Path], *, folder: Path, ready: str) -> Iterator[str]:
    """Run a Node.js program in `folder`; yield the first group of `ready` once it prints that."""
    output = folder / "output.txt"
    accounts = ";".join(f"{name}:{_KEY}" for name in (_ACCOUNT, *_MORE_ACCOUNTS))
    environment = {
        **os.environ, "TEAMSAPPTESTER_BROWSER": "none", "AZURITE_ACCOUNTS": accounts
    }  # fmt: skip
    with output.open("w") as sink:
        process = subprocess.Popen(
            [node_program(), *arguments], cwd=folder, stdout=sink, stderr=sink, env=environment
        )
    try:
        yield _first_words(process, output, re.compile(ready))
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _first_words(process: subprocess.Popen[bytes], output: Path, ready: re.Pattern[str]) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := ready.search(output.read_text("utf-8")):
            return found.group(1)
        time.sleep(0.05)
    pytest.fail(f"a peer did not start: {output.read_text('utf-8')}", pytrace=False)


@contextmanager
def running_azurite(folder: Path, *, memory_mb: int = 512) -> Iterator[str]:
    """Run Azurite's blob service on a free port, in memory; yield its connection string.

    It keeps what was overwritten for ten minutes, and takes no more once `memory_mb` are full.
    """
    script = node_module("azurite/dist/src/blob/main.js", "azurite")
    options = ["--blobPort", "0", "--inMemoryPersistence", "--extentMemoryLimit", str(memory_mb)]
    quiet = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    with running_node([script, *options, *quiet], folder=folder, ready=_AZURITE_READY) as address:
        yield (
            f"DefaultEndpointsProtocol=http;AccountName={_ACCOUNT};AccountKey={_KEY};"
            f"BlobEndpoint={address}/{_ACCOUNT};"
        )


def more_accounts(connection_string: str) -> Iterator[str]:
    """Yield connection strings of other accounts of the same Azurite; nothing is in them."""
    for name in _MORE_ACCOUNTS:
        yield connection_string.replace(_ACCOUNT, name)


@contextmanager
def running_azurite_queue(folder: Path) -> Iterator[str]:
    """Run Azurite's queue service on a free port, in memory; yield its part of the connection."""
    script = node_module("azurite/dist/src/queue/main.js", "azurite")
    options = ["--queuePort", "0", "--inMemoryPersistence", "--extentMemoryLimit", "256"]
    quiet = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    with running_node([script, *options, *quiet], folder=folder, ready=_AZURITE_READY) as address:
        yield f"QueueEndpoint={address}/{_ACCOUNT};"


@contextmanager
def running_playground(folder: Path, *, endpoint: str, channel: str = "emulator") -> Iterator[str]:
    """Run Agents Playground for the bot at `endpoint`; yield the address of its page."""
    script = node_module("@microsoft/m365agentsplayground/cli.js", "playground")
    options = ["-e", endpoint, "-c", channel, "-p", str(free_port()), "--dt"]
    with running_node([script, *options], folder=folder, ready=r"Listening on (\d+)\n") as port:
        yield f"http://127.0.0.1:{port}"


def free_port() -> int:
    """Return a port of loopback that nobody listens on, and that is given to nobody else.

    It stays this process's while the process lives, also when the server there is killed and
    started anew: other runs of the tests on this machine see that it is held.
    """
    return next(port for port in _ports if _is_held(port) and _is_free(port))


def _is_held(port: int) -> bool:
    """Take hold of `port` by a lock that ends with this process; False if another has it."""
    folder = Path(tempfile.gettempdir()) / f"rounds-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    lock = os.open(folder / str(port), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
    return True
