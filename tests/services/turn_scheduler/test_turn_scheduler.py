"""Messages of every channel are answered one at a time per conversation, and none is lost."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import get_args

import pytest

from data_models import errors
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.incoming_message import Press, Sender
from data_models.conversations.turn_events import (
    AgentTextDelta,
    Notice,
    RunFailed,
    RunFinished,
    StateChanged,
    Step,
    StepFinished,
    StepStarted,
)
from services.group_chat_port import GroupChatRequest
from services.runs.hub import Run
from services.views.conversation_reader import OwnedChat
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.given import present
from tests.services.world import CHAT, ENDLESS, OWNER, FarReplica, Heard, World, heard
from tests.waiting import until


def evidence(world: World, store: MemoryBlobStore, chat: str = CHAT) -> Evidence:
    return Evidence(store.contents, chat)


@pytest.mark.slow
async def test_twenty_conversations_side_by_side_keep_to_themselves() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    chats = [f"chat-{number}" for number in range(20)]

    async def talk(chat: str) -> list[Heard]:
        return [await world.say(f"note {turn} of {chat}!", chat=chat) for turn in range(5)]

    told = await asyncio.gather(*map(talk, chats))

    for chat, answers in zip(chats, told, strict=True):
        said = [f"note {turn} of {chat}!" for turn in range(5)]
        assert [text for each in answers for text in each.texts] == [f"Heard: {t}" for t in said]
        await world.scheduler.idle()
        turns = [each.turn for each in evidence(world, store, chat).turns()]
        assert [turn.user_message for turn in turns] == said
        assert [turn.turn_id for turn in turns] == [1, 2, 3, 4, 5]


@pytest.mark.slow
async def test_messages_that_wait_are_answered_in_the_order_they_came() -> None:
    world = World()
    world.team.gate.clear()
    runs = [await world.submit(f"number {number}") for number in range(6)]

    world.team.gate.set()
    ended = [await heard(run) for run in runs]

    assert [each.texts for each in ended] == [[f"Heard: number {n}"] for n in range(6)]
    assert [request.text for request in world.team.requests] == [f"number {n}" for n in range(6)]
    assert [kinds(each) for each in ended] == [[], *[["queued"]] * 5]


async def test_a_turn_shows_each_of_its_steps_once_and_in_their_order() -> None:
    world = World()
    await world.say("start with patient_4")

    events = (await world.say("what is the stage?")).events

    assert [each.step for each in events if isinstance(each, StepStarted)] == [*get_args(Step)]
    assert [each.step for each in events if isinstance(each, StepFinished)] == [*get_args(Step)]


@pytest.mark.slow
async def test_a_message_is_refused_when_twenty_wait() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    world.team.gate.clear()
    runs = [await world.submit(f"number {number}") for number in range(21)]

    with pytest.raises(errors.TooManyMessagesError) as refused:
        await world.submit("one too many")
    assert refused.value.user_message.startswith("20 messages")
    assert world.scheduler.waiting == 20
    world.team.gate.set()
    for run in runs:
        await heard(run)
    await world.scheduler.idle()

    assert evidence(world, store).saying("one too many") == []
    assert len(evidence(world, store).turns()) == 21
    assert world.scheduler.waiting == 0
    assert [name for name in store.contents if "/inbox/" in name] == []
    assert isinstance((await world.say("one too many")).end, RunFinished)


async def test_an_empty_and_an_endless_message_are_refused_before_anything_is_stored() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    with pytest.raises(errors.EmptyMessageError):
        await world.submit(" \n ")
    with pytest.raises(errors.MessageTooLongError) as refused:
        await world.submit("x" * 16_001)
    assert "16,000" in refused.value.user_message
    assert store.contents == {}


async def test_a_conversation_of_somebody_else_is_not_there() -> None:
    world = World()
    await world.say("mine")
    with pytest.raises(errors.NotFoundError):
        await world.scheduler.submit(world.message("yours", owner="mallory"))


async def test_the_same_message_while_it_runs_is_the_same_run() -> None:
    world = World()
    first = await world.hold("once", message_id="m1")
    waiting = await world.submit("twice", message_id="m2")

    assert await world.submit("once", message_id="m1") is first
    assert await world.submit("twice", message_id="m2") is waiting
    world.team.gate.set()
    await heard(waiting)
    assert len(world.team.requests) == 2


async def test_a_button_that_is_pressed_again_while_it_is_answered_is_pressed_once() -> None:
    world = World()
    world.team.gate.clear()
    press = Press(target_id="plan_1", answer="confirm")
    pressed = [
        world.message("Confirm", message_id=f"m{number}").model_copy(update={"press": press})
        for number in range(2)
    ]
    other = pressed[1].model_copy(update={"sender": Sender(principal_id="bob"), "message_id": "m3"})
    first, again, bobs = [await world.scheduler.submit(one) for one in (*pressed, other)]
    assert again is first
    assert bobs is not first
    world.team.gate.set()
    await heard(bobs)


async def test_the_same_message_from_many_at_once_starts_one_turn() -> None:
    world = World()
    runs = await asyncio.gather(*[world.submit("once", message_id="m1") for _ in range(10)])
    for run in runs:
        assert (await heard(run)).texts == ["Heard: once"]
    assert len(world.team.requests) == 1


async def test_stopping_keeps_what_was_shown() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    world.team.say = lambda request: ("First part.", f"Second part{ENDLESS}")
    run = await world.submit("tell me", message_id="m1")
    async for _, event in run.events():
        if isinstance(event, AgentTextDelta) and event.text.endswith(ENDLESS):
            break
    assert not await world.scheduler.stop(CHAT, owner="mallory")
    assert not await world.scheduler.stop(CHAT, owner="alice", run_id="another")
    assert await world.scheduler.stop(CHAT, owner="alice", run_id=run.run_id)
    ended = await heard(run)
    await world.scheduler.idle()

    assert isinstance(ended.end, RunFinished)
    assert ended.end.outcome == "cancelled"
    (found,) = evidence(world, store).saying("tell me")
    assert found.turn.turn_status == "STOPPED"
    shown = "".join(e.text for e in ended.events if isinstance(e, AgentTextDelta))
    assert shown == f"First part.Second part{ENDLESS}"
    assert "".join(answer.text for answer in found.turn.agent_responses) == shown
    assert (await world.say("tell me", message_id="m1")).texts == ended.texts


async def test_a_stopped_turn_makes_way_for_the_next() -> None:
    world = World()
    run = await world.hold("endless")
    behind = await world.submit("short")
    await asyncio.sleep(0.01)
    assert await world.scheduler.stop(CHAT, owner="alice")
    await heard(run)
    world.team.gate.set()
    assert (await heard(behind)).texts == ["Heard: short"]
    assert not await world.scheduler.stop(CHAT, owner="alice")


async def test_a_message_that_waits_is_withdrawn_and_nothing_else_is() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    running = await world.hold("long question about patient_4")
    wrong = await world.submit("open patient_15")
    behind = await world.submit("and what then?")
    assert not await world.scheduler.stop(CHAT, owner="mallory", run_id=wrong.run_id)
    assert await world.scheduler.stop(CHAT, owner="alice", run_id=wrong.run_id)
    world.team.gate.set()

    assert (await heard(running)).texts == ["Heard: long question about patient_4"]
    ended = await heard(wrong)
    assert isinstance(ended.end, RunFinished)
    assert (ended.end.outcome, ended.texts) == ("cancelled", [])
    assert (await heard(behind)).texts == ["Heard: and what then?"]
    view = await world.reader.view(OwnedChat(CHAT, "alice"))
    assert [row.patient_id for row in view.patients] == ["patient_4"]
    assert view.queued == 0


async def test_what_was_withdrawn_is_answered_by_no_replica_after_a_kill() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    await world.hold("long question about patient_4")
    yes = await world.submit("yes")
    assert evidence(world, store).queued != []

    assert await world.scheduler.stop(CHAT, owner="alice", run_id=yes.run_id)

    # What a kill now would leave behind: nothing to answer, though the running turn goes on.
    assert evidence(world, store).queued == []
    world.team.gate.set()
    ended = await heard(yes)
    assert isinstance(ended.end, RunFinished)
    assert (ended.end.outcome, ended.texts) == ("cancelled", [])
    assert (await world.say("and the next?")).texts == ["Heard: and the next?"]


@pytest.mark.slow
@pytest.mark.parametrize("asked_at", ["where it waits", "a third replica"])
async def test_what_waits_behind_a_turn_of_another_replica_is_withdrawn(asked_at: str) -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    worlds = [World(sessions=store, users=users, replica=FarReplica()) for _ in range(3)]
    runs_there, waits_here, third = worlds
    running = await runs_there.hold("long question about patient_4")
    wrong = await waits_here.submit("open patient_15")
    behind = await waits_here.submit("and what then?")
    asked = third if asked_at == "a third replica" else waits_here

    assert not await asked.scheduler.stop(CHAT, owner="mallory", run_id=wrong.run_id)
    assert await asked.scheduler.stop(CHAT, owner="alice", run_id=wrong.run_id)
    runs_there.team.gate.set()

    async with asyncio.timeout(60):
        assert (await heard(running)).texts == ["Heard: long question about patient_4"]
        ended = await heard(wrong)
        assert isinstance(ended.end, RunFinished)
        assert (ended.end.outcome, ended.texts) == ("cancelled", [])
        assert (await heard(behind)).texts == ["Heard: and what then?"]
        await waits_here.scheduler.idle()
    assert not await asked.scheduler.stop(CHAT, owner="alice", run_id=wrong.run_id)
    view = await waits_here.reader.view(OwnedChat(CHAT, "alice"))
    assert [row.patient_id for row in view.patients] == ["patient_4"]


async def test_what_cannot_be_taken_out_of_the_queue_is_answered_and_the_user_told() -> None:
    store = FaultyBlobStore(MemoryBlobStore())
    world = World(sessions=store)
    await world.hold("long question about patient_4")
    behind = await world.submit("and then?")
    store.always = Down()

    with pytest.raises(errors.StoreError):
        await world.scheduler.stop(CHAT, owner="alice", run_id=behind.run_id)

    store.always = None
    world.team.gate.set()
    assert (await heard(behind)).texts == ["Heard: and then?"]


async def test_a_watcher_that_goes_away_does_not_stop_the_turn() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    run = await world.hold("go on without me")
    watcher = asyncio.create_task(heard(run))
    await asyncio.sleep(0)
    watcher.cancel()
    world.team.gate.set()
    await world.scheduler.idle()
    assert [f.turn.turn_status for f in evidence(world, store).turns()] == ["COMPLETED"]


async def test_a_caller_that_goes_away_while_its_message_is_stored_leaves_no_dead_claim() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    submitting = asyncio.create_task(world.submit("gone at once"))
    await asyncio.sleep(0)
    submitting.cancel()
    await until(lambda: f"{CHAT}/session_context.json" in store.contents)
    await world.scheduler.idle()
    assert [f.turn.turn_status for f in evidence(world, store).turns()] == ["COMPLETED"]


async def test_draining_lets_turns_finish_and_takes_no_more() -> None:
    world = World()
    run = await world.hold("nearly done")
    draining = asyncio.create_task(world.scheduler.drain(seconds=5))
    await asyncio.sleep(0.01)
    with pytest.raises(errors.ServerStoppingError):
        await world.submit("too late")
    world.team.gate.set()
    await draining
    assert (await heard(run)).texts == ["Heard: nearly done"]


async def test_what_is_not_done_when_draining_ends_is_stored_as_interrupted() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    run = await world.hold("start a tumor board for patient_4, please")
    waiting = await world.submit("and then this")
    await asyncio.sleep(0.01)

    await world.scheduler.drain(seconds=0.05)

    ended = (await heard(run)).end
    assert isinstance(ended, RunFailed)
    assert ended.code == "interrupted"
    (found,) = evidence(world, store).saying("tumor board")
    assert (found.patient_id, found.turn.turn_status) == ("patient_4", "FAILED")
    assert isinstance((await heard(waiting)).end, RunFailed)
    assert [each.message.text for each in evidence(world, store).queued] == ["and then this"]

    after = World(sessions=store, users=world.users)
    told = await after.say("hello again")
    assert told.texts == ["Heard: hello again"]
    assert [r.text for r in after.team.requests] == ["and then this", "hello again"]


async def end_in_outage(world: World, store: FaultyBlobStore, text: str) -> RunFailed:
    """Return how a turn ends that cannot be stored; the store stays down."""
    run = await world.hold(text)
    await asyncio.sleep(0)
    store.always = Down()
    world.team.gate.set()
    ended = (await heard(run)).end
    assert isinstance(ended, RunFailed)
    return ended


async def test_a_claim_left_by_a_failed_store_is_taken_over_by_the_next_message() -> None:
    inner = MemoryBlobStore()
    store = FaultyBlobStore(inner)
    world = World(sessions=store)
    await world.tell("first")
    ended = await end_in_outage(world, store, "during the outage")
    assert ended.code == "store_unavailable"
    with pytest.raises(errors.StoreUnavailableError):
        await world.submit("still out")
    store.always = None

    told = await world.say("back again")
    again = await world.say("and again")

    assert told.texts == ["Heard: back again"]
    assert (kinds(told), kinds(again)) == (["interrupted"], [])
    await world.scheduler.idle()
    statuses = [(f.turn.user_message, f.turn.turn_status) for f in evidence(world, inner).turns()]
    assert sorted(statuses) == [
        ("and again", "COMPLETED"),
        ("back again", "COMPLETED"),
        ("during the outage", "FAILED"),
        ("first", "COMPLETED"),
    ]


def unanswered(request: GroupChatRequest) -> Sequence[str]:
    raise errors.ModelTimeoutError


async def test_what_went_wrong_is_told_in_the_language_of_the_message() -> None:
    store = FaultyBlobStore(MemoryBlobStore())
    world = World(sessions=store)
    ended = await end_in_outage(world, store, "wie ist das Stadium?")
    assert ended.text.startswith("Der Speicher ist gerade nicht erreichbar.")
    store.always = None
    told = await world.say("und wie alt ist die Patientin?")
    (notice,) = [e.text for e in told.events if isinstance(e, Notice) and e.kind == "interrupted"]
    assert notice.startswith("Der Server hielt an, während er diese Nachricht beantwortete.")
    world.team.say = unanswered
    failed = (await world.say("welche Medikamente nimmt sie?")).end
    assert isinstance(failed, RunFailed)
    assert failed.text.startswith("Das Sprachmodell brauchte zu lange.")


@pytest.mark.slow
async def test_a_watcher_behind_a_dead_turn_is_not_left_waiting() -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    times = ClaimTimes(
        lease=timedelta(seconds=0.2), renew_every=timedelta(seconds=0.05), grace=timedelta(0)
    )
    inner = FaultyBlobStore(store)
    first = World(sessions=inner, users=users, times=times, replica=FarReplica())
    second = World(sessions=store, users=users, times=times, replica=FarReplica())
    await first.hold("runs there")
    await asyncio.sleep(0.01)
    behind = await second.submit("waits here", message_id="m2")
    same = await second.submit("runs there, too", message_id="m3")
    inner.always = Down()  # the first replica is cut off for good

    told = [await asyncio.wait_for(heard(run), 60) for run in (behind, same)]

    assert [each.texts for each in told] == [["Heard: waits here"], ["Heard: runs there, too"]]
    first.team.gate.set()
    await first.scheduler.idle()
    await second.scheduler.idle()
    assert len(evidence(second, store).turns()) == 3


@pytest.mark.slow
async def test_a_message_queued_on_one_replica_may_be_answered_by_the_other() -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    first = World(sessions=store, users=users, replica=FarReplica())
    second = World(sessions=store, users=users, replica=FarReplica())
    orphans: list[Run] = []

    async def deliver(run: Run) -> None:
        orphans.append(run)

    first.scheduler.on_orphan("web", deliver)
    running = await first.hold("runs there")
    await asyncio.sleep(0.01)
    behind = await second.submit("came in here")
    first.team.gate.set()

    assert (await heard(running)).texts == ["Heard: runs there"]
    assert (await asyncio.wait_for(heard(behind), 60)).texts == ["Heard: came in here"]
    await first.scheduler.idle()
    await second.scheduler.idle()
    answered = [*first.team.requests, *second.team.requests]
    assert [request.text for request in answered] == ["runs there", "came in here"]
    assert [run.message.text for run in orphans] == [r.text for r in first.team.requests[1:]]


async def test_a_message_queued_at_a_number_that_the_queue_has_passed_is_not_lost() -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    first = World(sessions=store, users=users, replica=FarReplica())
    second = World(sessions=store, users=users, replica=FarReplica())
    await first.hold("runs")
    stale = present(await second.conversations.read(CHAT))
    await first.submit("waited")
    await first.submit("waited, too")
    first.team.gate.set()
    await first.scheduler.idle()
    await first.hold("runs now")

    await second.claimant.inbox.put(stale, second.message("came late"), "run_late")

    await first.submit("came later")
    first.team.gate.set()
    await first.scheduler.idle()
    texts = [request.text for request in first.team.requests]
    assert texts == ["runs", "waited", "waited, too", "runs now", "came late", "came later"]
    assert [name for name in store.contents if "/inbox/" in name] == []


@pytest.mark.slow
async def test_a_full_queue_that_a_dead_replica_left_is_worked_off() -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    dead = World(sessions=store, users=users, queue_depth=2)
    dead.team.gate.clear()
    for number in range(3):
        await dead.submit(f"number {number}")
    alive = World(sessions=store, users=users, queue_depth=2)

    with pytest.raises(errors.TooManyMessagesError):
        await alive.submit("one more")
    await alive.scheduler.idle()

    assert [request.text for request in alive.team.requests] == ["number 1", "number 2"]
    assert (await alive.say("one more")).texts == ["Heard: one more"]


async def test_what_another_replica_wrote_is_seen_at_the_next_message() -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    first = World(sessions=store, users=users, replica=FarReplica())
    second = World(sessions=store, users=users, replica=FarReplica())
    await first.say("start a tumor board for patient_4, please")
    await second.say("said elsewhere")
    # Whatever people read at the first replica must not make its memory of the chart look fresh.
    await first.reader.access(OwnedChat(CHAT, "alice"))
    await first.reader.list_of(owner="alice")

    told = await first.say("what was said?")

    assert told.texts == ["Heard: what was said?"]
    history = [turn.user_message for turn in first.team.requests[-1].history]
    assert history == ["start a tumor board for patient_4, please", "said elsewhere"]


def kinds(ended: Heard) -> list[str]:
    return [event.kind for event in ended.events if isinstance(event, Notice)]


async def test_the_time_to_restore_a_patient_is_told_where_one_was_restored() -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    first = World(sessions=store, users=users, replica=FarReplica())
    await first.say("review patient_4")
    known = await first.say("how are the labs?")
    far = World(sessions=store, users=users, replica=FarReplica())
    restored = await far.say("how are the labs?")
    ends = [each.end for each in (known, restored)]
    times = [end.timing.storage_fallback_ms for end in ends if isinstance(end, RunFinished)]
    assert (times[0] is None, times[1] is None) == (True, False)


async def test_clients_are_shown_what_the_decision_took() -> None:
    world = World()
    heard = await world.say("hello patient_4")
    (state,) = [event.state for event in heard.events if isinstance(event, StateChanged)][-1:]
    assert state.timing.service_total_ms is not None
    assert isinstance(heard.end, RunFinished)
    assert heard.end.timing.service_total_ms == state.timing.service_total_ms


async def test_what_another_system_says_waits_for_nothing_and_comes_behind_nothing() -> None:
    world = World()
    await world.tell("start with patient_4")

    async def seen() -> datetime:
        return (await world.reader.view(OwnedChat(CHAT, OWNER))).updated_at

    since = await seen()
    running = await world.hold("what is the stage?")
    assert await world.scheduler.submit_if_idle(world.message("open 7"), since=since) is None
    waiting = await world.submit("and the grade?")
    assert await world.scheduler.submit_if_idle(world.message("open 7"), since=since) is None
    world.team.gate.set()
    await heard(running)
    await heard(waiting)
    await world.scheduler.idle()

    # Idle again, but no more as it was when the other system looked.
    assert await world.scheduler.submit_if_idle(world.message("open 7"), since=since) is None
    run = present(await world.scheduler.submit_if_idle(world.message("hello!"), since=await seen()))
    assert (await heard(run)).texts == ["Heard: hello!"]
    assert [request.text for request in world.team.requests][-2:] == ["and the grade?", "hello!"]


async def test_what_another_system_says_begins_no_turn_while_another_replica_answers() -> None:
    store = MemoryBlobStore()
    world, far = World(sessions=store), World(sessions=store)
    await world.tell("start with patient_4")
    since = (await far.reader.view(OwnedChat(CHAT, OWNER))).updated_at
    running = await world.hold("what is the stage?")
    assert await far.scheduler.submit_if_idle(far.message("open 7"), since=since) is None
    world.team.gate.set()
    await heard(running)
