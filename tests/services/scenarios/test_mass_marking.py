"""Many sessions, and a server that is killed while it marks them (M15)."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from data_models.local_blob_store import LocalBlobStore
from services.scenarios.__main__ import main
from services.scenarios.migration.ports import SessionRow
from services.scenarios.migration.scenario_store import DeploymentRecord, ScenarioStore
from services.scenarios.migration.sqlite_index import SqliteSessionIndex
from services.scenarios.scenario_factory import CONTAINER, INDEX_FILE
from tests.amounts import amount
from tests.services.scenarios.worlds import NOW

ROOT = Path(__file__).parents[3]
SAMPLES = Path(__file__).parent
BOOKING = "appointment-booking"
SESSIONS = amount(by_day=10_000, by_night=100_000)


async def record(data: Path) -> DeploymentRecord | None:
    store = LocalBlobStore(root=data / CONTAINER)
    try:
        held = await ScenarioStore(blobs=store).deployment(BOOKING)
        return held.value if held else None
    finally:
        await store.close()


async def fill(data: Path) -> None:
    index = SqliteSessionIndex(path=data / INDEX_FILE)
    await index.put_many(
        SessionRow(f"s{number:06}", BOOKING, 1, "", "web", NOW) for number in range(SESSIONS)
    )
    await index.close()


async def unmarked(data: Path) -> int:
    index = SqliteSessionIndex(path=data / INDEX_FILE)
    rows = (await index.page(BOOKING, limit=SESSIONS + 1, below_version=2)).rows
    await index.close()
    assert len(rows) == SESSIONS
    return sum(row.mark != 2 for row in rows)


def deploying(data: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "services.scenarios", "deploy", BOOKING, "--by", "bob"],
        cwd=ROOT,
        env={**os.environ, "DATA_DIR": str(data)},
        stdout=subprocess.DEVNULL,
    )


@pytest.mark.large
@pytest.mark.slow
def test_m15_kill_9_while_marking_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    assert main(["publish", str(SAMPLES / "appointment_booking.yaml"), "--by", "ann"]) == 0
    second = str(SAMPLES / "appointment_booking_v2.yaml")
    assert main(["propose", second, "--by", "ann"]) == 0
    assert main(["approve", BOOKING, "--by", "bob"]) == 0
    asyncio.run(fill(tmp_path))

    process = deploying(tmp_path)
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and process.poll() is None:
        found = asyncio.run(record(tmp_path))
        if found is not None and found.marked:
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    stopped = asyncio.run(record(tmp_path))
    assert stopped is not None
    assert (stopped.state, 0 < stopped.marked < SESSIONS) == ("staged", True)

    assert deploying(tmp_path).wait(timeout=200) == 0
    finished = asyncio.run(record(tmp_path))
    assert finished is not None
    assert (finished.state, finished.marked) == ("deployed", SESSIONS)
    assert asyncio.run(unmarked(tmp_path)) == 0
