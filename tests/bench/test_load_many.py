"""What the bench of many people counts."""

import asyncio
import time

import pytest

from bench.load_many import FULL, MODEL_SECONDS, QUICK, p99
from bench.probed_server import EVERY_SECONDS, Lag, Probe

pytestmark = pytest.mark.slow


def test_the_percentiles_are_of_the_samples() -> None:
    assert p99([1.0]) == 1.0
    assert p99([float(number) for number in range(1, 101)]) == 99.0
    lag = Lag.of([number / 1000 for number in range(100)])
    assert (lag.p50, lag.p99, lag.most, lag.samples) == (50.0, 99.0, 99.0, 100)


def test_the_quick_run_has_as_many_people_for_a_shorter_time() -> None:
    assert (FULL.sockets, FULL.bots, FULL.seconds) == (200, 50, 600.0)
    assert (QUICK.sockets, QUICK.bots) == (FULL.sockets, FULL.bots)
    assert pytest.approx(2.4) == MODEL_SECONDS


async def test_the_probe_notes_a_loop_that_stands_still() -> None:
    probe = Probe()
    watching = asyncio.create_task(probe.watch())
    await asyncio.sleep(EVERY_SECONDS * 2)
    time.sleep(0.2)  # noqa: ASYNC251 - what it is to notice
    await asyncio.sleep(EVERY_SECONDS * 2)
    watching.cancel()
    assert Lag.of(probe.samples).most > 150
