"""When a model reads a message, what it is shown, what is believed; and no turn fails by it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from prometheus_client import CollectorRegistry

from data_models.chat_context import ChatContext, Continuation
from data_models.clock import SystemClock
from data_models.conversations.turn_events import RunFinished
from data_models.errors import ModelTimeoutError
from data_models.identifiers import PatientId
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.group_chat_port import ContinuationChanged, GroupChatRequest
from services.language.reader import PURPOSE
from services.language.utterance import TeamMember
from services.language.words.talk_texts import talk_text
from services.memory_blocks.plain_reading import IntentSpec
from services.model_port import Answer
from services.turn.memory import TurnMemory
from services.turn.tools import TurnEntities
from tests.services.turn_tools import turn_tools
from tests.services.world import CHAT, NoModel, World
from tests.tables import with_cases

INTENTS = (
    IntentSpec(name="GENERAL_HEALTH", description="A complaint.", agent="GeneralHealth",
           words=("headache",), phase="symptom_evaluation"),
)  # fmt: skip
AGENTS = ("Orchestrator", "GeneralHealth", "Radiology")
CARDS = (
    TeamMember("Orchestrator", description="Leads.", is_facilitator=True),
    TeamMember("GeneralHealth", description="Complaints."),
    TeamMember("Radiology", description="Imaging.", tools=("imaging_reports", "search_record")),
)
FOUND = {"task": "answer", "agent": "Radiology", "topics": [], "standalone": ""}
OPEN = "would somebody tell me whether it grew"


@dataclass
class Reader:
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

    def __init__(self, *, seconds: float = 5.0, decider: Reader | None = None) -> None:
        self.model = Reader()
        self.model.gate.set()
        memory = TurnMemory(
            clock=SystemClock(),
            model=self.model,
            intents=INTENTS,
            agents=AGENTS,
            cards=CARDS,
            seconds=seconds,
        )
        entities = TurnEntities(
            team=AgentNames.of(AGENTS),
            clock=SystemClock(),
            meter=EntityMeter(registry=CollectorRegistry(), agents=AGENTS),
        )
        tools = turn_tools(entities=entities)
        self.world = World(memory=memory, tools=tools, decider=decider or NoModel(), cards=CARDS)

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


async def test_the_agent_that_the_model_names_is_to_speak_first(room: Room) -> None:
    await room.say(OPEN)
    assert room.last.utterance is not None
    assert room.last.utterance.agent == "Radiology"
    assert room.last.utterance.decided_by["agent"] == "model"


async def test_what_of_the_chart_is_asked_for_is_known_before_the_team_speaks(room: Room) -> None:
    topics = [{"tool": "imaging_reports", "name": ""}, {"tool": "search_record", "name": "grew"}]
    room.model.answer["topics"] = topics
    await room.say(OPEN)
    assert room.last.utterance is not None
    assert [(one.tool, dict(one.arguments)) for one in room.last.utterance.about] == [
        ("imaging_reports", {}),
        ("search_record", {"query": "grew"}),
    ]


async def test_the_wording_in_full_is_shown_and_kept(room: Room) -> None:
    room.model.answer["standalone"] = "Has the lesion of the last scan grown?"
    await room.say(OPEN)
    assert room.last.text == OPEN
    assert room.last.meaning.interpretation == "Has the lesion of the last scan grown?"
    turn = (await room.document()).chat_history[-1]
    assert turn.user_message == OPEN
    assert turn.context_enrichment is not None
    assert turn.context_enrichment.source == "model"


@pytest.mark.parametrize("wording", ["Has patient_15's lesion grown?", "Is it larger than 31 mm?"])
async def test_a_wording_with_a_figure_or_an_id_that_nobody_wrote_is_dropped(
    room: Room, wording: str
) -> None:
    room.model.answer["standalone"] = wording
    await room.say(OPEN)
    assert room.last.meaning.interpretation == ""


@pytest.mark.parametrize(
    "answer", [{"agent": "Neurosurgery"}, {"task": "delete"}, {"topics": [{"tool": "x"}]}]
)
async def test_what_is_not_in_the_lists_answers_nothing(room: Room, answer: dict[str, Any]) -> None:
    room.model.answer |= answer

    async def refuses(**asked: Any) -> Any:
        try:
            return asked["answer"].model_validate(room.model.answer)
        except ValueError:
            raise ModelTimeoutError from None

    room.model.ask = refuses  # type: ignore[method-assign]
    await room.say(OPEN)
    assert room.last.utterance is not None
    assert room.last.utterance.decided_by.get("agent") != "model"


async def test_a_sure_intent_by_words_asks_no_model(room: Room) -> None:
    await room.say("I am having a headache")
    assert room.last.meaning.intended_agent == "GeneralHealth"
    assert room.model.shown == []


async def test_an_intent_that_a_model_reads_is_kept_with_the_turn(room: Room) -> None:
    room.model.answer |= {"agent": "GeneralHealth", "task": "talk"}
    await room.say("my head is killing me")
    assert room.last.meaning.intended_agent == "GeneralHealth"
    turn = (await room.document()).chat_history[-1]
    assert turn.intent_classification is not None
    assert turn.intent_classification.intent == "GENERAL_HEALTH"


@pytest.mark.slow
@with_cases("text")
async def test_what_may_be_about_somebody_else_is_read_without_this_patients_talk(
    room: Room, text: str
) -> None:
    await room.say("switch to patient_7", "switch to patient_4", "we wait for the scan")
    room.model.shown.clear()
    await room.say(text)
    assert all(list(shown) == ["message"] for shown in room.model.shown)


async def test_whom_and_what_is_read_in_one_question() -> None:
    decider = Reader(answer={**FOUND, "patient": "open"})
    decider.gate.set()
    room = Room(decider=decider)
    await room.say("switch to patient_7", "switch to patient_4")
    await room.say("did the patient change therapy?")
    assert [shown["patients"] for shown in decider.shown] == [
        {"open": "patient_4", "p1": "patient_7"}
    ]
    assert room.model.shown == []
    assert room.last.utterance is not None
    assert room.last.utterance.agent == "Radiology"


async def test_a_chart_is_changed_by_the_row_that_the_reader_names() -> None:
    decider = Reader(answer={**FOUND, "patient": "p1"})
    decider.gate.set()
    room = Room(decider=decider)
    await room.say("switch to patient_7", "switch to patient_4")
    await room.say("and how did patient_7 do in comparison?")
    assert room.last.patient_id == "patient_7"
    assert room.last.utterance is not None
    assert room.last.utterance.agent == "Radiology"


@pytest.mark.parametrize("text", ["yes", "ok, go ahead", "no", "Yes please!", "@Radiology look"])
async def test_what_rules_decide_whole_needs_no_model(room: Room, text: str) -> None:
    await room.say(text)
    assert room.model.shown == []
    assert (await room.document()).chat_history[-1].context_enrichment is not None


async def test_a_model_is_shown_this_patients_words_only(room: Room) -> None:
    await room.say("switch to patient_7", "SEVEN has a cough", "switch to patient_4")
    await room.say("FOUR sleeps badly", OPEN)
    shown = orjson.dumps(room.model.shown[-1]).decode()
    assert "FOUR" in shown
    assert "SEVEN" not in shown


@pytest.mark.slow
async def test_a_long_exchange_is_shown_by_its_end_and_no_more(room: Room) -> None:
    room.answers("word " * 9_000 + "Which of the two?", "That one.")
    await room.say("tell me about the lesions in the liver " * 40, OPEN)
    before = room.model.shown[-1]["before"]
    assert before["answer"].endswith("Which of the two?")
    assert sum(map(len, before.values())) <= 402


@pytest.mark.parametrize("way", ["fails", "hangs"])
async def test_a_model_that_fails_or_hangs_fails_no_turn(way: str) -> None:
    room = Room(seconds=0.05)
    room.model.fails = way == "fails"
    if way == "hangs":
        room.model.gate.clear()
    await room.say(OPEN)
    memory = (await room.document()).memory
    assert (memory.counts.updates, memory.counts.failed_updates) == (1, 1)


async def test_a_stopped_turn_leaves_no_reading_behind(room: Room) -> None:
    room.model.gate.clear()
    run = await room.world.submit(OPEN)
    await room.model.asked.wait()
    await room.world.scheduler.stop(CHAT, owner="alice")
    await run.wait()
    await room.world.scheduler.idle()
    left = [task for task in asyncio.all_tasks() if "_read_by_model" in repr(task)]
    assert left == []
    assert (await room.document()).chat_history[-1].turn_status == "STOPPED"


async def test_an_answer_to_who_waits_for_it_needs_no_model(room: Room) -> None:
    asked = Continuation(agent="GeneralHealth", asked_at=SystemClock().now())
    room.world.team.also = lambda request: (ContinuationChanged(asked),)
    room.answers("How bad is it, 0-10?", "That is a lot.")
    await room.say("I am having a headache", "8")
    assert room.model.shown == []
    assert room.last.meaning.interpretation == "User rates the headache 8 of 10 (severe)"


async def test_a_whole_sentence_is_not_said_again_in_other_words(room: Room) -> None:
    room.answers("What would you like to review?", "Here.")
    await room.say("hello there", "Hb and creatinine please")
    assert room.last.meaning.interpretation == ""


@pytest.mark.slow
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


async def test_a_sentence_that_the_model_finds_is_held_in_the_words_of_the_user(room: Room) -> None:
    await room.say("patient_4")
    room.model.answer["stated"] = ["He refuses blood transfusions", "She has a brother"]
    await room.say("He refuses blood transfusions.")
    points = (await room.document("patient_4")).memory.key_points
    held = [(one.text, one.quote, one.source) for one in points]
    quote = "He refuses blood transfusions."
    assert held == [("Noted: He refuses blood transfusions", quote, "model")]


async def test_a_model_makes_no_statement_of_a_question(room: Room) -> None:
    await room.say("patient_4")
    room.model.answer["stated"] = ["would she refuse blood transfusions"]
    await room.say("would she refuse blood transfusions?")
    assert (await room.document("patient_4")).memory.key_points == []


async def test_a_day_is_kept_that_is_said_where_a_doctor_is_asked_for(room: Room) -> None:
    room.answers(talk_text("en", "which_doctor"), "All right.", "All right.")
    await room.say(OPEN, "tuesday afternoon", "Dr. Jones")
    wishes = (await room.document()).entities.conversation.entities
    assert wishes["date_preference"].value == "tuesday"
    assert wishes["doctor_preference"].value == "Dr. Jones"
