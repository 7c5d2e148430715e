"""Who watches a run from elsewhere goes on watching when another replica takes it over."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from data_models.claim_decision import ClaimTimes
from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
)
from services.runs.hub import Run
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.services.runs.test_elsewhere import OWNER, PACE, SHORT, said, until
from tests.services.world import CHAT, ENDLESS, FarReplica, Heard, World, heard

PATIENT = ClaimTimes(lease=SHORT.lease, renew_every=SHORT.renew_every, grace=timedelta(minutes=5))
"""Of a replica that leaves the dead to others."""


@dataclass
class Three:
    """A replica that dies over its second message, one that watches, and one more."""

    watcher_times: ClaimTimes = PATIENT
    store: MemoryBlobStore = field(default_factory=MemoryBlobStore)
    users: MemoryBlobStore = field(default_factory=MemoryBlobStore)

    def __post_init__(self) -> None:
        self.way = FaultyBlobStore(self.store)
        self.one, self.two, self.three = (
            World(
                sessions=store,
                users=self.users,
                replica=FarReplica(),
                times=times,
                pace=PACE,
                is_promised=True,
            )
            for store, times in (
                (self.way, SHORT),
                (self.store, self.watcher_times),
                (self.store, SHORT),
            )
        )
        self.one.team.say = lambda _: ["First.", f"Second{ENDLESS}"]
        for other in (self.two, self.three):
            other.team.say = lambda _: ["First.", "Second, and whole."]

    async def watched_until_it_dies(self) -> Run:
        run = await self.one.submit("hello")
        shown = await self.two.scheduler.watch(CHAT, run.run_id, owner=OWNER)
        assert shown is not None
        await until(lambda: "Second" in said(shown.past()))
        self.way.always = Down()
        return shown


def assert_is_one_whole_run(told: Heard) -> None:
    """What a client is told makes sense as one run, whoever answered which part of it."""
    events = told.events
    assert isinstance(told.end, RunFinished)
    assert len([event for event in events if isinstance(event, RunStarted)]) == 1
    begun = Counter(e.message_id for e in events if isinstance(e, AgentMessageStarted))
    ended = Counter(e.message.message_id for e in events if isinstance(e, AgentMessageFinished))
    assert begun == ended
    assert set(begun.values()) == {1}
    for event in events:
        if isinstance(event, AgentMessageFinished):
            own = [e for e in events if isinstance(e, AgentTextDelta)]
            pieces = [e.text for e in own if e.message_id == event.message.message_id]
            assert "".join(pieces) == event.message.text
    open_steps: Counter[str] = Counter()
    for event in events:
        if isinstance(event, StepStarted):
            open_steps[event.step] += 1
        elif isinstance(event, StepFinished):
            open_steps[event.step] -= 1
        assert set(open_steps.values()) <= {0, 1}
    assert not +open_steps


@pytest.mark.slow
@pytest.mark.parametrize("is_long", [False, True])
async def test_a_run_that_a_third_replica_takes_over_goes_on_for_who_watches(
    is_long: bool,
) -> None:
    replicas = Three()
    if is_long:
        replicas.three.team.gate.clear()
    shown = await replicas.watched_until_it_dies()
    async with asyncio.timeout(30):
        while (taken := await replicas.three.scheduler.go_on(shown.message)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    if is_long:
        await until(lambda: shown.past().count(StepStarted("load")) == 2)
        assert not shown.is_finished
        replicas.three.team.gate.set()
    told = await heard(shown)
    assert told.texts == ["First.", f"Second{ENDLESS}", "Second, and whole."]
    assert_is_one_whole_run(told)
    assert taken.run_id == shown.run_id
    assert replicas.two.team.requests == []


@pytest.mark.slow
async def test_a_run_that_the_watching_replica_takes_over_itself_goes_on_too() -> None:
    replicas = Three(watcher_times=SHORT)
    shown = await replicas.watched_until_it_dies()
    told = await heard(shown)
    assert told.texts == ["First.", f"Second{ENDLESS}", "Second, and whole."]
    assert_is_one_whole_run(told)
    here = replicas.two.scheduler.find(CHAT, shown.run_id, owner=OWNER)
    assert here is not None
    assert (await heard(here)).texts == ["First.", "Second, and whole."]
