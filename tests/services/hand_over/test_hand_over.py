"""Should a replica die, another answers its message: once and in order."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from data_models.clock import SystemClock
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import RunFailed
from data_models.errors import CorruptDocumentError
from services.group_chat_port import QuestionAsked
from services.hand_over.hand_over import TAKEN_LIMIT, HandOver, TurnQueues, message_of, note_of
from services.runs.hub import Run
from services.telemetry.metrics import Metrics
from tests.durability.evidence import Evidence
from tests.fakes_queue import MemoryWorkQueue
from tests.fakes_store import MemoryBlobStore
from tests.faults import Delay, Down, FaultyBlobStore
from tests.services.world import CHAT, ENDLESS, FarReplica, World, heard
from tests.waiting import until

HIDDEN_SECONDS = 10
TIMES = ClaimTimes(
    lease=timedelta(seconds=8), renew_every=timedelta(seconds=0.5), grace=timedelta(seconds=1)
)
START = "start a tumor board for patient_4"


class Meter(Metrics):
    def __init__(self) -> None:
        self.outcomes: list[str] = []

    def count_hand_over(self, outcome: str) -> None:
        self.outcomes.append(outcome)


class ClockThatJumps(SystemClock):
    """The machine's clock, put forward as if the time in between had been waited for."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self._ahead

    def jump(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)


class Cluster:
    """Two replicas of different machines on one store, and the queue between them."""

    def __init__(self) -> None:
        self.store, users = MemoryBlobStore(), MemoryBlobStore()
        self.queue, self.poison, self.meter = MemoryWorkQueue(), MemoryWorkQueue(), Meter()
        self.lifeline = FaultyBlobStore(self.store)
        self.clock = ClockThatJumps()
        self.dying, self.other = (
            World(
                sessions=sessions,
                users=users,
                clock=self.clock,
                times=TIMES,
                replica=FarReplica(),
                is_promised=True,
            )
            for sessions in (self.lifeline, self.store)
        )
        self.settled: list[IncomingMessage] = []
        self.queues = TurnQueues(
            turns=self.queue,
            poison=self.poison,
            hidden_seconds=HIDDEN_SECONDS,
            renew_seconds=0.5,
        )
        self.watch = HandOver(queues=self.queues, scheduler=self.dying.scheduler, meter=self.meter)

    async def hear(self, text: str, *, message_id: str | None = None) -> IncomingMessage:
        """Have the replica that will die take a message, as its bot does."""
        message = self.dying.message(text, message_id=message_id)
        run = await self.dying.scheduler.submit(message)
        await self.watch.watch(message, asyncio.create_task(run.wait()))
        return message

    async def die(self) -> None:
        """Cut the first replica off: whatever it goes on with, nobody sees it.

        When this returns, its claim has expired and its notes have come up.
        """
        await self.watch.close()
        self.lifeline.always = Down()
        self.clock.jump(HIDDEN_SECONDS)
        self.queue.jump(HIDDEN_SECONDS)

    async def dies_once(self, text: str, is_done: Callable[[], bool]) -> IncomingMessage:
        """Have the first replica die over a message, at the moment when `is_done`."""
        self.lifeline.always = Delay(0.1)
        message = self.dying.message(text)
        await self.dying.scheduler.submit(message)
        await self.watch.watch(message, asyncio.Future())
        await until(is_done)
        await self.die()
        return message

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Run the other replica's worker."""
        worker = HandOver(
            queues=self.watch.queues,
            scheduler=self.other.scheduler,
            meter=self.meter,
            poll_seconds=0.05,
            look_again_seconds=0.05,
        )
        worker.on_settled(self._settle)
        worker.start()
        yield
        await worker.rest()

    async def until_empty(self) -> None:
        """Return once nothing is left in the queue."""
        async with asyncio.timeout(60):
            while await self.queue.length():  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def work_off(self) -> None:
        """Let the other replica work until nothing is left in the queue."""
        async with self.working():
            await self.until_empty()

    async def until_hidden_anew(self) -> None:
        """Return once a note was hidden again."""
        before = self.queue.hidden
        await until(lambda: self.queue.hidden != before)

    @property
    def turns(self) -> list[tuple[str, str, list[str]]]:
        """What is stored: words, status and answers, in order."""
        found = Evidence(self.store.contents, CHAT).turns()
        return [
            (
                each.turn.user_message,
                each.turn.turn_status,
                [one.text for one in each.turn.agent_responses],
            )
            for each in sorted(found, key=lambda each: each.turn.turn_id)
        ]

    @property
    def active(self) -> str | None:
        """Who is the active patient."""
        return Evidence(self.store.contents, CHAT).registry.active_patient_id

    async def _settle(self, message: IncomingMessage) -> None:
        self.settled.append(message)


@pytest.fixture
async def cluster() -> Cluster:
    cluster = Cluster()
    await cluster.dying.say(START)
    await cluster.dying.scheduler.idle()
    return cluster


async def test_a_dead_replicas_turn_is_answered_once_by_another(cluster: Cluster) -> None:
    cluster.dying.team.gate.clear()
    message = await cluster.hear("what was the stage?")
    await asyncio.sleep(0.05)
    await cluster.die()
    await cluster.work_off()
    assert cluster.turns[1:] == [
        ("what was the stage?", "COMPLETED", ["Heard: what was the stage?"])
    ]
    assert [one.message_id for one in cluster.settled] == [message.message_id]
    assert cluster.meter.outcomes == ["taken", "answered"]
    again = await heard(await cluster.other.scheduler.submit(message))
    assert (again.texts, len(cluster.other.team.requests)) == (["Heard: what was the stage?"], 1)


async def test_a_replica_that_stood_still_shows_nothing_of_what_another_answered(
    cluster: Cluster,
) -> None:
    cluster.dying.team.gate.clear()
    message = cluster.dying.message("what was the stage?")
    asleep = await cluster.dying.scheduler.submit(message)
    await cluster.watch.watch(message, asyncio.Future())
    await asyncio.sleep(0.05)
    await cluster.die()
    await cluster.work_off()
    cluster.lifeline.always = None
    cluster.dying.team.gate.set()  # it wakes, and its model's answer has come meanwhile
    woken = await heard(asleep)
    assert isinstance(woken.end, RunFailed)
    assert (woken.texts, woken.end.code) == ([], "claim_lost")


@pytest.mark.slow
async def test_what_waits_behind_it_is_answered_in_order(cluster: Cluster) -> None:
    cluster.dying.team.gate.clear()
    for number in range(4):
        await cluster.hear(f"question {number}")
    await cluster.die()
    await cluster.work_off()
    assert [(words, status) for words, status, _ in cluster.turns[1:]] == [
        (f"question {number}", "COMPLETED") for number in range(4)
    ]
    assert len(cluster.settled) == 4


@pytest.mark.slow
async def test_a_new_message_does_not_bury_the_one_a_replica_died_over(cluster: Cluster) -> None:
    cluster.dying.team.gate.clear()
    await cluster.hear("what was the stage?")
    await asyncio.sleep(0.05)
    await cluster.die()
    answer = await cluster.other.say("and the age?")
    await cluster.other.scheduler.idle()
    assert answer.texts == ["Heard: and the age?"]
    assert [(words, status) for words, status, _ in cluster.turns[1:]] == [
        ("what was the stage?", "COMPLETED"),
        ("and the age?", "COMPLETED"),
    ]


@pytest.mark.slow
async def test_while_a_replica_lives_nobody_takes_its_turn(cluster: Cluster) -> None:
    cluster.watch.queues = replace(cluster.queues, hidden_seconds=600, renew_seconds=0.05)
    cluster.dying.team.gate.clear()
    await cluster.hear("what was the stage?")
    async with cluster.working():
        for _ in range(3):  # longer than the note is hidden, had nobody renewed it
            await cluster.until_hidden_anew()
            cluster.queue.jump(400)
        await cluster.until_hidden_anew()
        assert cluster.other.team.requests == []
        cluster.dying.team.gate.set()
        await cluster.until_empty()
    assert cluster.meter.outcomes == []
    assert cluster.turns[1:] == [
        ("what was the stage?", "COMPLETED", ["Heard: what was the stage?"])
    ]


async def test_a_note_of_an_answered_message_is_settled_and_removed(cluster: Cluster) -> None:
    message = cluster.dying.message("what was the stage?")
    await heard(await cluster.dying.scheduler.submit(message))
    await cluster.queue.put(note_of(message), hidden_seconds=0)
    await cluster.work_off()
    assert [one.message_id for one in cluster.settled] == [message.message_id]
    assert cluster.other.team.requests == []


async def test_what_may_have_answered_our_question_is_not_said_twice(cluster: Cluster) -> None:
    asks = QuestionAsked("destructive_tool", "Cancel the call? yes / no", {"name": "call"})
    cluster.dying.team.also = lambda request: (asks,)
    await cluster.dying.say("cancel the call")
    await cluster.dying.scheduler.idle()
    cluster.dying.team.gate.clear()
    await cluster.hear("do so, it is not needed")
    await asyncio.sleep(0.05)
    await cluster.die()
    await cluster.work_off()
    assert ("do so, it is not needed", "FAILED", []) in cluster.turns
    assert cluster.other.team.requests == []


async def test_a_message_that_kills_every_replica_is_given_up(cluster: Cluster) -> None:
    message = cluster.dying.message("what was the stage?")
    await cluster.queue.put(note_of(message), hidden_seconds=0)
    for _ in range(TAKEN_LIMIT):
        assert len(await cluster.queue.take(limit=1, hidden_seconds=0)) == 1
    await cluster.work_off()
    assert cluster.meter.outcomes == ["taken", "poisoned"]
    (kept,) = await cluster.poison.take(limit=1, hidden_seconds=1)
    assert message_of(kept.body).message_id == message.message_id


async def test_a_note_that_is_not_ours_is_set_aside(cluster: Cluster) -> None:
    await cluster.queue.put("not a note", hidden_seconds=0)
    await cluster.work_off()
    assert (await cluster.poison.length(), cluster.meter.outcomes) == (1, ["taken", "poisoned"])


async def test_a_queue_that_is_down_costs_no_message(cluster: Cluster) -> None:
    cluster.queue.is_down = True
    message = await cluster.hear("what was the stage?")
    await cluster.dying.scheduler.idle()
    assert cluster.turns[-1][:2] == (message.text, "COMPLETED")


def test_a_note_holds_not_a_word_of_the_message() -> None:
    note = note_of(World().message("CANARY for patient_4"))
    assert "CANARY" not in note
    with pytest.raises(CorruptDocumentError):
        message_of("{}")


@pytest.mark.slow
async def test_a_switch_that_a_replica_died_over_is_not_made_back(cluster: Cluster) -> None:
    """Said again, "the other patient" would be the one that was left."""
    await cluster.dying.say("start a tumor board for patient_15")
    await cluster.dying.scheduler.idle()
    await cluster.dies_once("switch to the other patient", lambda: cluster.active == "patient_4")
    await cluster.work_off()
    assert cluster.active == "patient_4"
    (told,) = [texts for words, _, texts in cluster.turns if words == "switch to the other patient"]
    assert told == ["Switched to patient_4. What would you like to review?"]


@pytest.mark.slow
async def test_a_turn_that_was_stored_and_never_released_is_not_run_again(cluster: Cluster) -> None:
    stored = ("what was the stage?", "COMPLETED", ["Heard: what was the stage?"])
    message = await cluster.dies_once(stored[0], lambda: stored in cluster.turns)
    await cluster.work_off()
    assert cluster.turns[1:] == [stored]
    assert cluster.other.team.requests == []
    assert [one.message_id for one in cluster.settled] == [message.message_id]
    assert (await cluster.other.say("and the age?")).texts == ["Heard: and the age?"]


@pytest.mark.slow
async def test_a_clear_that_was_made_is_not_made_again(cluster: Cluster) -> None:
    def is_cleared() -> bool:
        kept = Evidence(cluster.store.contents, CHAT)
        return kept.conversation.epoch == 1 and kept.conversation.pending_clear is None

    await cluster.dies_once("clear", is_cleared)
    await cluster.work_off()
    assert Evidence(cluster.store.contents, CHAT).conversation.epoch == 1


@pytest.mark.slow
async def test_a_turn_goes_on_behind_what_was_stored_of_its_answer(cluster: Cluster) -> None:
    """Every message is stored once and shown once, whichever replica said it."""
    for world in (cluster.dying, cluster.other):
        world.team.say = lambda request: ["First.", f"Second{ENDLESS}", "Third."]
    begun = ("what was the stage?", "IN_PROGRESS", ["First."])
    message = await cluster.dies_once(begun[0], lambda: begun in cluster.turns)
    cluster.other.team.say = lambda request: ["First.", "Second.", "Third."]
    runs: list[Run] = []

    async def deliver(run: Run) -> None:
        runs.append(run)

    cluster.other.scheduler.on_orphan("web", deliver)
    await cluster.work_off()
    assert cluster.turns[1:] == [(begun[0], "COMPLETED", ["First.", "Second.", "Third."])]
    (request,) = cluster.other.team.requests
    assert [one.text for one in request.said] == ["First."]
    assert len(request.history) == 1
    assert [(await heard(run)).texts for run in runs] == [["First.", "Second.", "Third."]]
    again = await heard(await cluster.other.scheduler.submit(message))
    assert again.texts == ["First.", "Second.", "Third."]
