"""Runs as their watchers see them."""

import asyncio

import pytest

from data_models.conversations.turn_events import AgentTextDelta, RunFinished, TurnEvent, TurnTiming
from services.runs.hub import KEPT_RUNS, KEPT_SECONDS, Run, RunHub
from tests.fakes import FixedClock
from tests.services.world import World

END = RunFinished("success", TurnTiming())


def delta(text: str) -> AgentTextDelta:
    return AgentTextDelta("m1", text)


@pytest.fixture
async def run() -> Run:
    return Run(run_id="run_1", message=World().message("hello"))


async def watch(run: Run, *, after: int = 0) -> list[tuple[int, TurnEvent]]:
    return [each async for each in run.events(after=after)]


async def test_every_watcher_sees_every_event_in_order_whenever_it_comes(run: Run) -> None:
    early = asyncio.create_task(watch(run))
    await asyncio.sleep(0)
    run.emit(delta("a"))
    middle = asyncio.create_task(watch(run))
    await asyncio.sleep(0)
    run.emit(delta("b"))
    run.emit(END)
    expected = [(1, delta("a")), (2, delta("b")), (3, END)]
    assert [await early, await middle, await watch(run)] == [expected] * 3
    assert await watch(run, after=2) == [(3, END)]
    assert await watch(run, after=3) == []


async def test_a_slow_watcher_holds_nobody_up(run: Run) -> None:
    slow = run.events()
    for number in range(1_000):
        run.emit(delta(str(number)))
    run.emit(END)
    assert len(await watch(run)) == 1_001
    assert await anext(slow) == (1, delta("0"))


async def test_a_stop_is_asked_for_once_and_outlives_who_asked(run: Run) -> None:
    waiting = run.stop_requested()
    await asyncio.sleep(0)
    waiting.cancel()
    run.request_stop("interrupted")
    run.request_stop("cancelled")
    assert await run.stop_requested() == "interrupted"


async def test_an_ended_run_is_kept_for_five_minutes_and_a_running_one_for_good() -> None:
    clock = FixedClock()
    hub, world = RunHub(clock=clock), World()
    ended = hub.add(Run(run_id="ended", message=world.message("a")))
    running = hub.add(Run(run_id="running", message=world.message("b")))
    hub.note_end(ended)
    clock.advance(KEPT_SECONDS - 1)
    assert hub.find("ended") is ended
    clock.advance(2)
    assert hub.find("ended") is None
    assert hub.find("running") is running


async def test_a_run_that_goes_on_under_its_id_is_kept_however_long_it_ended(run: Run) -> None:
    clock = FixedClock()
    hub = RunHub(clock=clock)
    hub.note_end(hub.add(run))
    again = hub.add(Run(run_id=run.run_id, message=run.message))
    clock.advance(KEPT_SECONDS + 1)
    assert hub.find(run.run_id) is again


async def test_the_number_of_ended_runs_is_bounded() -> None:
    hub, message = RunHub(clock=FixedClock()), World().message("a")
    for number in range(KEPT_RUNS + 10):
        hub.note_end(hub.add(Run(run_id=f"run_{number}", message=message)))
    assert hub.find("run_0") is None
    assert hub.find(f"run_{KEPT_RUNS + 9}") is not None
