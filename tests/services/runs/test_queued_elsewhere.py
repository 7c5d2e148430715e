"""A message that waits at one replica is watched from another, until it is answered anywhere."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.turn_events import Notice, RunFinished
from services.runs.hub import Run
from tests.faults import Down
from tests.services.runs.test_elsewhere import OWNER, SHORT, Pair
from tests.services.world import CHAT, Heard, heard

pytestmark = pytest.mark.slow

EAGER = ClaimTimes(renew_every=timedelta(seconds=0.02))
"""The replica that runs a turn soon sees what is queued at others."""


@dataclass
class Queue(Pair):
    """The first replica answers one message, and another waits there."""

    times: ClaimTimes = field(default_factory=lambda: EAGER)

    async def fill(self) -> tuple[Run, Run]:
        self.one.team.gate.clear()
        return await self.one.submit("first"), await self.one.submit("second")


def kinds(told: Heard) -> list[str]:
    return [type(event).__name__ for event in told.events]


async def test_who_asks_elsewhere_for_a_message_that_waits_is_told_so_and_shown_its_answer() -> (
    None
):
    queue = Queue()
    _, waits = await queue.fill()
    shown = await queue.resumed(waits)
    assert shown is not waits
    assert shown.message.text == "second"
    (notice,) = shown.past()
    assert isinstance(notice, Notice)
    assert notice.kind == "queued"
    queue.one.team.gate.set()
    told = await heard(shown)
    assert told.texts == ["Heard: second"]
    assert isinstance(told.end, RunFinished)
    assert kinds(told).count("RunStarted") == kinds(told).count("Notice") == 1
    assert queue.two.team.requests == [], "it was answered where it waited"


async def test_it_is_answered_where_it_is_watched_if_the_replica_dies_where_it_waited() -> None:
    queue = Queue(times=SHORT)
    _, waits = await queue.fill()
    shown = await queue.resumed(waits)
    queue.way.always = Down()
    told = await heard(shown)
    assert told.texts == ["Heard: second"]
    assert [request.text for request in queue.two.team.requests] == ["second"]
    queue.one.team.gate.set()
    await queue.one.scheduler.drain(seconds=0)


async def test_those_who_ask_there_share_what_they_are_shown_and_one_who_says_it_again_does() -> (
    None
):
    queue = Queue()
    _, waits = await queue.fill()
    one, other = await asyncio.gather(queue.resumed(waits), queue.resumed(waits))
    assert one is other
    again = await queue.two.submit("second", message_id=waits.message.message_id)
    assert again is one
    queue.one.team.gate.set()
    await heard(one)
    assert [request.text for request in queue.one.team.requests] == ["first", "second"]


@pytest.mark.parametrize(
    ("chat", "owner", "is_known"),
    [(CHAT, "mallory", True), ("chat_2", OWNER, True), (CHAT, OWNER, False)],
)
async def test_nobody_else_is_told_that_one_waits(chat: str, owner: str, is_known: bool) -> None:
    queue = Queue()
    _, waits = await queue.fill()
    run_id = waits.run_id if is_known else "run_other"
    assert await queue.two.scheduler.watch(chat, run_id, owner=owner) is None
    queue.one.team.gate.set()
    await heard(waits)


async def test_a_replica_that_stops_sends_who_waits_elsewhere() -> None:
    queue = Queue()
    _, waits = await queue.fill()
    shown = await queue.resumed(waits)
    await queue.two.scheduler.drain(seconds=0)
    told = await heard(shown)
    assert "RunFailed" in kinds(told)
    assert await queue.two.scheduler.watch(CHAT, waits.run_id, owner=OWNER) in (shown, None)
    queue.one.team.gate.set()
    assert (await heard(waits)).texts == ["Heard: second"]
