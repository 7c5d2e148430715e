"""A server dies while it deploys a version to many sessions; another one finishes (M15)."""

import asyncio
import json
import sqlite3
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from services.stores import INDEX_FILE
from tests.amounts import amount
from tests.e2e.server import Server
from tests.routes.conftest import hashed_key
from tests.services.scenarios.clinic import BOOKING, SECOND, Clinic
from tests.services.scenarios.worlds import MemoryIndex, row

pytestmark = [pytest.mark.slow, pytest.mark.large]
SESSIONS = amount(by_day=10_000, by_night=60_000)
FINISHED_SECONDS = 200.0


async def crowded(data: Path) -> None:
    """Deploy the first version, and put many sessions into the index."""
    await Clinic(data).open([])
    index = MemoryIndex(data / INDEX_FILE)
    await index.put(row(f"s{number:06}", BOOKING) for number in range(SESSIONS))
    await index.close()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    """Two servers on one store."""
    keys = ",".join(f"{name}:{hashed_key(f'{name}-key')}" for name in ("ann", "bob"))
    environment = {
        "LLM_PROVIDER": "offline",
        "AUTH_MODE": "api_key",
        "API_KEYS": keys,
        "OPERATORS": "ann,bob",
        "DATA_DIR": str(tmp_path / "data"),
    }
    asyncio.run(crowded(tmp_path / "data"))
    with ExitStack() as stack:
        made = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            made.append(Server(folder=tmp_path / name, environment=environment))
            stack.callback(made[-1].close)
        with ThreadPoolExecutor() as threads:
            list(threads.map(Server.start, made))
        yield made[0], made[1]


def asked(server: Server, path: str, *, who: str = "bob", sent: Any = None) -> Any:
    """Ask the operators' API."""
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{server.url}/api/operator/{path}",
        data=None if sent is None else json.dumps(sent).encode(),
        headers={"Authorization": f"Bearer {who}-key", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - loopback
        return json.load(answer)


def deployment(server: Server) -> Any:
    return asked(server, f"scenarios/{BOOKING}")["deployment"]


def marks(data: Path) -> dict[int, int]:
    """How many sessions carry each mark."""
    with closing(sqlite3.connect(data / INDEX_FILE)) as index:
        found = index.execute("select mark, count(*) from tags group by mark")
        return {int(mark): number for mark, number in found}


def test_m15_another_server_finishes_what_a_killed_one_deployed(
    servers: tuple[Server, Server], tmp_path: Path
) -> None:
    dying, other = servers
    asked(dying, "plans", who="ann", sent={"definition": SECOND})
    asked(dying, f"scenarios/{BOOKING}/approve", sent={})
    asked(dying, f"scenarios/{BOOKING}/deploy", sent={"share_percent": 100})
    limit = time.monotonic() + FINISHED_SECONDS
    while not deployment(other)["marked"] and time.monotonic() < limit:
        time.sleep(0.01)
    dying.kill()
    stopped = deployment(other)
    assert (stopped["state"], 0 < stopped["marked"] < SESSIONS) == ("staged", True)

    while deployment(other)["state"] != "deployed" and time.monotonic() < limit:
        time.sleep(0.2)
    finished = deployment(other)
    assert (finished["state"], finished["marked"], finished["seen"], finished["total"]) == (
        "deployed",
        SESSIONS,
        SESSIONS,
        SESSIONS,
    )
    assert marks(tmp_path / "data") == {2: SESSIONS}
    assert asked(other, f"scenarios/{BOOKING}")["active"] == 2
    assert len(other.log_lines("deployment_rests")) == 1
