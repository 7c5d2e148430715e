"""Starts the independent programs that slow tests talk to, and says how to get a missing one."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.node import find_node
from scripts.test_tools import MODEL_HOME, NODE_HOME

_START_SECONDS = 60.0
_LISTENS = "successfully listens on "
# Azurite's published development account; it opens nothing else.
_ACCOUNT = "devstoreaccount1"
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
def running_azurite(folder: Path) -> Iterator[str]:
    """Run Azurite's blob service on a free port, in memory; yield its connection string."""
    script = node_module("azurite/dist/src/blob/main.js", "azurite")
    options = ["--blobPort", "0", "--inMemoryPersistence", "--extentMemoryLimit", "512"]
    quiet = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    output = folder / "azurite.txt"
    with output.open("w") as sink:
        process = subprocess.Popen(
            [node_program(), script, *options, *quiet], cwd=folder, stdout=sink, stderr=sink
        )
    try:
        yield _connection_string(_address(process, output))
    finally:
        process.terminate()
        process.wait(timeout=10)


def _address(process: subprocess.Popen[bytes], output: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        _, found, rest = output.read_text("utf-8").partition(_LISTENS)
        if found and "\n" in rest:
            return rest.split()[0]
        time.sleep(0.05)
    pytest.fail(f"Azurite did not start: {output.read_text('utf-8')}", pytrace=False)


def _connection_string(address: str) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={_ACCOUNT};AccountKey={_KEY};"
        f"BlobEndpoint={address}/{_ACCOUNT};"
    )
