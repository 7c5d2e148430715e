"""A booking over the wire, with a scripted model: what agents are shown, and what needs a yes."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from data_models.clock import SystemClock
from data_models.conversations.turn_events import Notice, ToolCallResult
from data_models.entities.entities import Entities
from data_models.errors import ModelOutputError, ToolInputError
from data_models.identifiers import PatientId
from group_chat.tools.clinic.free_times import days_of
from group_chat.tools.clinic.scheduling_tools import SchedulingTools
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.entities.session import GROUNDING_MARK, EntitySession
from services.group_chat_port import ContinuationChanged, QuestionAsked
from services.language.replies.yes_no import is_consent
from services.scheduling.clinic import Clinic
from services.scheduling.confirmed_bookings import request_of
from tests.fakes import CountingIds
from tests.fakes_openai import Reply
from tests.given import present
from tests.group_chat.team_world import Heard, TeamWorld, call, team_world, text
from tests.services.scheduling.clinics import local_records
from tests.tables import with_cases

AGENT, SCHEDULER = "AppointmentManager", "Registration"
FOUR = PatientId("patient_4")


@dataclass
class Booking:
    """Turns that share one patient's entities, as turns of one conversation do."""

    world: TeamWorld
    clinic: Clinic
    entities: Entities = field(default_factory=Entities)
    meter: EntityMeter = field(
        default_factory=lambda: EntityMeter(registry=CollectorRegistry(), agents=[AGENT, SCHEDULER])
    )
    turns: int = 0
    reads_legacy: bool = False

    async def say(self, words: str, *replies: Reply) -> Heard:
        self.turns += 1
        run_id = f"run_{self.turns}"
        return await self.world.say(words, *replies, entities=self.session(), run_id=run_id)

    def session(self) -> EntitySession:
        return EntitySession(
            entities=self.entities,
            team=AgentNames.of(card.name for card in self.world.chat.agents),
            clock=SystemClock(),
            meter=self.meter,
            session_id="c1",
            reads_legacy=self.reads_legacy,
        )

    async def slot(self) -> str:
        tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
        found = await self.clinic.free_slots("dr-smith", tomorrow)
        return found[0].slot_id


@pytest.fixture
async def booking(tmp_path: Path) -> AsyncIterator[Booking]:
    records = local_records(tmp_path)
    clinic = Clinic(records=records, clock=SystemClock(), ids=CountingIds(), zone=UTC)
    tools = SchedulingTools(clinic=clinic)
    async with team_world(clinic=tools) as world:
        yield Booking(world, clinic)


def shown(world: TeamWorld) -> list[dict[str, Any]]:
    """The entities of every prompt that had some."""
    lines = [
        line.removeprefix(GROUNDING_MARK)
        for prompt in world.prompts()
        for message in prompt
        for line in str(message.get("content")).splitlines()
        if line.startswith(GROUNDING_MARK)
    ]
    return [json.loads(line) for line in lines]


def results(heard: Heard) -> list[dict[str, Any]]:
    return [json.loads(event.content) for event in heard.of(ToolCallResult)]


async def test_a_delta_is_stored_and_shown_to_every_agent(booking: Booking) -> None:
    update = call("update_entities", entities_to_update={"doctor_name": "Dr. Smith"})
    await booking.say(f"@{AGENT} Dr. Smith please", update, text("Noted."))
    await booking.say(f"@{SCHEDULER} hello", text("Hello."))
    last = shown(booking.world)[-1]
    assert last == {"entities": {"doctor_preference": "Dr. Smith"}, "derived_entities": {}}


async def test_a_model_corrects_a_wish_with_the_words_of_the_user_only(booking: Booking) -> None:
    wish = {"doctor_preference": "Dr. Jones"}
    heard = {"doctor_preference": "Dr. Smith"}
    booking.session().heard(heard)
    made_up = call("update_entities", entities_to_update=wish, words="Dr. Jones is best")
    await booking.say(f"@{AGENT} hello", made_up, text("Noted."))
    assert booking.entities.conversation.get_all() == heard
    quoted = call("update_entities", entities_to_update=wish, words="Dr. Jones, not Dr. Smith")
    await booking.say(f"@{AGENT} I said Dr. Jones, not Dr. Smith!", quoted, text("Noted."))
    assert booking.entities.conversation.get_all() == wish


LEGACY_REPLIES = (
    '{"response": {"entities_to_update": {"time_preference": "15:00"}}}',
    'Noted:\n```json\n{"entities": {"time_preference": "15:00"}}\n```',
)


@pytest.mark.parametrize(
    "reply", [*LEGACY_REPLIES, 'The mail says:\n```json\n{"entities_to_update": {"a": "x"}}\n```']
)
async def test_json_in_what_an_agent_writes_changes_nothing(booking: Booking, reply: str) -> None:
    await booking.say(f"@{AGENT} what does the mail say?", text(reply))
    assert booking.entities.conversation.get_all() == {}


@pytest.mark.parametrize("reply", LEGACY_REPLIES)
async def test_a_structured_reply_of_an_older_prompt_is_read_where_that_is_on(
    booking: Booking, reply: str
) -> None:
    booking.reads_legacy = True
    heard = await booking.say(f"@{AGENT} at three", text(reply))
    assert heard.said == [(AGENT, reply)]
    assert booking.entities.conversation.get_all() == {"time_preference": "15:00"}


@with_cases("reply")
async def test_a_malformed_reply_and_prose_change_nothing(booking: Booking, reply: str) -> None:
    heard = await booking.say(f"@{AGENT} at three", text(reply))
    assert heard.said == [(AGENT, reply)]
    assert booking.entities.conversation.get_all() == {}


async def test_a_reply_that_is_half_an_object_is_no_answer_at_all(booking: Booking) -> None:
    with pytest.raises(ModelOutputError):
        await booking.say(f"@{AGENT} at three", text('{"entities_to_update": {"time": '))
    assert booking.entities.conversation.get_all() == {}


async def test_an_agent_hands_what_it_found_to_another(booking: Booking) -> None:
    slots = call("available_slots", doctor="Smith", day="tomorrow")
    over = call("update_entities", handover=["available_slots"], handover_to=SCHEDULER)
    await booking.say(f"@{AGENT} when?", slots, over, text("Some times."))
    await booking.say(f"@{SCHEDULER} hello", text("Hello."))
    assert set(shown(booking.world)[-1]["derived_entities"]) == {"available_slots"}


async def test_what_one_agent_found_no_other_is_shown(booking: Booking) -> None:
    slots = call("available_slots", doctor="Smith", day="tomorrow")
    await booking.say(f"@{AGENT} when?", slots, text("Some times."))
    await booking.say(f"@{SCHEDULER} hello", text("Hello."))
    assert shown(booking.world) == []
    await booking.say(f"@{AGENT} again", text("As before."))
    found = shown(booking.world)[-1]["derived_entities"]
    assert set(found) == {"doctor_uuid", "available_slots"}


async def test_a_booking_only_opens_the_question_that_books(booking: Booking) -> None:
    slot = await booking.slot()
    book = call("book_appointment", slot_id=slot, reason="knee")
    heard = await booking.say(f"@{AGENT} book it", book, text("I propose that time."))
    (question,) = heard.of(QuestionAsked)
    assert question.kind == "destructive_tool"
    assert question.text.startswith("Book *Dr. Anna Smith*, ")
    assert question.text.endswith("? yes / no")
    request = present(request_of(question.payload))
    assert (request.action, request.slot_id, request.reason) == ("book_appointment", slot, "knee")
    assert await booking.clinic.list_booked(FOUR) == []


async def test_the_agent_that_asked_waits_for_the_answer(booking: Booking) -> None:
    book = call("book_appointment", slot_id=await booking.slot())
    heard = await booking.say(f"@{AGENT} book it", book, text("I propose that time."))
    assert heard.reason == "question"
    (changed,) = heard.of(ContinuationChanged)
    assert present(changed.continuation).agent == AGENT


async def test_moving_and_cancelling_ask_too(booking: Booking) -> None:
    booked = await booking.clinic.book(FOUR, await booking.slot(), "knee")
    other = (await booking.clinic.free_slots("dr-smith", booked.start.date()))[0]
    move = call("move_appointment", appointment_id=booked.appointment_id, slot_id=other.slot_id)
    moving = await booking.say(f"@{AGENT} move it", move, text("I propose that."))
    cancel = call("cancel_appointment", appointment_id=booked.appointment_id)
    cancelling = await booking.say(f"@{AGENT} cancel it", cancel, text("As you wish."))
    texts = [heard.of(QuestionAsked)[0].text for heard in (moving, cancelling)]
    assert texts[0].startswith("Move *Dr. Anna Smith*, ")
    assert " → *Dr. Anna Smith*, " in texts[0]
    assert texts[1].startswith("Cancel *Dr. Anna Smith*, ")
    assert await booking.clinic.list_booked(FOUR) == [booked]


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [("cancel the smith one", True), ("cancel the jones one", False), ("cancel that one", True)],
)
async def test_an_appointment_with_another_doctor_is_not_the_one_that_is_meant(
    booking: Booking, said: str, is_asked: bool
) -> None:
    booked = await booking.clinic.book(FOUR, await booking.slot(), "knee")
    cancel = call("cancel_appointment", appointment_id=booked.appointment_id)
    heard = await booking.say(f"@{AGENT} {said}", cancel, text("As you wish."))
    assert bool(heard.of(QuestionAsked)) is is_asked


async def test_what_cannot_be_booked_is_never_asked_about(booking: Booking) -> None:
    slot = await booking.slot()
    await booking.clinic.book(PatientId("patient_7"), slot, "")
    taken, none = call("book_appointment", slot_id=slot), call("book_appointment", slot_id="x")
    heard = await booking.say(f"@{AGENT} book it", taken, none, text("That time is gone."))
    assert heard.of(QuestionAsked) == []
    assert ["error" in result for result in results(heard)] == [True, True]


async def looked(booking: Booking, words: str = "when?", **asked: str) -> dict[str, Any]:
    """Return what the form of free times says."""
    heard = await booking.say(f"@{AGENT} {words}", call("available_slots", **asked), text("So."))
    return results(heard)[0]


@pytest.mark.slow
@with_cases("doctor", "missing", "names")
async def test_times_are_looked_for_of_one_doctor_or_all_are_named(
    booking: Booking, doctor: str, missing: str, names: list[str] | None
) -> None:
    found = await looked(booking, doctor=doctor)
    assert found["missing"] == missing
    assert [row["name"] for row in found.get("doctors", [])] == (names or [])
    assert found.get("unknown") == ("Dr. Patel" if doctor == "Dr. Patel" else None)


async def test_a_doctor_whom_the_user_refuses_is_not_offered(booking: Booking) -> None:
    found = await looked(booking, "anyone but Dr. Smith", doctor="Smith")
    assert found["missing"] == "doctor"
    found = await looked(booking, "anyone but Dr. Smith")
    assert [row["name"] for row in found["doctors"]] == ["Dr. Peter Jones", "Dr. Ngozi Okafor"]


async def test_a_week_is_told_day_by_day_and_what_is_missing_is_the_day(booking: Booking) -> None:
    found = await looked(booking, doctor="Smith", day="next week", time="morning")
    assert found["missing"] == "day"
    assert len(found["days"]) == 5
    assert all(time < "12:00" for row in found["days"] for time in row["times"])


@pytest.mark.slow
@with_cases("time", "is_free", "missing")
async def test_the_wanted_time_is_told_to_be_free_or_not(
    booking: Booking, time: str, is_free: bool | None, missing: str | None
) -> None:
    found = await looked(booking, doctor="Smith", day="next week tuesday", time=time)
    assert found.get("wanted_time_is_free") is is_free
    assert found.get("missing") == missing
    assert len(found["slots"]) == (1 if is_free else 16)


async def test_a_move_is_reckoned_from_what_is_booked(booking: Booking) -> None:
    nothing = await looked(booking, instead_of="it", day="next week")
    assert "no appointment" in nothing["error"]
    booked = await booking.clinic.book(FOUR, await booking.slot(), "knee")
    asked = await looked(booking, instead_of="it")
    assert asked["missing"] == "day"
    assert asked["moved"]["appointment_id"] == booked.appointment_id
    that_day = await looked(booking, instead_of="it", time="15:00")
    assert that_day["slots"][0]["start"] == f"{booked.start:%Y-%m-%d} 15:00"
    other = await looked(booking, instead_of=booked.appointment_id, doctor="Jones")
    assert (other["doctor"], other["moved"]) == ("Dr. Peter Jones", asked["moved"])
    later = await looked(booking, instead_of=booked.appointment_id, day="two hours later")
    (slot,) = later["slots"]
    assert later["wanted_time_is_free"] is True
    assert slot["start"] == f"{booked.start + timedelta(hours=2):%Y-%m-%d %H:%M}"


async def test_a_weekday_alone_is_of_the_week_that_a_visit_is_booked_in(booking: Booking) -> None:
    smith = (await looked(booking, doctor="Smith", day="monday week after next"))["slots"][0]
    booked = await booking.clinic.book(FOUR, smith["slot_id"], "knee")
    for day, on in (("thursday", 3), ("Mittwoch", 2), ("friday", 4)):
        moved = await looked(booking, instead_of=booked.appointment_id, day=day)
        assert moved["day"] == f"{booked.start + timedelta(days=on):%Y-%m-%d}"


async def test_tomorrow_is_counted_from_when_it_was_said(booking: Booking) -> None:
    booking.session().heard({"date_preference": "tomorrow"})
    held = booking.entities.conversation.entities["date_preference"]
    held.reference_time = datetime.now(UTC) - timedelta(days=3)
    found = await looked(booking, doctor="Smith", day="tomorrow")
    assert found["day"] == f"{held.reference_time + timedelta(days=1):%Y-%m-%d}"


async def test_what_leaves_is_named_in_the_turns_events(booking: Booking) -> None:
    many = call("update_entities", entities_to_update={f"wish_{n}": n for n in range(7)})
    more = call("update_entities", entities_to_update={"user_name": "Ann"})
    heard = await booking.say(f"@{AGENT} hello", many, more, text("Noted."))
    (notice,) = heard.of(Notice)
    assert (notice.kind, notice.details) == ("evicted", {"keys": ["wish_0"]})


@with_cases("words", "agrees")
def test_only_a_plain_yes_is_consent(words: str, agrees: bool) -> None:
    assert is_consent(words) is agrees


@pytest.mark.slow
@given(st.text(max_size=80))
def test_no_sentence_with_a_no_is_consent(words: str) -> None:
    assert not is_consent(f"{words} no {words}")


def test_days_are_counted_from_when_they_were_said() -> None:
    wednesday = datetime(2030, 1, 2, 9, tzinfo=UTC)
    days = {"today": 2, "tomorrow": 3, "day after tomorrow": 4, "wednesday": 9, "next Friday": 4}
    assert {said: days_of(said, now=wednesday)[0].day for said in days} == days
    week = days_of("next week", now=wednesday)
    assert [day.day for day in week] == [7, 8, 9, 10, 11]
    assert [day.day for day in days_of("this week", now=wednesday)] == [2, 3, 4]
    assert days_of("tuesday next week", now=wednesday) == [week[1]], "not the Monday of it"
    with pytest.raises(ToolInputError):
        days_of("someday", now=wednesday)


async def test_the_next_free_day_is_told_where_nothing_is_free(booking: Booking) -> None:
    found = await looked(booking, "Dr. Jones on Sunday?", doctor="Jones", day="sunday")
    assert len(found["days"]) == 1
    assert "Next free:\n- Mon" in found["told"]
