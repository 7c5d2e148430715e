"""Starts the processes of the bench and reads what the kernel knows of them (Linux)."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from bench.model import Asked, Orders

ROOT = Path(__file__).parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")
_START_SECONDS = 60.0


class Peer:
    """A Python process that answers each line on its standard input with one line."""

    def __init__(self, process: "asyncio.subprocess.Process") -> None:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process of the bench needs pipes")
        self._process = process
        self._input, self._output = process.stdin, process.stdout

    @classmethod
    async def start(cls, *arguments: str, environment: Mapping[str, str] | None = None) -> Self:
        """Run Python with `arguments` at the root of the project."""
        pipe = subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable, *arguments, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe
            )
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def read(self) -> str:
        """Return its next line."""
        line = await self._output.readline()
        if not line:
            raise RuntimeError("a process of the bench ended; see what it printed above")
        return line.decode().strip()

    async def ask(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """Send `line` and return the answer to it."""
        self._input.write(orjson.dumps(line) + b"\n")
        answer: dict[str, Any] = orjson.loads(await self.read())
        return answer

    def check(self) -> None:
        """Return if it runs.

        Raises:
            RuntimeError: it has ended.
        """
        if self._process.returncode is not None:
            raise RuntimeError("a process of the bench ended; see what it printed above")

    async def stop(self) -> None:
        """End it in good order; kill it if that takes long."""
        if self._process.returncode is None:
            self._process.terminate()
        try:
            async with asyncio.timeout(15):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class ModelPeer:
    """The model of the bench; see `bench.model`."""

    def __init__(self, peer: Peer, url: str) -> None:
        self._peer = peer
        self.url = url

    async def order(self, orders: Orders) -> Asked:
        """Have it answer by `orders` from now on; return what was asked until now."""
        return Asked(**await self._peer.ask(asdict(orders)))


@asynccontextmanager
async def running_model() -> AsyncIterator[ModelPeer]:
    """Run the model."""
    peer = await Peer.start("-m", "bench.model")
    try:
        yield ModelPeer(peer, await peer.read())
    finally:
        await peer.stop()


@dataclass(frozen=True)
class Start:
    """Seconds from the start of the process, and the CPU seconds it had used when ready."""

    port_seconds: float
    ready_seconds: float
    cpu_seconds: float


class ServerPeer:
    """A server under measurement."""

    def __init__(self, peer: Peer, *, port: int, start: Start) -> None:
        self.peer = peer
        self.port = port
        self.start = start

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        """Return the CPU seconds it has used, in user and kernel mode."""
        return _cpu_seconds(self.peer.pid)

    def rss_mb(self) -> float:
        """Return its resident memory, in MB of 1,000,000 bytes."""
        return _status_kb(self.peer.pid, "VmRSS") * 1024 / 1e6

    def peak_rss_mb(self) -> float:
        """Return the most memory that was ever resident."""
        return _status_kb(self.peer.pid, "VmHWM") * 1024 / 1e6


def environment_of(model_url: str, **more: str) -> dict[str, str]:
    """Return all that a server is told; what is set here for other work does not count."""
    return {
        "PATH": os.environ["PATH"],
        "LLM_PROVIDER": "openai",
        "OPENAI_BASE_URL": model_url,
        "OPENAI_API_KEY": "none",
        "SOCKETS_PER_USER": "10000",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "WARNING",
        **more,
    }


@asynccontextmanager
async def running_server(
    environment: Mapping[str, str],
    *,
    counted: bool = False,
    program: Sequence[str] = ("app.py",),
) -> AsyncIterator[ServerPeer]:
    """Run `program`, or the server that counts storage operations, until it is ready."""
    port = free_port()
    program = ("-m", "bench.storage") if counted else program
    began = time.monotonic()
    peer = await Peer.start(*program, environment={**environment, "PORT": str(port)})
    try:
        opened = await _when_port_opens(peer, port, began)
        ready = await _when_ready(peer, port, began)
        start = Start(opened - began, ready - began, _cpu_seconds(peer.pid))
        yield ServerPeer(peer, port=port, start=start)
    finally:
        await peer.stop()


async def _when_port_opens(peer: Peer, port: int, began: float) -> float:
    while time.monotonic() - began < _START_SECONDS:
        peer.check()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return time.monotonic()
    raise RuntimeError("the server did not open its port")


async def _when_ready(peer: Peer, port: int, began: float) -> float:
    while time.monotonic() - began < _START_SECONDS:
        peer.check()
        if await _status(port, "/readyz") == 200:
            return time.monotonic()
        await asyncio.sleep(0.1)
    raise RuntimeError("the server did not become ready")


async def _status(port: int, path: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
    )
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


def free_port() -> int:
    """Return a port of loopback that nobody listens on just now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _status_kb(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise RuntimeError(f"the kernel says no {name}")
