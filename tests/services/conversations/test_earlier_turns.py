"""A turn that died leaves its words where they belong; an answer is repeated, a history adopted."""

import asyncio
import json
from datetime import timedelta

import pytest

from data_models.conversations import turn_events
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.turn_events import Notice, RunFailed
from data_models.errors import ClaimLostError, CorruptDocumentError, StoreError
from data_models.identifiers import PatientId
from services.group_chat_port import GroupChatRequest
from services.views.conversation_reader import OwnedChat
from tests.durability.evidence import Evidence
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, ENDLESS, FarReplica, Heard, World, heard
from tests.tables import with_cases

TIMES = ClaimTimes(renew_every=timedelta(hours=1))


class Two:
    """A replica that stands still in the middle of a turn, and one that goes on."""

    def __init__(self) -> None:
        self.store, self.users, self.clock = MemoryBlobStore(), MemoryBlobStore(), FixedClock()
        self.paused, self.other = self._replica(), self._replica()

    def _replica(self) -> World:
        return World(
            sessions=self.store,
            users=self.users,
            clock=self.clock,
            times=TIMES,
            replica=FarReplica(),
        )

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.store.contents, CHAT)


@pytest.fixture
async def two() -> Two:
    two = Two()
    await two.paused.say("start a tumor board for patient_4, please")
    await two.paused.scheduler.idle()
    return two


@pytest.mark.slow
@with_cases("text", "kept_with")
async def test_a_process_that_wakes_after_its_lease_writes_nothing(
    two: Two, text: str, kept_with: str | None
) -> None:
    run = await two.paused.hold(text)
    await two.paused.scheduler.submit(two.paused.message("waits behind it"))
    two.clock.advance(36)
    told = await two.other.say("go on")
    await two.other.scheduler.idle()
    before = two.store.contents

    two.paused.team.gate.set()
    ended = (await heard(run)).end

    assert isinstance(ended, RunFailed)
    assert ended.code == "claim_lost"
    await two.paused.scheduler.idle()
    assert two.store.contents == before
    assert told.texts == ["Heard: go on"]
    (found,) = two.evidence.saying(text)
    assert (found.patient_id, found.turn.turn_status) == (kept_with, "FAILED")
    assert len(two.evidence.saying("waits behind it")) == 1


@pytest.mark.slow
async def test_a_claim_within_its_lease_is_not_taken_over(two: Two) -> None:
    run = await two.paused.hold("still at work")
    two.clock.advance(34)
    behind = await two.other.submit("behind it")
    two.paused.team.gate.set()
    assert (await heard(run)).texts == ["Heard: still at work"]
    assert (await heard(behind)).texts == ["Heard: behind it"]


async def test_a_switch_that_was_named_and_not_made_stays_with_the_session(two: Two) -> None:
    """Nobody could read it in the chart of a patient who is not in the roster."""
    claimant = two.paused.claimant
    message = two.paused.message("switch to patient_15")
    claim = await claimant.claim(await claimant.look(message, fresh=True), message, "run_dead")
    assert claim is not None
    await claim.name_patient(PatientId("patient_15"))
    registry = await two.paused.registries.read(CHAT, epoch=0, fresh=True)
    two.clock.advance(36)
    await two.other.say("go on")
    await two.other.scheduler.idle()
    (found,) = two.evidence.saying("switch to patient_15")
    assert found.patient_id is None
    assert list(two.evidence.registry.patient_registry) == ["patient_4"]
    with pytest.raises(StoreError):  # the old holder's registry is fenced, too
        await two.paused.registries.write(registry.document, etag=registry.etag)
    with pytest.raises(ClaimLostError):
        await claim.hold()


async def test_a_dead_turn_whose_chart_is_damaged_does_not_block_the_others(two: Two) -> None:
    await two.paused.hold("switch to patient_15 and tell me the stage")
    name = f"{CHAT}/patient_patient_15_context.json"
    await two.store.create(name, b"{")
    two.clock.advance(36)
    told = await two.other.say("switch to patient_4 and go on")
    await two.other.scheduler.idle()
    assert told.texts == ["Heard: switch to patient_4 and go on"]
    assert two.store.contents[name] == b"{"
    with pytest.raises(CorruptDocumentError):
        _ = two.evidence
    await two.store.delete(name)
    assert [each.patient_id for each in two.evidence.saying("tell me the stage")] == [None]


async def test_the_interruption_is_told_once(two: Two) -> None:
    await two.paused.hold("dies")
    two.clock.advance(36)
    told = [await two.other.say(text) for text in ("one", "two")]
    notices = [[e.kind for e in each.events if isinstance(e, Notice)] for each in told]
    assert [each.count("interrupted") for each in notices] == [1, 0]


@pytest.mark.slow
async def test_of_two_who_would_take_over_at_once_one_does(two: Two) -> None:
    await two.paused.hold("switch to patient_15 and tell me the stage")
    await asyncio.sleep(0.01)  # until it stands still
    two.clock.advance(36)
    third = two._replica()
    told = await asyncio.gather(two.other.say("one"), third.say("other"))
    assert [each.texts for each in told] == [["Heard: one"], ["Heard: other"]]
    await two.other.scheduler.idle()
    await third.scheduler.idle()
    fences = {str(each.patient_id): each.fence for each in two.evidence.contexts()}
    assert fences["patient_15"] >= 1  # one of them may have to begin again
    assert len(two.evidence.saying("tell me the stage")) == 1


async def test_what_is_left_of_a_finished_queue_is_swept(two: Two) -> None:
    await two.paused.hold("runs")
    await two.paused.submit("waits")
    left = two.store.contents[f"{CHAT}/inbox/0.json"]
    two.paused.team.gate.set()
    await two.paused.scheduler.idle()
    await two.store.create(f"{CHAT}/inbox/0.json", left)  # as if it had died before deleting it
    await two.paused.hold("dies")
    two.clock.advance(36)
    await two.other.say("go on")
    await two.other.scheduler.idle()
    assert [name for name in two.store.contents if "/inbox/" in name] == []
    assert len(two.evidence.saying("waits")) == 1


async def test_the_question_of_before_ends_with_the_turn_that_was_to_answer(two: Two) -> None:
    await two.paused.say("please clear all patients")
    await two.paused.scheduler.idle()
    assert two.evidence.conversation.open_question is not None
    await two.paused.hold("no, what was the stage?")
    two.clock.advance(36)
    behind = two.other.message("yes")
    await heard(await two.other.scheduler.submit(behind))
    await two.other.scheduler.idle()
    assert two.evidence.conversation.epoch == 0


@pytest.fixture
def world() -> World:
    return World(sessions=MemoryBlobStore())


def restarted(world: World) -> World:
    return World(sessions=world.sessions, users=world.users)


async def told(world: World, text: str, message_id: str) -> Heard:
    return await world.tell(text, message_id=message_id)


async def repeated(world: World, text: str, message_id: str) -> Heard:
    again = await told(world, text, message_id)
    assert again.run.replayed
    return again


def notices(heard: Heard) -> list[turn_events.Notice]:
    return [event for event in heard.events if isinstance(event, turn_events.Notice)]


@pytest.mark.slow
async def test_at_once_after_a_restart_and_after_a_switch(world: World) -> None:
    first = await told(world, "start a tumor board for patient_4", "m1")
    assert (await repeated(world, "whatever it says now", "m1")).texts == first.texts
    world = restarted(world)
    assert (await repeated(world, "start a tumor board for patient_4", "m1")).texts == first.texts
    await told(world, "switch to patient_15", "m2")
    again = await repeated(world, "start a tumor board for patient_4", "m1")
    assert (again.texts, again.run.run_id) == (first.texts, first.run.run_id)
    assert world.team.requests == []


async def test_under_another_patient_it_says_first_whom_it_is_about(world: World) -> None:
    await told(world, "start a tumor board for patient_4", "m1")
    again = await repeated(world, "start a tumor board for patient_4", "m1")
    assert notices(again) == []
    await told(world, "switch to patient_15", "m2")
    again = await repeated(restarted(world), "start a tumor board for patient_4", "m1")
    (notice,) = notices(again)
    assert notice.text == (
        "This repeats an earlier answer about `patient_4`; `patient_15` is active now."
    )
    begun = next(
        event for event in again.events if isinstance(event, turn_events.AgentMessageStarted)
    )
    assert again.events.index(notice) < again.events.index(begun)


async def test_after_a_clear_it_says_so_and_shows_nothing_of_the_archive(world: World) -> None:
    await told(world, "start a tumor board for patient_4", "m1")
    await told(world, "clear", "m2")
    again = await repeated(world, "start a tumor board for patient_4", "m1")
    assert "cleared since" in again.texts[0]
    assert "patient_4" not in again.texts[0]
    assert isinstance((await repeated(world, "clear", "m2")).end, turn_events.RunFinished)


async def test_a_turn_that_failed_is_told_as_failed(world: World) -> None:
    def fail(_: GroupChatRequest) -> list[str]:
        raise ZeroDivisionError("a patient's words")

    world.team.say = fail
    first = await told(world, "hello", "m1")
    assert isinstance(first.end, turn_events.RunFailed)
    again = await repeated(restarted(world), "hello", "m1")
    assert again.end == first.end
    assert "patient's words" not in str(again.events)


async def test_a_turn_that_was_cut_off_is_told_as_far_as_it_was_shown(world: World) -> None:
    world.team.say = lambda _: ["First.", f"Second{ENDLESS}"]
    world.team.gate.set()
    await world.submit("hello", message_id="m1")
    await world.scheduler.drain(seconds=0.05)
    again = await repeated(restarted(world), "hello", "m1")
    assert again.texts == ["First.", f"Second{ENDLESS}"]
    assert isinstance(again.end, turn_events.RunFailed)
    assert again.end.code == "interrupted"


@pytest.mark.slow
async def test_a_long_answer_is_repeated_whole_after_it_left_the_document(world: World) -> None:
    world.team.say = lambda request: [f"{request.text}: " + "long " * 3_000]
    firsts = [await told(world, f"question {number}", f"m{number}") for number in range(8)]
    world = restarted(world)
    for number, first in enumerate(firsts):
        assert (await repeated(world, f"question {number}", f"m{number}")).texts == first.texts


async def test_the_same_id_of_another_sender_is_another_message(world: World) -> None:
    await told(world, "hello", "m1")
    other = world.message("hello from bob", message_id="m1")
    sender = other.sender.model_copy(update={"principal_id": "bob"})
    run = await world.scheduler.submit(other.model_copy(update={"sender": sender}))
    await run.wait()
    assert not run.replayed


@pytest.mark.slow
async def test_three_hundred_messages_later_the_first_is_still_known(world: World) -> None:
    for number in range(300):
        await told(world, f"message {number}", f"m{number}")
    world = restarted(world)
    assert (await repeated(world, "again", "m0")).texts == ["Heard: message 0"]
    assert (await repeated(world, "again", "m299")).texts == ["Heard: message 299"]


LEGACY = f"{CHAT}/chat_context.json"
ROWS = [
    {"role": "system", "content": "PATIENT_CONTEXT_JSON: {}"},
    {"role": "user", "content": "what of patient_4?"},
    {"role": "assistant", "name": "Radiology", "content": "A mass."},
    {"role": "user", "items": [{"text": "and"}, {"text": "now?"}]},
    {"role": "assistant", "content": "Nothing new."},
]


def evidence(store: MemoryBlobStore) -> Evidence:
    return Evidence(store.contents, CHAT)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["list", "text"])
async def test_it_is_adopted_by_the_session_and_put_away(store: MemoryBlobStore, form: str) -> None:
    history: object = ROWS if form == "list" else json.dumps({"messages": ROWS})
    original = json.dumps({"chat_history": history}).encode()
    await store.create(LEGACY, original)
    world = World(sessions=store)

    await world.tell("hello")

    turns = [each.turn for each in evidence(store).turns()]
    assert [turn.user_message for turn in turns] == ["what of patient_4?", "and\nnow?", "hello"]
    assert [turn.turn_id for turn in turns] == [1, 2, 3]
    assert [a.text for turn in turns[:2] for a in turn.agent_responses] == [
        "A mass.",
        "Nothing new.",
    ]
    assert {each.patient_id for each in evidence(store).turns()} == {None}
    copies = [name for name in store.contents if "chat_archived.json" in name]
    assert [store.contents[name] for name in copies] == [original]
    assert LEGACY not in store.contents


@pytest.mark.slow
async def test_no_patient_of_the_conversation_is_shown_any_of_it(store: MemoryBlobStore) -> None:
    await store.create(LEGACY, json.dumps({"chat_history": ROWS}).encode())
    world = World(sessions=store)
    await world.say("start a tumor board for patient_4")
    assert list(world.team.requests[-1].history) == []


async def test_a_long_one_is_kept_whole(store: MemoryBlobStore) -> None:
    rows = [
        row
        for number in range(60)
        for row in (
            {"role": "user", "content": f"question {number} " + "q" * 9_000},
            {"role": "assistant", "content": f"answer {number} " + "a" * 9_000},
        )
    ]
    await store.create(LEGACY, json.dumps({"chat_history": rows}).encode())
    world = World(sessions=store)
    await world.say("hello")
    page = await world.reader.messages(OwnedChat(CHAT, "alice", "session"), limit=100)
    asked = [turn.user_message for turn in page.turns]
    assert asked == [*[row["content"] for row in rows if row["role"] == "user"], "hello"]
    told = [answer.text for turn in page.turns[:-1] for answer in turn.agent_responses]
    assert told == [row["content"] for row in rows if row["role"] == "assistant"]


@pytest.mark.slow
async def test_a_turn_that_died_before_does_not_hide_it(store: MemoryBlobStore) -> None:
    world = World(sessions=store)
    await world.hold("dies here")
    await store.create(LEGACY, json.dumps({"chat_history": ROWS}).encode())
    survivor = World(sessions=store, users=world.users)
    await survivor.tell("hello")
    said = {each.turn.user_message for each in evidence(store).turns()}
    assert said == {"dies here", "what of patient_4?", "and\nnow?", "hello"}


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"chat_history": 5}', b'{"chat_history": "no"}', b"[" * 100_000],
    ids=["empty", "list", "no history", "number", "no json", "deep"],
)
async def test_one_of_an_unknown_shape_is_refused_and_left_in_place(
    store: MemoryBlobStore, data: bytes
) -> None:
    await store.create(LEGACY, data)
    world = World(sessions=store)
    ended = (await world.say("hello")).end
    assert isinstance(ended, RunFailed)
    assert ended.code == CorruptDocumentError.code
    assert store.contents[LEGACY] == data
