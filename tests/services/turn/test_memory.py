"""When a model reads a message, what it is shown, who waits for it; and no turn fails by it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from prometheus_client import CollectorRegistry

from data_models.chat_context import ChatContext, Continuation
from data_models.clock import RandomIds, SystemClock
from data_models.errors import ModelTimeoutError
from data_models.identifiers import PatientId
from data_models.memory_blocks import MEMORY_LIMIT_BYTES
from data_models.turn_events import RunFinished
from services.entities.meter import EntityMeter
from services.entities.team import AgentNames
from services.group_chat_port import ContinuationChanged, GroupChatEvent, GroupChatRequest
from services.memory_blocks.extraction import PURPOSE
from services.memory_blocks.understanding import Intent
from services.model_port import Answer
from services.turn.entities import TurnEntities
from services.turn.memory import TurnMemory
from services.turn.tools import TurnTools
from tests.services.world import CHAT, World

INTENTS = (
    Intent(name="GENERAL_HEALTH", description="A complaint.", agent="GeneralHealth",
           words=("headache",), phase="symptom_evaluation"),
)  # fmt: skip
AGENTS = ("Orchestrator", "GeneralHealth")
FOUND = {
    "previous_context": "The user has a headache.",
    "enriched_message": "User rates the headache 8 of 10.",
    "relevant_turn_ids": [1, 77],
    "intent": "GENERAL_HEALTH",
    "confidence": 0.9,
    "reasoning": "it answers the question",
    "topic": "headache severity",
    "key_points": ["Headache severity: 8 of 10"],
    "next_topics": ["Duration"],
}


@dataclass
class Extractor:
    """A model that reads messages: keeps what it is shown, answers when it may."""

    answer: dict[str, Any] = field(default_factory=lambda: dict(FOUND))
    shown: list[dict[str, Any]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    fails: bool = False

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        assert purpose == PURPOSE
        self.shown.append(orjson.loads(text))
        self.asked.set()
        await self.gate.wait()
        if self.fails:
            raise ModelTimeoutError
        return answer.model_validate(self.answer)


class Room:
    """A conversation whose memory asks `model`."""

    def __init__(self, *, seconds: float = 5.0) -> None:
        self.model = Extractor()
        self.model.gate.set()
        memory = TurnMemory(
            clock=SystemClock(),
            model=self.model,
            intents=INTENTS,
            agents=AGENTS,
            seconds=seconds,
        )
        entities = TurnEntities(
            team=AgentNames.of(AGENTS),
            clock=SystemClock(),
            meter=EntityMeter(registry=CollectorRegistry(), agents=AGENTS),
        )
        tools = TurnTools(ids=RandomIds(), entities=entities)
        self.world = World(memory=memory, tools=tools)

    async def say(self, *texts: str) -> None:
        for text in texts:
            heard = await self.world.say(text)
            assert isinstance(heard.end, RunFinished)

    async def document(self, patient: str | None = None) -> ChatContext:
        patient_id = None if patient is None else PatientId(patient)
        return (await self.world.contexts.read(CHAT, patient_id, epoch=0)).document

    @property
    def last(self) -> GroupChatRequest:
        return self.world.team.requests[-1]

    def answers(self, *texts: str) -> None:
        """Have the team say these, one a turn."""
        said = iter(texts)
        self.world.team.say = lambda request: (next(said),)


@pytest.fixture
def room() -> Room:
    return Room()


async def test_agents_are_shown_what_an_answer_means_beside_the_words_themselves(
    room: Room,
) -> None:
    room.answers("How bad is it, 0-10?", "That is a lot.")
    await room.say("I am having a headache", "8")
    assert room.last.text == "8"
    assert room.last.meaning.interpretation == "User rates the headache 8 of 10."
    turn = (await room.document()).chat_history[-1]
    assert turn.user_message == "8"
    assert turn.context_enrichment is not None
    assert turn.context_enrichment.relevant_history == [1]
    assert turn.intent_classification is not None
    assert turn.intent_classification.intent == "GENERAL_HEALTH"


async def test_a_sure_intent_chooses_who_speaks_and_an_unsure_one_nobody(room: Room) -> None:
    await room.say("I am having a headache")
    assert room.last.meaning.intended_agent == "GeneralHealth"
    room.model.answer["confidence"] = 0.69
    await room.say("my head is killing me")
    assert room.last.meaning.intended_agent is None


@pytest.mark.parametrize(
    "text",
    [
        "switch to patient_7",
        "what of patient_7 then",
        "and 7?",
        "how is the patient doing",
        "the other one",
        "let us change the topic",
        "forget that",
        "PATIENT_7 scans",
    ],
)
async def test_what_may_be_about_somebody_else_is_sent_to_no_model(room: Room, text: str) -> None:
    await room.say("switch to patient_7", "switch to patient_4", "we wait for the scan")
    room.model.shown.clear()
    await room.say(text)
    assert room.model.shown == []


@pytest.mark.parametrize("text", ["yes", "ok, go ahead", "no", "Yes please!"])
async def test_a_bare_confirmation_needs_no_model(room: Room, text: str) -> None:
    await room.say("I am having a headache")
    room.model.shown.clear()
    await room.say(text)
    assert room.model.shown == []
    assert (await room.document()).chat_history[-1].context_enrichment is not None


async def test_a_model_is_shown_this_patients_words_only(room: Room) -> None:
    await room.say("switch to patient_7", "SEVEN has a cough", "switch to patient_4")
    await room.say("FOUR sleeps badly", "what did the scan show?")
    shown = orjson.dumps(room.model.shown[-1]).decode()
    assert "FOUR" in shown
    assert "SEVEN" not in shown
    assert [turn["turn_id"] for turn in room.model.shown[-1]["last_turns"]] == [1, 2]


async def test_who_needs_no_reading_does_not_wait_for_it(room: Room) -> None:
    room.model.gate.clear()
    await room.say("what did the last scan show?")
    assert len(room.model.shown) == 1
    turn = (await room.document()).chat_history[-1]
    assert turn.context_enrichment is not None
    assert turn.context_enrichment.source == "rules"


async def test_a_reading_that_comes_while_the_team_speaks_still_counts(room: Room) -> None:
    room.world.team.gate.clear()
    run = await room.world.submit("what did the last scan show?")
    await room.model.asked.wait()
    await asyncio.sleep(0)
    room.world.team.gate.set()
    await run.wait()
    await room.world.desk.idle()
    turn = (await room.document()).chat_history[-1]
    assert turn.context_enrichment is not None
    assert turn.context_enrichment.source == "model"


@pytest.mark.parametrize("way", ["fails", "hangs"])
async def test_a_model_that_fails_or_hangs_fails_no_turn(way: str) -> None:
    room = Room(seconds=0.05)
    room.answers("How bad is it, 0-10?", "That is a lot.")
    await room.say("I am having a headache")
    room.model.fails = way == "fails"
    if way == "hangs":
        room.model.gate.clear()
    await room.say("8")
    expected = "User rates the headache 8 of 10 (severe)"
    assert room.last.meaning.interpretation == expected
    memory = (await room.document()).memory
    assert (memory.counts.updates, memory.counts.failed_updates) == (2, 1)


async def test_a_stopped_turn_leaves_no_reading_behind(room: Room) -> None:
    room.model.gate.clear()
    run = await room.world.submit("I feel like nobody helps")
    await room.model.asked.wait()
    await room.world.desk.stop(CHAT, owner="alice")
    await run.wait()
    await room.world.desk.idle()
    left = [task for task in asyncio.all_tasks() if "_extracted" in repr(task)]
    assert left == []
    assert (await room.document()).chat_history[-1].turn_status == "STOPPED"


def waiting_for(agent: str) -> Callable[[GroupChatRequest], Sequence[GroupChatEvent]]:
    asked = Continuation(agent=agent, asked_at=SystemClock().now())
    return lambda request: (ContinuationChanged(asked),)


async def test_nobody_waits_for_an_intent_while_an_agent_waits_for_the_user(room: Room) -> None:
    room.world.team.also = waiting_for("GeneralHealth")
    await room.say("I am having a headache")
    room.model.gate.clear()
    await room.say("I would say that it began after the long journey that we made in May")
    assert len(room.model.shown) == 2


async def test_what_the_user_wants_is_known_before_the_team_speaks(room: Room) -> None:
    wishes = [("procedure_preference", "colonoscopy"), ("urgency_preference", "at once")]
    room.model.answer["entities"] = [{"key": key, "value": value} for key, value in wishes]
    await room.say("my cousin says I should get a colonoscopy")
    assert room.last.entities is not None
    assert room.last.entities.value_of("procedure_preference", agent_name="GeneralHealth") == (
        "colonoscopy"
    )
    held = (await room.document()).entities.conversation.entities
    assert {key: one.provenance for key, one in held.items()} == {
        "procedure_preference": "extracted"
    }


async def test_what_a_model_reads_beside_the_agents_is_stored_at_the_turns_end(room: Room) -> None:
    room.model.answer["entities"] = [{"key": "procedure_preference", "value": "colonoscopy"}]
    room.model.gate.clear()

    async def reads_meanwhile(request: GroupChatRequest) -> None:
        assert request.entities is not None
        assert request.entities.value_of("procedure_preference", agent_name=AGENTS[0]) is None
        room.model.gate.set()
        await asyncio.sleep(0.02)

    room.world.team.first = reads_meanwhile
    await room.say("a cousin had a colonoscopy done somewhere in Berlin")
    held = (await room.document()).entities.conversation.entities
    assert {key: one.provenance for key, one in held.items()} == {
        "procedure_preference": "extracted"
    }


async def test_what_an_agent_noted_meanwhile_stands_against_a_late_reading(room: Room) -> None:
    room.model.answer["entities"] = [{"key": "procedure_preference", "value": "colonoscopy"}]
    room.model.gate.clear()

    async def notes_meanwhile(request: GroupChatRequest) -> None:
        assert request.entities is not None
        noted = {"entities_to_update": {"procedure_preference": "gastroscopy"}}
        request.entities.replied(noted, agent_name=AGENTS[0])
        room.model.gate.set()
        await asyncio.sleep(0.02)

    room.world.team.first = notes_meanwhile
    await room.say("a cousin had a colonoscopy done somewhere in Berlin")
    held = (await room.document()).entities.conversation.entities
    assert held["procedure_preference"].value == "gastroscopy"


async def test_a_model_that_overshoots_is_cut(room: Room) -> None:
    names = ("previous_context", "enriched_message", "topic", "intent", "reasoning")
    room.model.answer = dict.fromkeys(names, "患" * 50_000)
    room.model.answer["key_points"] = ["患" * 50_000] * 90
    room.model.answer |= {"relevant_turn_ids": "nonsense", "confidence": 7}
    for number in range(60):
        await room.say(f"I wonder about {'word ' * number}")
    document = await room.document()
    assert document.memory.size_bytes() <= MEMORY_LIMIT_BYTES
    turn = document.chat_history[-1]
    assert turn.context_enrichment is not None
    assert len(turn.context_enrichment.enriched_message) <= 300


async def test_what_scrolled_out_of_the_window_is_in_the_summary(room: Room) -> None:
    room.model.fails = True
    await room.say("Please note: the son has power of attorney")
    room.answers(*("word " * 400 for _ in range(20)))
    for number in range(20):
        await room.say(f"what of scan {number + 100}?")
    summary = room.last.meaning.summary
    assert "the son has power of attorney" in summary
    assert len(summary) <= 2_000
    assert "scan 119" not in summary


async def test_a_short_talk_needs_no_summary(room: Room) -> None:
    await room.say("I am having a headache", "what did the last scan show?")
    assert room.last.meaning.summary == ""
