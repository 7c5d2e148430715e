"""The open question of an appointment: a yes books once, anything else books nothing."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from data_models.chat_context import ChatContext, Continuation
from data_models.clock import RandomIds
from data_models.conversations.incoming_message import Sender
from data_models.conversations.plan import Plan, PlanStep
from data_models.conversations.turn_events import Notice
from data_models.identifiers import PatientId
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.group_chat_port import (
    ChatFinished,
    ContinuationChanged,
    GroupChatEvent,
    GroupChatRequest,
    PlanChanged,
    QuestionAsked,
)
from services.scheduling.clinic import Clinic
from services.scheduling.confirmed_bookings import ClinicAction, Request
from services.scheduling.fhir import Known
from services.turn.tools import TurnEntities
from tests.fakes import FixedClock
from tests.services.entities.world import shown
from tests.services.scheduling.clinics import NOW, local_records
from tests.services.turn_tools import turn_tools
from tests.services.world import CHAT, Heard, World, heard
from tests.tables import with_cases

AGENT = "AppointmentManager"
FOUR, SEVEN = PatientId("patient_4"), PatientId("patient_7")
TEN = "slot-dr-smith-20300102T1000"
HALF_PAST = "slot-dr-smith-20300102T1030"
NAME = "*Dr. Anna Smith*, Wed 2 Jan 2030 10:00"


@dataclass
class Scheduler:
    """A conversation whose team asks what the test says."""

    world: World
    clinic: Clinic
    registry: CollectorRegistry

    async def asked(self, action: ClinicAction, *more: GroupChatEvent, **fields: str) -> None:
        """Have a tool ask the user about an appointment."""
        request = Request(action, AGENT, NAME, **fields)
        question = QuestionAsked("destructive_tool", request.question, request.payload())
        waits = ContinuationChanged(Continuation(agent=AGENT, asked_at=self.world.clock.now()))
        self.tell(lambda _: [waits, *more, question])
        await self.say("an appointment please")
        self.tell(lambda _: [])

    def tell(self, also: Callable[[GroupChatRequest], Sequence[GroupChatEvent]]) -> None:
        self.world.team.also = also

    async def say(self, words: str) -> Heard:
        heard = await self.world.say(words)
        await self.world.scheduler.idle()
        return heard

    async def document(self) -> ChatContext:
        return (await self.world.contexts.read(CHAT, FOUR, epoch=0)).document

    async def found(self) -> dict[str, Any]:
        derived = (await self.document()).entities.derived
        return derived.get_for_agent(AGENT, now=self.world.clock.now())

    async def is_registered(self) -> Known:
        return await self.clinic.find_known("Ada Leeward", date(1980, 2, 29), patient_id=FOUR)

    async def booked(self) -> list[str]:
        return [one.slot_id for one in await self.clinic.list_booked(FOUR)]


@pytest.fixture
async def scheduler(tmp_path: Path) -> Scheduler:
    clock, ids, registry = FixedClock(NOW), RandomIds(), CollectorRegistry()
    clinic = Clinic(records=local_records(tmp_path), clock=clock, ids=ids, zone=UTC)
    agents = ["Orchestrator", AGENT]
    entities = TurnEntities(
        team=AgentNames.of(agents, legacy={"appointment_manager": AGENT}),
        clock=clock,
        meter=EntityMeter(registry=registry, agents=agents),
    )
    tools = turn_tools(clock=clock, ids=ids, entities=entities, clinic=clinic)
    world = World(clock=clock, ids=ids, tools=tools)
    await world.say("start a tumor board for patient_4")
    await world.scheduler.idle()
    return Scheduler(world, clinic, registry)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["yes", "Yes, please.", "book it", "ok, book it"])
async def test_a_yes_books_and_lets_the_agent_know(scheduler: Scheduler, words: str) -> None:
    await scheduler.asked("book_appointment", slot_id=TEN, reason="knee")
    assert await scheduler.booked() == []
    heard = await scheduler.say(words)
    assert heard.texts == [f"Booked: {NAME}."]
    (booked,) = await scheduler.clinic.list_booked(FOUR)
    assert (booked.slot_id, booked.reason) == (TEN, "knee")
    assert await scheduler.found() == {"appointment_id": booked.appointment_id}
    document = await scheduler.document()
    assert document.continuation is None, "nobody waits any more"
    runs = [(run.tool_name, run.success) for run in document.tool_memory.executions]
    assert runs == [("book_appointment", True)]


@pytest.mark.slow
async def test_what_was_wanted_of_a_booked_appointment_is_not_wanted_of_the_next(
    scheduler: Scheduler,
) -> None:
    await scheduler.say("I want to see Dr. Smith tomorrow at 10 for my knee, it is urgent")
    await scheduler.asked("book_appointment", slot_id=TEN)
    wanted = (await scheduler.document()).entities.conversation.entities
    assert {"doctor_preference", "date_preference", "time_preference"} <= set(wanted)
    await scheduler.say("yes")
    assert (await scheduler.document()).entities.conversation.entities == {}


@pytest.mark.slow
async def test_what_was_wanted_stays_wanted_after_a_no(scheduler: Scheduler) -> None:
    await scheduler.say("I want to see Dr. Smith tomorrow")
    await scheduler.asked("book_appointment", slot_id=TEN)
    await scheduler.say("no")
    wanted = (await scheduler.document()).entities.conversation.entities
    assert set(wanted) == {"doctor_preference", "date_preference"}


async def test_a_question_beside_it_leaves_it_open_and_is_followed_by_it(
    scheduler: Scheduler,
) -> None:
    await scheduler.asked("book_appointment", slot_id=TEN)
    scheduler.tell(lambda _: [ChatFinished("answered", is_beside=True)])

    beside = await scheduler.say("any allergies?")

    assert beside.texts[-1] == f"Book {NAME}? yes / no"
    assert scheduler.world.team.requests[-1].is_asked
    assert (await scheduler.say("yes")).texts == [f"Booked: {NAME}."]
    assert await scheduler.booked() == [TEN]


async def test_what_is_wanted_in_a_request_that_waited_behind_another_is_heard(
    scheduler: Scheduler,
) -> None:
    for words in (
        "switch to 23",
        "any allergies?",
        "I want to see Dr. Smith tomorrow",
        "patient_4",
    ):
        await scheduler.say(words)

    wanted = (await scheduler.document()).entities.conversation.entities
    assert set(wanted) == {"doctor_preference", "date_preference"}


async def said_in_group(world: World, who: str, text: str) -> None:
    sender = Sender(principal_id=f"user:{who}", display_name=who)
    message = world.message(text).model_copy(update={"sender": sender, "is_group": True})
    await heard(await world.scheduler.submit(message))
    await world.scheduler.idle()


async def test_in_a_group_a_form_hears_its_own_user_and_whoever_books_anew(
    scheduler: Scheduler,
) -> None:
    waits = ContinuationChanged(Continuation(agent=AGENT, asked_at=scheduler.world.clock.now()))
    scheduler.tell(lambda _: [waits])
    await said_in_group(scheduler.world, "Anna", "I want to see Dr. Smith")
    scheduler.tell(lambda _: [])

    await said_in_group(scheduler.world, "Bert", "tuesday")
    wanted = (await scheduler.document()).entities.conversation.entities
    assert set(wanted) == {"doctor_preference"}

    await said_in_group(scheduler.world, "Bert", "book an appointment with Dr. Jones")
    wanted = (await scheduler.document()).entities.conversation.entities
    assert "Jones" in str(wanted["doctor_preference"])


async def test_what_the_server_asks_again_ends_with_another_chart(scheduler: Scheduler) -> None:
    await scheduler.asked("book_appointment", slot_id=TEN)
    scheduler.tell(lambda _: [ChatFinished("answered", is_beside=True)])

    moved = await scheduler.say("open patient_15 and list the allergies")

    assert "Book" not in "".join(moved.texts)
    await scheduler.say("yes")
    assert await scheduler.booked() == []


@pytest.mark.slow
@with_cases("says", "told", "is_booked", "waits")
async def test_only_a_yes_to_it_books(
    scheduler: Scheduler, says: list[str], told: str | None, is_booked: bool, waits: bool | None
) -> None:
    await scheduler.asked("book_appointment", slot_id=TEN)
    texts = [(await scheduler.say(one)).texts for one in says]
    assert told in (None, texts[0][0].replace(NAME, "it"))
    assert await scheduler.booked() == [TEN] * is_booked
    waiting = (await scheduler.document()).continuation
    assert waits in (None, waiting is not None and waiting.agent == AGENT)


async def test_a_time_that_was_taken_meanwhile_is_not_booked(scheduler: Scheduler) -> None:
    await scheduler.asked("book_appointment", slot_id=TEN)
    await scheduler.clinic.book(SEVEN, TEN, "")
    heard = await scheduler.say("yes")
    assert heard.texts == [
        "That could not be done: that time was taken meanwhile. Which other time suits?"
    ]
    assert await scheduler.booked() == []
    document = await scheduler.document()
    assert [run.success for run in document.tool_memory.executions] == [False]


@pytest.mark.slow
async def test_an_appointment_is_moved_and_cancelled_after_a_yes_each(scheduler: Scheduler) -> None:
    booked = await scheduler.clinic.book(FOUR, TEN, "")
    known = {"appointment_id": booked.appointment_id}
    await scheduler.asked("move_appointment", slot_id=HALF_PAST, **known)
    assert (await scheduler.say("move it")).texts == [f"Moved: {NAME}."]
    assert await scheduler.booked() == [HALF_PAST]
    assert await scheduler.found() == known
    await scheduler.asked("cancel_appointment", **known)
    assert (await scheduler.say("yes")).texts == [f"Cancelled: {NAME}."]
    assert await scheduler.booked() == []
    assert await scheduler.found() == {}


ADA = {"person": "Ada Leeward", "birth_date": "1980-02-29"}


async def test_a_person_is_registered_after_a_yes_and_the_agent_knows_them(
    scheduler: Scheduler,
) -> None:
    await scheduler.asked("register_person", **ADA)
    assert await scheduler.is_registered() == "nobody"
    assert (await scheduler.say("yes")).texts == [f"Registered: {NAME}."]
    assert await scheduler.is_registered() == "another_person"
    again = await scheduler.clinic.register("Ada Leeward", date(1980, 2, 29))
    assert await scheduler.found() == {"patient_id_retrieved": again.person_id}


@pytest.mark.slow
@pytest.mark.parametrize("words", ["no", "yes, but born in 1981", "wait"])
async def test_without_a_yes_nobody_is_registered(scheduler: Scheduler, words: str) -> None:
    await scheduler.asked("register_person", **ADA)
    await scheduler.say(words)
    await scheduler.say("yes")
    assert await scheduler.is_registered() == "nobody"


async def test_a_switch_withdraws_the_question(scheduler: Scheduler) -> None:
    await scheduler.asked("book_appointment", slot_id=TEN)
    await scheduler.say("switch to patient_7")
    await scheduler.say("yes")
    assert await scheduler.clinic.list_booked(SEVEN) == []
    assert await scheduler.booked() == []


@pytest.mark.slow
async def test_a_yes_ends_the_plans_step_that_waited_for_it(scheduler: Scheduler) -> None:
    now = scheduler.world.clock.now()
    steps = [
        PlanStep(number=1, agent=AGENT, text="Book", status="running"),
        PlanStep(number=2, agent="Orchestrator", text="Close"),
    ]
    plan = Plan(
        plan_id="p", run_id="r", status="running", steps=steps, created_at=now, updated_at=now
    )
    waits = Continuation(agent=AGENT, plan_step=1, asked_at=now)
    await scheduler.asked(
        "book_appointment", PlanChanged(plan), ContinuationChanged(waits), slot_id=TEN
    )
    heard = await scheduler.say("yes")
    assert heard.texts[0].endswith("Say “continue” to go on with the plan.")
    document = await scheduler.document()
    assert document.plan is not None
    assert [step.status for step in document.plan.steps] == ["done", "pending"]
    assert document.continuation is None


async def test_two_who_want_one_time_and_both_say_yes(scheduler: Scheduler) -> None:
    await scheduler.asked("book_appointment", slot_id=TEN)
    rival = scheduler.clinic.book(SEVEN, TEN, "")
    await asyncio.gather(scheduler.say("yes"), rival, return_exceptions=True)
    found = [await scheduler.clinic.list_booked(patient) for patient in (FOUR, SEVEN)]
    assert sorted(map(len, found)) == [0, 1]


# -- what else a turn does with entities ----------------------------------------------------------


async def test_the_first_agent_sees_what_the_user_has_just_said(scheduler: Scheduler) -> None:
    await scheduler.say("I want to see Dr. Smith tomorrow")
    entities = scheduler.world.team.requests[-1].entities
    assert entities is not None
    assert shown(entities, AGENT)["entities"]["doctor_preference"] == "Dr. Smith"
    assert "date_preference" in (await scheduler.document()).entities.conversation.entities


async def test_whoever_reads_more_in_the_message_is_heard_in_the_same_session(
    scheduler: Scheduler,
) -> None:
    """As the context extractor does, before the group chat (spec page 2.3)."""
    await scheduler.say("I want to see Dr. Smith tomorrow")
    session = scheduler.world.team.requests[-1].entities
    assert session is not None
    report = session.heard({"reason_visit": "knee", "doctor_name": "Smith"})
    assert report["conversation"]["added"] == ["reason_visit"]
    assert report["conversation"]["updated"] == [], "what the rules read in it stands"
    await scheduler.say("hello")
    later = scheduler.world.team.requests[-1].entities
    assert later is not None
    report = later.heard({"doctor_preference": "Dr. Jones"})
    assert report["conversation"]["updated"] == ["doctor_preference"], "a later one changes it"


async def test_what_leaves_is_named_in_the_events(scheduler: Scheduler) -> None:
    def wish(request: GroupChatRequest) -> list[GroupChatEvent]:
        assert request.entities is not None
        request.entities.heard({f"wish_{number}": number for number in range(7)})
        return []

    scheduler.tell(wish)
    await scheduler.say("hello")
    scheduler.tell(lambda _: [])
    heard = await scheduler.say("an appointment with Dr. Smith tomorrow")
    notices = [one.details for one in heard.events if isinstance(one, Notice)]
    assert notices == [{"keys": ["wish_0", "wish_1"]}]
    evicted = (await scheduler.document()).entities.conversation.recently_evicted
    assert [one.key for one in evicted] == ["wish_0", "wish_1"]


@pytest.mark.slow
async def test_wishes_beside_it_push_no_appointment_out_that_is_being_arranged(
    scheduler: Scheduler,
) -> None:
    def wish(request: GroupChatRequest) -> list[GroupChatEvent]:
        assert request.entities is not None
        sides = ("language", "floor", "reminder", "company", "transport", "parking")
        request.entities.replied(
            {"entities_to_update": {f"{side}_wish": side for side in sides}}, agent_name=AGENT
        )
        return []

    scheduler.tell(lambda _: [])
    await scheduler.say("an appointment with Dr. Smith tomorrow at 15:00")
    scheduler.tell(wish)
    await scheduler.say("and a few more wishes")
    held = (await scheduler.document()).entities.conversation.get_all()
    assert held["doctor_preference"] == "Dr. Smith"
    assert held["time_preference"] == "15:00"
    assert "date_preference" in held
    assert len(held) == 7


async def test_a_legacy_document_is_moved_when_it_is_loaded(scheduler: Scheduler) -> None:
    legacy = {"entities": {"doctor_name": "Dr. Smith", "available_slots": ["10:00"]}}
    blob = await scheduler.world.sessions.read(f"{CHAT}/patient_patient_4_context.json")
    assert blob is not None
    document = ChatContext.model_validate_json(blob.data)
    changed = document.model_copy(
        update={"continuation_context": {**legacy, "agent": "appointment_manager"}}
    )
    await scheduler.world.sessions.replace(
        f"{CHAT}/patient_patient_4_context.json", changed.model_dump_json().encode(), etag=blob.etag
    )
    fresh = World(
        sessions=scheduler.world.sessions, clock=scheduler.world.clock, tools=scheduler.world.tools
    )
    await fresh.say("hello")
    request = fresh.team.requests[-1]
    assert request.entities is not None
    told = shown(request.entities, AGENT)
    assert told["entities"]["doctor_preference"] == "Dr. Smith"
    assert told["derived_entities"]["available_slots"] == ["10:00"]
    labels = {"agent": AGENT, "operation": "merge_delta"}
    assert scheduler.registry.get_sample_value("entity_count_diff", labels) == 0.0
