"""Turns begin as fast as the process keeps up: in order, so many at once, their claims renewed."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from data_models.conversations.claim import Claim
from services.runs.hub import Run
from services.turn_scheduler import turn_slots
from services.turn_scheduler.turn_slots import FEW, LATE_SECONDS, PATIENCE_SECONDS, TurnSlots
from tests.services.world import World
from tests.waiting import until

LONG = 20.0


class HeldClaim(Claim):
    """A claim that knows whether it is being renewed."""

    def __init__(self) -> None:
        self.is_renewed = False

    @asynccontextmanager
    async def renewing(self, on_lost: Callable[[], object] = lambda: None) -> AsyncIterator[None]:
        self.is_renewed = True
        try:
            yield
        finally:
            self.is_renewed = False


class Hall:
    """Turns that sit until they are told to go."""

    def __init__(self, slots: TurnSlots) -> None:
        self.slots = slots
        self.seated: list[str] = []
        self.claims: dict[str, HeldClaim] = {}
        self.runs: dict[str, Run] = {}
        self._go: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, *names: str) -> None:
        message = World().message("hello")
        for name in names:
            self.claims[name] = HeldClaim()
            self.runs[name] = Run(run_id=name, message=message)
            self._go[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._sit(name))
            await asyncio.sleep(0)

    async def leave(self, name: str) -> None:
        self._go[name].set()
        await self.tasks[name]

    async def until_seated(self, *names: str) -> None:
        await until(lambda: {*names} <= {*self.seated})

    async def _sit(self, name: str) -> None:
        async with self.slots.slot(self.claims[name], self.runs[name]):
            self.seated.append(name)
            await self._go[name].wait()


@pytest.mark.slow
async def test_turns_that_wait_for_a_model_are_seated_up_to_the_limit() -> None:
    hall = Hall(TurnSlots(limit=FEW + 3))
    names = [f"t{number}" for number in range(FEW + 5)]
    await hall.come(*names)
    await hall.until_seated(*names[: FEW + 3])
    await asyncio.sleep(0.2)
    assert hall.seated == names[: FEW + 3]
    assert hall.slots.waiting == 2


async def test_a_seat_goes_to_whoever_waits_longest() -> None:
    hall = Hall(TurnSlots(limit=1))
    await hall.come("a", "b", "c")
    await hall.leave("a")
    await hall.come("d")
    await hall.until_seated("b")
    await hall.leave("b")
    await hall.until_seated("c")
    await hall.leave("c")
    await hall.until_seated("d")
    assert hall.seated == ["a", "b", "c", "d"]
    assert hall.slots.waiting == 0


async def test_the_claim_of_a_turn_that_waits_is_renewed_until_it_sits() -> None:
    hall = Hall(TurnSlots(limit=1))
    await hall.come("a", "b")
    assert [claim.is_renewed for claim in hall.claims.values()] == [False, True]
    await hall.leave("a")
    await hall.until_seated("b")
    assert not hall.claims["b"].is_renewed


async def test_a_turn_that_is_to_stop_needs_no_seat() -> None:
    hall = Hall(TurnSlots(limit=1))
    await hall.come("a", "b", "c")
    hall.runs["c"].request_stop("cancelled")
    await hall.until_seated("c")
    assert hall.seated == ["a", "c"]
    assert hall.slots.waiting == 1


async def test_a_turn_that_is_given_up_while_it_waits_takes_no_seat() -> None:
    hall = Hall(TurnSlots(limit=1))
    await hall.come("a", "b", "c")
    hall.tasks["b"].cancel()
    with pytest.raises(asyncio.CancelledError):
        await hall.tasks["b"]
    await hall.leave("a")
    await hall.until_seated("c")
    assert hall.seated == ["a", "c"]


@pytest.mark.slow
async def test_a_loop_that_is_late_gets_no_more_than_a_few_turns_at_once() -> None:
    hall = Hall(TurnSlots(limit=100))
    names = [f"t{number}" for number in range(FEW + 20)]
    await hall.come(*names)
    began = time.monotonic()
    for _ in range(16):  # longer than patience lasts, however fast the machine
        time.sleep(LATE_SECONDS * 2)  # noqa: ASYNC251 - what turns that compute do to the loop
        await asyncio.sleep(0)
    seated_while_late, took = len(hall.seated), time.monotonic() - began
    await hall.until_seated(*names)
    # Some begin all the same, so that a machine which is always busy still serves.
    assert FEW < seated_while_late <= FEW + 2 + took / PATIENCE_SECONDS


async def test_a_late_loop_lets_in_no_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_slots, "LATE_SECONDS", -1.0)
    monkeypatch.setattr(turn_slots, "PATIENCE_SECONDS", 1_000.0)
    monkeypatch.setattr(turn_slots, "_LOOK_SECONDS", 0.0)
    hall = Hall(TurnSlots(limit=1))
    await hall.come("a", "b", "c")
    for _ in range(20):
        await asyncio.sleep(0)
    assert hall.seated == ["a"]
    for task in hall.tasks.values():
        task.cancel()


@pytest.mark.slow
async def test_a_flood_of_one_conversation_takes_one_seat() -> None:
    world = World(slots=TurnSlots(limit=2))
    world.team.gate.clear()
    flood = [
        await world.scheduler.submit(world.message(f"again {n}", chat="flood")) for n in range(6)
    ]
    other = await world.scheduler.submit(world.message("one question", chat="other"))
    await until(lambda: len(world.team.requests) >= 2)
    assert [one.conversation_id for one in world.team.requests] == ["flood", "other"]
    world.team.gate.set()
    async with asyncio.timeout(LONG):
        await other.wait()
        for run in flood:
            await run.wait()


async def test_turns_that_wait_for_a_seat_are_counted_as_waiting() -> None:
    world = World(slots=TurnSlots(limit=1))
    world.team.gate.clear()
    runs = [
        await world.scheduler.submit(world.message("a", chat=chat)) for chat in ("c1", "c2", "c3")
    ]
    await until(lambda: world.scheduler.waiting >= 2)
    world.team.gate.set()
    async with asyncio.timeout(LONG):
        for run in runs:
            await run.wait()
    assert world.scheduler.waiting == 0
