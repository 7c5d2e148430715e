"""A run is watched from a replica that does not run it, live and to its end."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from data_models.blob_store import BlobStore
from data_models.claim_decision import ClaimTimes
from data_models.incoming_message import IncomingMessage
from data_models.turn_events import (
    AgentTextDelta,
    RunFailed,
    RunFinished,
    RunStarted,
    TurnEvent,
)
from services.group_chat_port import GroupChatRequest
from services.run_journal.pace import Pace
from services.runs.hub import Run
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.services.world import CHAT, ENDLESS, FarReplica, World, heard

OWNER = "alice"
SHORT = ClaimTimes(
    lease=timedelta(seconds=2), renew_every=timedelta(seconds=0.1), grace=timedelta(seconds=0.2)
)
PACE = Pace(
    tick=0.02,
    young=0.05,
    signal=0.02,
    batch=0.03,
    kept=1.0,
    poll=0.02,
    silence=0.1,
    last_words=0.1,
    deserted=0.3,
)


@dataclass
class Pair:
    """Two replicas on one store; the first one's way to it may be cut."""

    store: MemoryBlobStore = field(default_factory=MemoryBlobStore)
    users: MemoryBlobStore = field(default_factory=MemoryBlobStore)
    times: ClaimTimes = field(default_factory=ClaimTimes)

    def __post_init__(self) -> None:
        self.way = FaultyBlobStore(self.store)
        self.one, self.two = self._world(self.way), self._world(self.store)

    def _world(self, store: BlobStore) -> World:
        replica = FarReplica()
        return World(sessions=store, users=self.users, replica=replica, times=self.times, pace=PACE)

    def journals(self) -> list[str]:
        return [name for name in self.store.contents if "/watched/" in name]

    async def resumed(self, run: Run, *, owner: str = OWNER) -> Run:
        """Watch at the second replica what runs at the first."""
        found = await self.two.scheduler.watch(CHAT, run.run_id, owner=owner)
        assert found is not None
        return found


async def until(condition: Callable[[], bool], *, seconds: float = 60.0) -> None:
    ends_at = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < ends_at, "it never came"
        await asyncio.sleep(0.02)


def said(events: Iterable[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, AgentTextDelta))


async def test_a_run_is_seen_live_elsewhere_and_to_its_end() -> None:
    pair = Pair()
    pair.one.team.say = lambda _: ["First.", "Second."]
    pair.one.team.gate.clear()
    run = await pair.one.submit("hello")
    shown = await pair.resumed(run)
    assert shown is not run
    assert shown.message.text == "hello"
    await until(lambda: len(shown.past()) > 1)
    assert isinstance(shown.past()[0], RunStarted)
    assert not shown.is_finished
    pair.one.team.gate.set()
    told = await heard(shown)
    assert list(told.events) == list(run.past())
    assert told.texts == ["First.", "Second."]
    await pair.one.scheduler.drain(seconds=5)
    assert pair.journals() == []
    assert not [name for name in pair.users.contents if name.startswith("signals/")]


async def test_two_who_watch_there_share_what_is_read() -> None:
    pair = Pair()
    pair.one.team.gate.clear()
    run = await pair.one.submit("hello")
    first, second = await asyncio.gather(pair.resumed(run), pair.resumed(run))
    assert first is second
    pair.one.team.gate.set()
    assert (await heard(first)).events == (await heard(second)).events


@pytest.mark.slow
async def test_a_turn_that_nobody_watches_elsewhere_writes_no_journal() -> None:
    pair = Pair()
    pair.one.team.gate.clear()
    run = await pair.one.submit("hello")
    await asyncio.sleep(0.3)  # long enough to look at the signal
    assert pair.journals() == []
    pair.one.team.gate.set()
    await heard(run)
    assert pair.journals() == []


@pytest.mark.slow
async def test_a_short_turn_asks_storage_for_nothing_more() -> None:
    users = FaultyBlobStore(MemoryBlobStore())
    world = World(users=users)
    for number in range(20):
        await world.say(f"note {number}")
    await world.scheduler.idle()
    assert [each.name for each in users.operations if "bells" in each.name] == []


async def test_only_the_owner_is_shown_a_run_and_only_by_its_own_id() -> None:
    pair = Pair()
    pair.one.team.gate.clear()
    run = await pair.one.submit("hello")
    assert await pair.two.scheduler.watch(CHAT, run.run_id, owner="mallory") is None
    assert await pair.two.scheduler.watch(CHAT, "run_other", owner=OWNER) is None
    assert await pair.two.scheduler.watch("chat_2", run.run_id, owner=OWNER) is None
    assert not await pair.two.scheduler.stop(CHAT, owner="mallory", run_id=run.run_id)
    shown = await pair.resumed(run)
    # Known here by now, and still nobody else's.
    assert await pair.two.scheduler.watch(CHAT, run.run_id, owner="mallory") is None
    assert await pair.two.scheduler.watch("chat_2", run.run_id, owner=OWNER) is None
    pair.one.team.gate.set()
    await heard(shown)


async def test_a_stop_reaches_the_replica_that_runs_the_turn() -> None:
    pair = Pair()
    pair.one.team.say = lambda _: [f"On and on{ENDLESS}"]
    run = await pair.one.submit("hello")
    shown = await pair.resumed(run)
    assert not await pair.two.scheduler.stop(CHAT, owner=OWNER, run_id="run_other")
    assert await pair.two.scheduler.stop(CHAT, owner=OWNER, run_id=run.run_id)
    told = await heard(shown)
    assert isinstance(told.end, RunFinished)
    assert told.end.outcome == "cancelled"
    await pair.one.scheduler.idle()
    assert not await pair.two.scheduler.stop(CHAT, owner=OWNER)


async def test_a_message_sent_again_elsewhere_is_watched_and_not_queued() -> None:
    pair = Pair()
    pair.one.team.gate.clear()
    run = await pair.one.submit("hello", message_id="m1")
    again = await pair.two.submit("hello", message_id="m1")
    assert again.run_id == run.run_id
    assert [name for name in pair.store.contents if "/inbox/" in name] == []
    pair.one.team.gate.set()
    assert (await heard(again)).texts == ["Heard: hello"]


async def test_a_run_whose_journal_breaks_off_is_told_from_its_stored_answer() -> None:
    pair = Pair()
    pair.one.team.say = lambda _: ["First.", "Second, and long."]
    pair.one.team.gate.clear()
    run = await pair.one.submit("hello")
    shown = await pair.resumed(run)
    await until(lambda: len(shown.past()) > 1)
    # As if an older release ran it from here on: nothing more is written down.
    for name in pair.journals():
        await pair.store.delete(name)
    pair.one.team.gate.set()
    told = await heard(shown)
    assert told.texts == ["First.", "Second, and long."]
    assert said(told.events) == "First.Second, and long."
    assert isinstance(told.end, RunFinished)
    assert len([event for event in told.events if isinstance(event, RunStarted)]) == 1


@pytest.mark.slow
async def test_a_run_whose_replica_dies_ends_for_who_watches() -> None:
    pair = Pair(times=SHORT)
    pair.one.team.say = lambda _: ["First.", f"Second{ENDLESS}"]
    run = await pair.one.submit("hello")
    shown = await pair.resumed(run)
    await until(lambda: "Second" in said(shown.past()))
    pair.way.always = Down()
    told = await heard(shown)
    assert isinstance(told.end, RunFailed)
    assert told.end.code == "interrupted"
    assert said(told.events).startswith("First.Second")
    # What was kept is kept by the watcher's replica, and the next message is answered there.
    stored = await pair.two.conversations.read(CHAT, fresh=True)
    assert stored is not None
    assert stored.document.running_turn is None
    assert [row.run_id for row in stored.document.answered] == [run.run_id]
    assert (await pair.two.say("what now?")).texts == ["Heard: what now?"]


async def test_a_run_that_is_over_is_not_known_elsewhere() -> None:
    pair = Pair()
    told = await pair.one.say("hello")
    await pair.one.scheduler.idle()
    assert await pair.two.scheduler.watch(CHAT, told.run.run_id, owner=OWNER) is None


@pytest.mark.slow
async def test_a_run_that_nobody_watches_any_more_is_read_no_further() -> None:
    pair = Pair()
    pair.one.team.gate.clear()
    run = await pair.one.submit("hello")
    shown = await pair.resumed(run)
    watching = asyncio.create_task(heard(shown))
    await until(lambda: len(shown.past()) > 1)
    watching.cancel()
    await until(lambda: pair.two.scheduler.find(CHAT, run.run_id, owner=OWNER) is None)
    pair.one.team.gate.set()
    again = await pair.two.scheduler.watch(CHAT, run.run_id, owner=OWNER)
    if again is not None:  # else it has ended meanwhile
        assert (await heard(again)).texts == ["Heard: hello"]


async def test_what_a_dead_replica_left_of_a_run_goes_with_a_clear() -> None:
    pair = Pair()
    await pair.one.say("switch to patient_4")
    await pair.store.append(f"{CHAT}/watched/run_0/dead-0.jsonl", b"x\n", position=0)
    await pair.one.say("clear patient context")
    await pair.one.scheduler.idle()
    assert [name for name in pair.store.contents if "dead-0" in name] == []


@pytest.mark.slow
async def test_a_bot_message_is_shown_only_by_the_replica_that_delivers_its_answer() -> None:
    pair = Pair(times=ClaimTimes(renew_every=timedelta(seconds=0.02)))
    second = asyncio.Event()

    async def pause(request: GroupChatRequest) -> None:
        if request.text == "second":
            await second.wait()

    def of_bot(world: World, text: str) -> IncomingMessage:
        return world.message(text).model_copy(update={"channel": "bot", "channel_id": "msteams"})

    pair.one.team.first = pause
    pair.one.team.gate.clear()
    await pair.one.scheduler.submit(of_bot(pair.one, "first"))
    run = await pair.two.scheduler.submit(of_bot(pair.two, "second"))
    await asyncio.sleep(0.5)  # the first one's replica renews its claim, and sees who waits
    pair.one.team.gate.set()
    await until(lambda: len(pair.one.team.requests) == 2)
    await asyncio.sleep(0.8)  # long enough to look whether it runs elsewhere
    assert not any(isinstance(event, RunStarted) for event in run.past())
    second.set()
    await heard(run)
    assert run.replayed


@pytest.mark.slow
async def test_a_message_that_waited_here_and_is_answered_elsewhere_is_seen_as_it_grows() -> None:
    pair = Pair(times=ClaimTimes(renew_every=timedelta(seconds=0.02)))
    second = asyncio.Event()

    async def pause(request: GroupChatRequest) -> None:
        if request.text == "second":
            await second.wait()

    pair.one.team.first = pause
    pair.one.team.gate.clear()
    await pair.one.submit("first")
    run = await pair.two.submit("second")
    await asyncio.sleep(0.5)  # the first one's replica renews its claim, and sees who waits
    pair.one.team.gate.set()
    await until(lambda: any(isinstance(event, RunStarted) for event in run.past()))
    assert [request.text for request in pair.one.team.requests] == ["first", "second"]
    assert not run.is_finished
    second.set()
    told = await heard(run)
    assert told.texts == ["Heard: second"]
    assert len([event for event in told.events if isinstance(event, RunStarted)]) == 1
    assert pair.two.team.requests == []
