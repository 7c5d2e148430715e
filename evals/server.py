"""The real server as a process of its own, on its own data, for one evaluation."""

import asyncio
import hashlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from data_models.errors import ConfigurationError

ROOT = Path(__file__).parents[1]
START_SECONDS = 60.0
STOP_SECONDS = 20.0
# Nothing of the developer's own environment decides what the server does, but for the model's.
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE")


def key_of(user: str) -> str:
    """Return the API key of a user of an evaluation; the server is reached from here only."""
    return f"key-of-{user}"


def settings_for(users: Sequence[str]) -> dict[str, str]:
    """Return the settings under which each of these users has a key."""
    keys = [f"{one}:{hashlib.sha256(key_of(one).encode()).hexdigest()}" for one in users]
    return {"AUTH_MODE": "api_key", "API_KEYS": ",".join(keys), "MESSAGES_PER_MINUTE": "100000"}


@asynccontextmanager
async def running_server(
    *, folder: Path, samples: Path, settings: Mapping[str, str]
) -> AsyncIterator[str]:
    """Run `app.py` in `folder` while the block lasts; yield its address.

    Raises:
        ConfigurationError: it did not start; the text is the end of its log.
    """
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - nothing else runs yet
    log, port = folder / "server.log", _free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "DATA_DIR": str(folder / "data"),
        "SAMPLES_DIR": str(samples),
        "LOG_FORMAT": "json",
        **settings,
    }
    with log.open("ab") as sink:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(ROOT / "app.py"), cwd=folder, env=environment, stdout=sink,
            stderr=sink,
        )  # fmt: skip
    try:
        await _ready(process, url, log)
        yield url
    finally:
        await _end(process)


async def _ready(process: asyncio.subprocess.Process, url: str, log: Path) -> None:
    async with aiohttp.ClientSession() as client:
        for _ in range(int(START_SECONDS / 0.1)):
            if process.returncode is not None:
                break
            if await _is_ready(client, url):
                return
            await asyncio.sleep(0.1)
    raise ConfigurationError(f"the server did not become ready:\n{_tail(log)}")


def _tail(log: Path) -> str:
    return "\n".join(log.read_text("utf-8").splitlines()[-20:])


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


async def _is_ready(client: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with client.get(f"{url}/readyz", timeout=aiohttp.ClientTimeout(10)) as answer:
            return answer.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
