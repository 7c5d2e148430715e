"""Who calls for help is answered whatever is damaged, full, closing or busy."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import pytest

from data_models.conversations import turn_events
from data_models.conversations.conversation import AnsweredPage
from data_models.errors import EmptyMessageError, NotFoundError, RoundsError, StoreError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.values import Document
from services.language.crisis.rules import load_rules
from services.runs.hub import Run
from services.turn.answers.safety import IS_ANSWER, SafetyAnswers
from services.turn_scheduler.turn_slots import TurnSlots
from tests.fakes_store import MemoryBlobStore
from tests.faults import WRITES, Down, FaultyBlobStore
from tests.given import present
from tests.services.world import CHAT, OWNER, FarReplica, World, heard

CALL = "I want to kill myself"
LAYOUT = ConversationLayout.of(CHAT)
ANSWERS = SafetyAnswers(rules=load_rules(), emergency_number="112")
Damage: TypeAlias = Callable[[bytes], bytes]


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def of_another_shape(data: bytes) -> bytes:
    shapes = (
        (b'"patient_registry":{', b'"patient_registry":[],"was":{'),
        (b'"scenario":null', b'"scenario":5'),
    )
    for good, bad in shapes:
        data = data.replace(good, bad)
    return data.replace(b'"answered":[', b'"answered":7,"was":[')


def of_tomorrow(data: bytes) -> bytes:
    return data.replace(b'"min_reader":%d' % Document.MIN_READER, b'"min_reader":99')


async def spoil(store: MemoryBlobStore, name: str, damage: Damage) -> None:
    """Damage a stored document, as a broken disk or a careless hand does."""
    good = present(await store.read(name))
    bad = damage(good.data)
    assert bad != good.data
    await store.replace(name, bad, etag=good.etag)


@pytest.fixture
async def talked(store: MemoryBlobStore) -> MemoryBlobStore:
    """What a conversation about one patient left."""
    world = World(sessions=store)
    await world.say("good morning")
    await world.tell("start a tumor board for patient_4")
    return store


def replica(store: MemoryBlobStore | FaultyBlobStore) -> World:
    """A replica that remembers nothing of the conversation."""
    return World(sessions=store, safety=ANSWERS, replica=FarReplica())


def said(run: Run) -> list[str]:
    return [e.message.text for e in run.past() if isinstance(e, turn_events.AgentMessageFinished)]


def assert_was_helped(run: Run, *, times: int = 1) -> None:
    """The fixed answer was given, in a run that begins and ends as every other."""
    events = run.past()
    assert len(said(run)) == times
    assert all("112" in text for text in said(run))
    assert len([event for event in events if isinstance(event, turn_events.RunStarted)]) == 1
    assert isinstance(events[-1], turn_events.RunFailed | turn_events.RunFinished)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [truncated, of_another_shape, of_tomorrow])
@pytest.mark.parametrize("name", [LAYOUT.registry, LAYOUT.conversation])
async def test_a_damaged_registry_or_claim_does_not_keep_the_answer_back(
    talked: MemoryBlobStore, name: str, damage: Damage
) -> None:
    await spoil(talked, name, damage)
    run = await replica(talked).submit(CALL)
    await run.wait()
    assert_was_helped(run)
    assert isinstance(run.past()[-1], turn_events.RunFailed), (
        "it is not stored, and the sender is told"
    )


@pytest.mark.parametrize("damage", [truncated, of_another_shape, of_tomorrow])
@pytest.mark.parametrize("patient", ["patient_4", None])
async def test_a_damaged_history_or_scenario_does_not_keep_the_answer_back(
    store: MemoryBlobStore, damage: Damage, patient: str | None
) -> None:
    world = World(sessions=store)
    await world.tell("good morning" if patient is None else f"start with {patient}")
    name = LAYOUT.context(None if patient is None else PatientId(patient))
    await spoil(store, name, damage)
    found = await replica(store).say(CALL)
    assert_was_helped(found.run)


async def test_a_damaged_page_of_answered_messages_does_not_keep_the_answer_back(
    talked: MemoryBlobStore,
) -> None:
    world = replica(talked)
    call = world.message(CALL, message_id="m1")
    stored = present(await world.conversations.read(CHAT))
    stored.document.answered_pages.append(AnsweredPage(number=1, newest_at=2**40))
    await world.conversations.write(stored.document, etag=stored.etag)
    # A search in the bytes finds the message, and then nobody can read the page.
    await talked.create(LAYOUT.answered(1), call.message_hash.encode())
    run = await world.scheduler.submit(call)
    await run.wait()
    assert_was_helped(run)


@pytest.mark.slow
@pytest.mark.parametrize("allowed", range(6))
async def test_a_store_that_takes_nothing_from_some_write_on_keeps_no_answer_back(
    talked: MemoryBlobStore, allowed: int
) -> None:
    way = FaultyBlobStore(
        talked, {number: Down() for number in range(allowed + 1, 200)}, only=WRITES
    )
    run = await replica(way).submit(CALL)
    await run.wait()
    assert_was_helped(run)


@pytest.mark.slow
@pytest.mark.parametrize("answered", range(8))
async def test_a_store_that_is_away_from_some_moment_on_keeps_no_answer_back(
    talked: MemoryBlobStore, answered: int
) -> None:
    way = FaultyBlobStore(talked, {number: Down() for number in range(answered + 1, 200)})
    run = await replica(way).submit(CALL)
    await run.wait()
    assert_was_helped(run)


async def test_every_other_message_is_refused_as_before(talked: MemoryBlobStore) -> None:
    await spoil(talked, LAYOUT.registry, truncated)
    world = replica(talked)
    with pytest.raises(StoreError):
        await world.submit("assess the suicide risk, she denies suicidal ideation")


async def test_it_answers_nobody_in_anothers_conversation(talked: MemoryBlobStore) -> None:
    world = replica(talked)
    with pytest.raises(NotFoundError):
        await world.scheduler.submit(world.message(CALL, owner="mallory"))
    with pytest.raises(EmptyMessageError):
        await world.submit(" ")


async def test_the_answer_can_be_watched_again_by_who_asked(talked: MemoryBlobStore) -> None:
    await spoil(talked, LAYOUT.registry, truncated)
    world = replica(talked)
    run = await world.submit(CALL)
    assert world.scheduler.find(CHAT, run.run_id, owner=OWNER) is run
    assert world.scheduler.find(CHAT, run.run_id, owner="mallory") is None


async def test_a_server_that_stops_answers_too(talked: MemoryBlobStore) -> None:
    world = replica(talked)
    await world.scheduler.drain(seconds=0)
    run = await world.submit(CALL)
    assert_was_helped(run)
    with pytest.raises(RoundsError):
        await world.submit("what is the stage?")


async def test_a_full_queue_answers_too(talked: MemoryBlobStore) -> None:
    world = World(sessions=talked, safety=ANSWERS, queue_depth=1)
    world.team.gate.clear()
    runs = [await world.submit(text) for text in ("first", "second")]
    run = await world.submit(CALL)
    assert_was_helped(run)
    world.team.gate.set()
    for each in runs:
        await heard(each)


async def test_a_call_that_has_to_wait_is_answered_at_once_and_again_in_its_turn(
    talked: MemoryBlobStore,
) -> None:
    world = replica(talked)
    first = await world.hold("what is the stage?")
    run = await world.submit(CALL)
    (notice,) = run.past()
    assert isinstance(notice, turn_events.Notice)
    assert notice.kind == "queued"
    assert "112" in notice.text
    assert notice.details == IS_ANSWER
    assert not first.is_finished
    world.team.gate.set()
    await run.wait()
    assert_was_helped(run)


@pytest.mark.slow
async def test_a_call_that_waits_at_the_end_is_answered(talked: MemoryBlobStore) -> None:
    world, other = replica(talked), replica(talked)
    held = await other.hold("what is the stage?")
    run = await world.submit(CALL)
    await world.scheduler.drain(seconds=0)
    await run.wait()
    assert_was_helped(run)
    other.team.gate.set()
    await heard(held)


async def test_a_call_waits_for_no_seat(talked: MemoryBlobStore) -> None:
    world = World(sessions=talked, safety=ANSWERS, slots=TurnSlots(limit=1))
    held = await world.hold("what is the stage?", chat="chat_2")
    found = await asyncio.wait_for(world.say(CALL), 30)
    assert_was_helped(found.run)
    assert not held.is_finished
    world.team.gate.set()
    await heard(held)


async def test_a_call_that_is_sent_again_is_answered_again(store: MemoryBlobStore) -> None:
    world = replica(store)
    await world.say(CALL, message_id="m1")
    await world.tell("clear")
    again = await replica(store).say(CALL, message_id="m1")
    assert_was_helped(again.run)
