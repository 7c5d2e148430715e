"""A run is asked for at a replica that does not run it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.turn_events import AgentTextDelta, RunFailed, RunFinished, TurnEvent
from data_models.storage.blob_store import BlobStore
from services.runs.hub import Run
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.given import present
from tests.services.world import CHAT, ENDLESS, FarReplica, World, heard
from tests.waiting import until

OWNER = "alice"
SHORT = ClaimTimes(
    lease=timedelta(seconds=2), renew_every=timedelta(seconds=0.1), grace=timedelta(seconds=0.2)
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
        return World(
            sessions=store, users=self.users, replica=replica, times=self.times, look_seconds=0.05
        )

    async def resumed(self, run: Run, *, owner: str = OWNER) -> Run:
        """Watch at the second replica what runs at the first."""
        return present(await self.two.scheduler.watch(CHAT, run.run_id, owner=owner))


def said(events: Iterable[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, AgentTextDelta))


@pytest.mark.slow
async def test_what_another_replica_answers_is_shown_once_its_answer_is_stored() -> None:
    pair = Pair()
    pair.one.team.say = lambda _: ["First.", "Second."]
    run = await pair.one.hold("hello")
    shown = await pair.resumed(run)
    assert shown is await pair.resumed(run), "those who ask share it"
    assert (shown.message.text, list(shown.past())) == ("hello", [])
    pair.one.team.gate.set()
    told = await heard(shown)
    assert told.texts == ["First.", "Second."]
    assert isinstance(told.end, RunFinished)
    assert pair.two.team.requests == []
    await pair.one.scheduler.drain(seconds=5)
    assert not [name for name in pair.users.contents if name.startswith("bells/")]


@pytest.mark.slow
async def test_it_is_answered_where_it_is_watched_if_its_replica_dies() -> None:
    pair = Pair(times=SHORT)
    pair.one.team.say = lambda _: ["First.", f"Second{ENDLESS}"]
    pair.two.team.say = lambda _: ["First.", "Second, and whole."]
    run = await pair.one.submit("hello")
    shown = await pair.resumed(run)
    await until(lambda: "Second" in said(run.past()))
    pair.way.always = Down()
    told = await heard(shown)
    # What was kept is kept by the watcher's replica, and the next message is answered there.
    assert isinstance(told.end, RunFailed)
    assert told.end.code == "interrupted"
    pair.two.team.say = lambda request: [f"Heard: {request.text}"]
    assert (await pair.two.say("what now?")).texts == ["Heard: what now?"]


@pytest.mark.slow
async def test_a_turn_that_is_given_up_and_left_unanswered_ends_for_who_watches() -> None:
    pair = Pair()
    run = await pair.one.hold("hello")
    shown = await pair.resumed(run)
    stored = present(await pair.two.conversations.read(CHAT, fresh=True))
    stored.document.running_turn = None
    await pair.two.conversations.write(stored.document, etag=stored.etag)
    told = await heard(shown)
    assert isinstance(told.end, RunFailed)
    pair.one.team.gate.set()
    await heard(run)


@pytest.mark.slow
async def test_a_short_turn_asks_storage_for_nothing_more() -> None:
    users = FaultyBlobStore(MemoryBlobStore())
    world = World(users=users)
    for number in range(20):
        await world.say(f"note {number}")
    await world.scheduler.idle()
    assert [each.name for each in users.operations if "bells" in each.name] == []


@pytest.mark.slow
async def test_only_the_owner_is_shown_a_run_and_only_by_its_own_id() -> None:
    pair = Pair()
    run = await pair.one.hold("hello")
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


@pytest.mark.slow
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


@pytest.mark.slow
async def test_a_message_sent_again_elsewhere_is_watched_and_not_queued() -> None:
    pair = Pair()
    run = await pair.one.hold("hello", message_id="m1")
    again = await pair.two.submit("hello", message_id="m1")
    assert again.run_id == run.run_id
    assert [name for name in pair.store.contents if "/inbox/" in name] == []
    pair.one.team.gate.set()
    assert (await heard(again)).texts == ["Heard: hello"]


async def test_a_run_that_is_over_is_not_known_elsewhere() -> None:
    pair = Pair()
    told = await pair.one.say("hello")
    await pair.one.scheduler.idle()
    assert await pair.two.scheduler.watch(CHAT, told.run.run_id, owner=OWNER) is None


async def test_what_a_dead_replica_left_of_a_run_goes_with_a_clear() -> None:
    pair = Pair()
    await pair.one.say("switch to patient_4")
    await pair.store.append(f"{CHAT}/watched/run_0/dead-0.jsonl", b"x\n", position=0)
    await pair.one.say("clear patient context")
    await pair.one.scheduler.idle()
    assert [name for name in pair.store.contents if "dead-0" in name] == []
