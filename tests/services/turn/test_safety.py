"""A call for help is answered before anything else, and stored where it belongs."""

import pytest

from data_models.chat_context import ChatContext
from data_models.conversations.turn_events import (
    AgentMessageFinished,
    RunFailed,
    RunFinished,
    SharedState,
    StateChanged,
)
from data_models.errors import StoreUnavailableError
from services.audit.trail import AuditEntry
from services.language.crisis.rules import load_other_rules, load_rules
from services.memory_blocks.history import context_summary, last_intent, next_topics
from services.runs.hub import Run
from services.turn.answers.safety import SafetyAnswers
from services.turn.reading import footer_of
from services.views.conversation_reader import OwnedChat
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World, heard

CALL = "I want to kill myself"


class LostAudit:
    """A trail whose disk is full."""

    def __init__(self) -> None:
        self.is_full = False

    async def record(self, entry: AuditEntry) -> None:
        if self.is_full:
            raise StoreUnavailableError("the disk is full")

    async def close(self) -> None:
        return None


@pytest.fixture
def audit() -> LostAudit:
    return LostAudit()


@pytest.fixture
async def world(store: MemoryBlobStore, audit: LostAudit) -> World:
    answers = SafetyAnswers(
        rules=load_rules(), emergency_number="999", crisis_line="Samaritans, 116 123"
    )
    world = World(sessions=store, safety=answers, audit=audit)
    await world.tell("start a tumor board for patient_4")
    return world


def context_of(store: MemoryBlobStore, patient_id: str | None) -> ChatContext:
    found = Evidence(store.contents, CHAT).contexts()
    return next(one for one in found if one.patient_id == patient_id)


async def test_the_fixed_answer_names_the_local_number_and_no_agent_is_asked(world: World) -> None:
    asked = len(world.team.requests)
    found = await world.say(CALL)
    assert isinstance(found.end, RunFinished)
    (text,) = found.texts
    assert "999" in text
    assert "Samaritans, 116 123" in text
    assert len(world.team.requests) == asked


async def test_a_german_call_is_answered_in_german(store: MemoryBlobStore) -> None:
    answers = SafetyAnswers(
        rules=load_rules(), others=load_other_rules(), crisis_line="Telefonseelsorge, 116 123"
    )
    found = await World(sessions=store, safety=answers).say("Ich will mich umbringen")

    assert "rufen Sie jetzt 112 an" in found.texts[0]
    assert "Zum Reden: Telefonseelsorge, 116 123." in found.texts[0]


async def test_it_is_stored_with_the_active_patient_as_the_answer_of_its_turn(
    world: World, store: MemoryBlobStore
) -> None:
    found = await world.tell(CALL)
    turn = context_of(store, "patient_4").chat_history[-1]
    assert turn.user_message == CALL
    assert turn.turn_status == "COMPLETED"
    assert [answer.text for answer in turn.agent_responses] == found.texts


async def test_a_call_that_names_somebody_else_goes_to_the_session_and_switches_nobody(
    world: World, store: MemoryBlobStore
) -> None:
    await world.tell("patient_15 is my name and I want to kill myself")
    assert "patient_15" in context_of(store, None).chat_history[-1].user_message
    assert len(context_of(store, "patient_4").chat_history) == 1
    assert (await world.reader.view(OwnedChat(CHAT, "alice"))).patient_id == "patient_4"


async def test_before_any_patient_it_is_answered_too(store: MemoryBlobStore) -> None:
    world = World(sessions=store, safety=SafetyAnswers(rules=load_rules()))
    found = await world.say("I just took a whole bottle of tylenol")
    assert "112" in found.texts[0]
    await world.scheduler.idle()
    assert len(context_of(store, None).chat_history) == 1


async def test_talk_about_a_patient_takes_its_usual_way(world: World) -> None:
    asked = len(world.team.requests)
    await world.say("assess the suicide risk, she denies suicidal ideation")
    assert len(world.team.requests) == asked + 1


async def test_a_lost_audit_trail_keeps_no_answer_back(world: World, audit: LostAudit) -> None:
    audit.is_full = True
    run = await world.scheduler.submit(world.message(CALL))
    said = [e for e in (await heard(run)).events if isinstance(e, AgentMessageFinished)]
    assert "999" in said[0].message.text


async def footers(run: Run) -> list[str]:
    """What plain surfaces show below each message of a run."""
    state: SharedState | None = None
    shown = []
    for event in (await heard(run)).events:
        if isinstance(event, StateChanged):
            state = event.state
        elif isinstance(event, AgentMessageFinished):
            shown.append("" if state is None else footer_of(state))
    return shown


@pytest.mark.parametrize("words", [CALL, f"patient_15 is my name. {CALL}"])
async def test_its_footer_names_the_active_patient_on_every_replica(
    world: World, store: MemoryBlobStore, words: str
) -> None:
    other = World(sessions=store, users=world.users, safety=world.safety)
    for each in (world, other):
        (shown,) = await footers(await each.submit(words))
        assert "- **Patient ID:** `patient_4`" in shown
        assert "`patient_4` (active)" in shown
        await each.scheduler.idle()


class Stuck(MemoryBlobStore):
    """Nothing can be deleted while `is_stuck`."""

    is_stuck = False

    async def delete(self, name: str) -> None:
        if self.is_stuck:
            raise StoreUnavailableError("no deletes now")
        await super().delete(name)


async def test_a_clear_that_cannot_be_finished_does_not_keep_the_answer_back() -> None:
    store = Stuck()
    world = World(sessions=store, safety=SafetyAnswers(rules=load_rules()))
    await world.tell("start a tumor board for patient_4")
    store.is_stuck = True
    await world.tell("clear")
    run = await world.submit(CALL)
    found = await heard(run)
    assert "112" in found.texts[0]
    assert isinstance(found.end, RunFailed), "the turn could not be stored, and says so"
    assert await footers(run) == [""], "who is active is not known, and nothing is made up"


async def test_the_next_turn_goes_on_as_before(world: World) -> None:
    await world.say(CALL)
    found = await world.say("what is the current status?")
    assert found.texts == ["Heard: what is the current status?"]
    assert world.team.requests[-1].history[-1].user_message == CALL


@pytest.mark.parametrize("before", [(), ("I am having a headache", "I feel anxious about it")])
async def test_nothing_of_the_words_follows_the_person_into_summary_topics_or_wishes(
    world: World, store: MemoryBlobStore, before: tuple[str, ...]
) -> None:
    for text in before:
        await world.say(text)
    await world.scheduler.idle()
    before_it = context_of(store, "patient_4")
    told = before_it.memory
    await world.tell(CALL)
    context = context_of(store, "patient_4")
    memory = context.memory
    assert context.chat_history[-1].user_message == CALL, "the history holds them"
    assert memory.active_topic == told.active_topic
    assert memory.topic_transitions == told.topic_transitions
    assert memory.key_points == told.key_points
    assert next_topics(context) == next_topics(before_it)
    assert last_intent(context.chat_history) == last_intent(before_it.chat_history)
    assert context.entities.conversation.entities == {}
    assert "kill" not in memory.model_dump_json().casefold()
    assert "kill" not in context_summary(context).casefold()
    assert memory.flow[-1].said == "Call for help"
