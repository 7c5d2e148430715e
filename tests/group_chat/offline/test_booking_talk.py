"""What the offline rules put into the form of free times, and what they say of its answer."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.offline.specialist import answer_as_booking
from group_chat.tools.clinic.free_times import TimesArguments, told_times
from group_chat.window import Line
from services.language.reading import read
from services.language.requests.appointment_slots import field_in, is_of_field
from services.language.requests.clock import shift_in
from services.language.utterance import Situation
from services.language.words.talk_texts import talk_text
from tests.tables import with_cases

WHICH_DOCTOR = talk_text("en", "which_doctor")
WHICH_DAY = talk_text("en", "which_day")
WHICH_TIME = talk_text("en", "which_time")

DOCTORS = [
    {"name": "Dr. Anna Smith", "specialty": ""},
    {"name": "Dr. Peter Jones", "specialty": "Oncology"},
]
WISHES = {
    "doctor_preference": "Dr. Smith",
    "date_preference": "2030-01-07",
    "time_preference": "09:00",
}
TOOLS = ("available_slots", "update_entities", "list_appointments", "book_appointment",
         "move_appointment", "cancel_appointment")  # fmt: skip


def prompt_of(
    asked: str,
    *,
    last: str = "",
    wishes: dict[str, Any] | None = None,
    answers: list[ToolAnswer] | None = None,
) -> Prompt:
    return Prompt(
        tools=dict.fromkeys(TOOLS, ()),
        entities={"entities": WISHES if wishes is None else wishes},
        asked=asked,
        earlier=[Line("AppointmentManager", last)] if last else [],
        answers=answers or [],
    )


def looked(prompt: Prompt) -> Any:
    """Return what the form is filled in with."""
    call = answer_as_booking(prompt).calls[-1]
    assert call.name == "available_slots"
    return call.arguments


def told(**data: Any) -> str:
    """Return what the tool says of what it found."""
    return told_times(data, "en")


def test_a_doctor_nobody_is_called_leads_to_those_there_are() -> None:
    text = told(missing="doctor", doctors=DOCTORS, unknown="Dr. Patel")
    assert text.startswith("No doctor here is called Dr. Patel.")
    assert "- Dr. Peter Jones" in text
    assert text.endswith(WHICH_DOCTOR)


def test_a_field_that_nobody_works_in_is_said_and_whoever_is_here_stands_with_theirs() -> None:
    text = told(missing="doctor", doctors=DOCTORS, unknown="cardiology")
    assert text.startswith("Nobody here is listed for “cardiology”.")
    assert "- Dr. Peter Jones: Oncology" in text


@pytest.mark.parametrize("said", ["oncology", "an oncologist", "beim Onkologen"])
def test_who_is_asked_for_by_a_field_is_found_by_it(said: str) -> None:
    assert [is_of_field(one, field_in(said)) for one in ("Oncology", "Radiology")] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "is_name"),
    [("Patel, please", True), ("yes", False), ("tomorrow at 10", False), ("9", False)],
)
def test_what_is_no_name_is_not_looked_for_as_one(asked: str, is_name: bool) -> None:
    given = looked(prompt_of(asked, last=WHICH_DOCTOR, wishes={}))
    assert given.get("doctor") == (asked if is_name else None)


@with_cases("asked")
@pytest.mark.parametrize("before", [[], [("move it", f"- 2030\n\n{WHICH_DAY}")]])
def test_who_wants_no_appointment_any_more_is_let_go(
    asked: str, before: list[tuple[str, str]]
) -> None:
    prompt = prompt_of(asked, last=before[0][1] if before else WHICH_DOCTOR, wishes={})
    prompt.past = before
    reply = answer_as_booking(prompt)
    assert reply.text in {talk_text(language, "nothing_arranged") for language in ("en", "de")}
    assert not reply.calls


@pytest.mark.parametrize("asked", ["cancel that", "drop it", "brich das ab"])
def test_what_is_cancelled_beside_a_new_form_is_the_form(asked: str) -> None:
    reply = answer_as_booking(prompt_of(asked, last=WHICH_DOCTOR, wishes={}))
    assert reply.text in {talk_text(language, "nothing_arranged") for language in ("en", "de")}


@pytest.mark.parametrize("asked", ["make it half past", "no wait make it half 9", "make it 9:30"])
def test_a_wish_changes_while_a_doctor_is_asked_for(asked: str) -> None:
    prompt = prompt_of(asked, last=WHICH_DOCTOR, wishes={"time_preference": "09:00"})
    prompt.past = [("book her tomorrow at 9", f"- Dr. Anna Smith\n\n{WHICH_DOCTOR}")]
    noted, looks = answer_as_booking(prompt).calls
    assert noted.arguments["entities_to_update"] == {"time_preference": "09:30"}
    assert looks.arguments["time"] == "09:30"
    prompt.past.append((asked, WHICH_DOCTOR))
    dropped = answer_as_booking(replace(prompt, asked="cancel that"))
    assert dropped.calls[0].arguments["entities_to_remove"] == ["time_preference"]


def test_a_weekday_behind_a_week_is_of_that_week() -> None:
    prompt = prompt_of("dr smith", last=WHICH_DOCTOR, wishes={"date_preference": "wednesday"})
    prompt.past = [("book her next week", WHICH_DOCTOR), ("wednesday 9", WHICH_DOCTOR)]
    assert looked(prompt)["day"] == "wednesday next week"


def test_what_was_wished_for_is_not_kept_for_the_next_appointment() -> None:
    (call,) = answer_as_booking(prompt_of("drop it", last=WHICH_DOCTOR)).calls
    assert call.arguments == {"entities_to_remove": [*WISHES], "words": "drop it"}


@pytest.mark.parametrize("asked", ["no, the other one", "no the Thursday one", "nein, den anderen"])
def test_another_one_than_is_proposed_is_cancelled_and_none_arranged(asked: str) -> None:
    proposed = talk_text("en", "i_propose", proposed=talk_text("en", "proposed_cancel"))
    (call,) = answer_as_booking(prompt_of(asked, last=proposed)).calls
    assert (call.name, call.arguments) == ("cancel_appointment", {"appointment_id": ""})


def test_what_is_cancelled_beside_no_form_is_an_appointment() -> None:
    call = answer_as_booking(prompt_of("cancel that", last="Booked.")).calls[-1]
    assert call.name == "cancel_appointment"


@pytest.mark.parametrize("asked", ["asap", "the earliest please", "first available"])
def test_the_earliest_day_is_looked_for_from_today_on(asked: str) -> None:
    assert (
        looked(prompt_of(asked, last=WHICH_DAY, wishes={"doctor_preference": "Dr. Smith"}))["day"]
        == "today"
    )


@pytest.mark.parametrize("asked", ["tomorrow at 25:00", "at 9:75", "at 30"])
def test_a_time_no_day_has_is_not_replaced_by_an_earlier_wish(asked: str) -> None:
    assert "09:00" not in looked(prompt_of(asked, last=WHICH_TIME)).values()


@pytest.mark.parametrize(
    "asked", ["when is her next visit?", "any upcoming appointments", "when is it now?"]
)
def test_who_asks_for_the_next_visit_is_shown_the_appointments(asked: str) -> None:
    assert answer_as_booking(prompt_of(asked)).calls[0].name == "list_appointments"


LISTED = f"Doctors here:\n- Dr. Anna Smith\n- Dr. Peter Jones\n\n{WHICH_DOCTOR}"
WEEK = f"Dr. Jones is free on:\n- Mon 7 Jan 2030: 08:00\n- Tue 15 Jan 2030: 09:00\n\n{WHICH_DAY}"
TIMES = f"Dr. Jones, 2030-01-07: free are 08:00, 08:30, 15:00.\n{WHICH_TIME}"


@pytest.mark.parametrize(
    ("said", "last", "picked"),
    [
        ("the second one", LISTED, {"doctor_preference": "Dr. Peter Jones"}),
        ("the first", LISTED, {"doctor_preference": "Dr. Anna Smith"}),
        ("Smith, please", LISTED, {"doctor_preference": "Dr. Anna Smith"}),
        ("the second one", WEEK, {"date_preference": "Tue 15 Jan 2030"}),
        ("the last one", WEEK, {"date_preference": "Tue 15 Jan 2030"}),
        ("tuesday", WEEK, {"date_preference": "Tue 15 Jan 2030"}),
        ("tuesday 7", WEEK, {"date_preference": "Tue 15 Jan 2030"}),
        ("the 15th", WEEK, {"date_preference": "Tue 15 Jan 2030"}),
        ("the first one", TIMES, {"time_preference": "08:00"}),
        ("the last one", TIMES, {"time_preference": "15:00"}),
    ],
)
def test_a_row_of_the_list_is_picked_and_noted(
    said: str, last: str, picked: dict[str, str]
) -> None:
    noted, form = answer_as_booking(prompt_of(said, last=last)).calls
    assert noted.arguments == {"entities_to_update": picked, "words": said}
    assert set(picked.values()) <= set(form.arguments.values())


def test_a_weekday_of_another_week_is_no_row_of_the_list() -> None:
    assert looked(prompt_of("tuesday next week", last=WEEK))["day"] != "Tue 15 Jan 2030"


@pytest.mark.parametrize("said", ["rather in the afternoon", "doch lieber nachmittags"])
def test_another_part_of_the_day_takes_back_the_time_before(said: str) -> None:
    assert looked(prompt_of(said, last=TIMES))["time"] == said


@pytest.mark.parametrize("said", ["the fourth one", "the 5th"])
def test_a_row_that_the_list_does_not_have_is_not_picked(said: str) -> None:
    (form,) = answer_as_booking(prompt_of(said, last=WEEK)).calls
    assert form.name == "available_slots"
    assert form.arguments["day"] == WISHES["date_preference"]


@pytest.mark.parametrize("said", ["8", "3.", "at 14"])
def test_a_bare_hour_answers_which_time(said: str) -> None:
    assert looked(prompt_of(said, last=TIMES))["time"] == said
    other = "How strong is it, from 1 to 10?"
    assert looked(prompt_of(said, last=other))["time"] == WISHES["time_preference"]


def test_a_yes_to_a_question_for_the_day_is_no_yes_to_what_was_booked_before() -> None:
    prompt = prompt_of("yes", last=WHICH_DAY, wishes={"doctor_preference": "Dr. Jones"})
    proposal = {"action": "book_appointment", "slot_id": "s1"}
    prompt.entities = {**prompt.entities, "derived_entities": {"appointment_proposal": proposal}}
    assert looked(prompt) == {"doctor": "Dr. Jones"}


@with_cases("asked", "time")
def test_a_part_of_the_day_is_handed_on(asked: str, time: bool) -> None:
    wishes = {"doctor_preference": "Dr. Smith", "date_preference": "monday"}
    assert ("time" in looked(prompt_of(asked, wishes=wishes))) is time


def test_free_times_are_told_with_the_question_for_what_is_missing() -> None:
    slots = [{"slot_id": one, "start": f"2030-01-07 {one}"} for one in ("09:00", "14:30")]
    of_day = {"doctor": "Dr. Smith", "day": "2030-01-07", "missing": "time", "slots": slots}
    assert told(**of_day) == f"Dr. Smith, 2030-01-07: free are 09:00, 14:30.\n{WHICH_TIME}"
    assert "not free; free are 09:00" in told(**of_day, wanted_time_is_free=False)
    full = told(doctor="Dr. Smith", day="2030-01-07", missing="day")
    assert full == f"Dr. Smith, 2030-01-07: nothing is free that day.\n{WHICH_DAY}"
    next_day = [{"day": "2030-01-08", "times": ["09:00"]}]
    later = told(doctor="Dr. Smith", day="2030-01-07", days=next_day, missing="day")
    assert later.splitlines()[1:] == ["Next free:", "- Tue 8 Jan 2030: 09:00", WHICH_DAY]
    days = [{"day": "2030-01-15", "times": [f"{hour}:00" for hour in range(10, 18)]}]
    week = told(doctor="Dr. Smith", days=days, missing="day").splitlines()
    assert week[:2] == [
        "Dr. Smith is free on:",
        "- Tue 15 Jan 2030: 10:00, 11:00, 12:00, 13:00, 14:00, 15:00 and 2 more",
    ]
    assert week[-1] == WHICH_DAY


def moving(asked: str, *past: tuple[str, str]) -> Prompt:
    prompt = prompt_of(asked, last=past[-1][1] if past else "")
    prompt.past = list(past)
    return prompt


def test_a_move_names_what_was_shown_last_and_keeps_what_was_said_in_it() -> None:
    assert looked(moving("move it to friday")) == {"instead_of": "it", "day": "friday"}
    prompt = moving("11:00", ("move it to friday", TIMES))
    prompt.tool_memory = {"recent_entities": [{"type": "calendar_event", "id": "Appointment/a1"}]}
    assert looked(prompt) == {"instead_of": "a1", "day": "friday", "time": "11:00"}


@pytest.mark.parametrize("said", ["move it one day later", "verschieb ihn um einen Tag"])
def test_a_move_by_days_is_handed_on_as_said(said: str) -> None:
    assert looked(moving(said))["day"] == said


@with_cases("said", "tool")
def test_another_order_ends_a_move_that_waits_for_its_day(said: str, tool: str) -> None:
    prompt = moving(said, ("move it", f"- 2030-01-08 09:00\n\n{WHICH_DAY}"))
    (call,) = answer_as_booking(prompt).calls
    assert call.name == tool
    assert "instead_of" not in call.arguments


def test_a_free_time_is_proposed_and_not_again_after_that() -> None:
    prompt = moving("move the one on wednesday to friday at 11:00")
    free = {"wanted_time_is_free": True, "slots": [{"slot_id": "s1", "start": "2030-01-11 11:00"}],
            "moved": {"appointment_id": "a2"}}  # fmt: skip
    prompt.answers.append(ToolAnswer("available_slots", free))
    (call,) = answer_as_booking(prompt).calls
    assert (call.name, call.arguments) == (
        "move_appointment", {"appointment_id": "a2", "slot_id": "s1"},
    )  # fmt: skip
    prompt.answers.append(ToolAnswer("move_appointment", {"told": "I propose this."}))
    reply = answer_as_booking(prompt)
    assert (reply.calls, reply.text) == ((), "I propose this.")


def test_a_move_with_a_day_is_no_yes_to_what_was_proposed_before() -> None:
    prompt = moving("move it to friday", ("cancel it", WHICH_TIME))
    proposal = {"action": "cancel_appointment", "appointment_id": "a1"}
    prompt.entities = {"derived_entities": {"appointment_proposal": proposal}}
    assert looked(prompt)["day"] == "friday"


def test_a_free_time_that_the_patient_cannot_have_is_told_before_why() -> None:
    free = {"wanted_time_is_free": True, "told": "Dr. Jones: free are 11:00.",
            "slots": [{"slot_id": "s1", "start": "2030-01-11 11:00"}]}  # fmt: skip
    error = {"error": "the patient has another appointment at that time"}
    answers = [ToolAnswer("available_slots", free), ToolAnswer("book_appointment", error)]
    text = answer_as_booking(prompt_of("at 11:00", answers=answers)).text
    assert text.startswith("Dr. Jones: free are 11:00.\nI changed nothing:")


def test_a_whole_message_that_says_when_fits_into_the_form() -> None:
    asked = "book him an appointment with cardiology next tuesday afternoon, please, " * 3
    given = looked(prompt_of(asked, wishes={}))
    TimesArguments.model_validate(given)


@pytest.mark.parametrize(
    ("asked", "days"),
    [
        ("move it to the week after", 7),
        ("the day after tomorrow", None),
        ("a day earlier", -1),
        ("bring it forward two days", -2),
        ("verschieb das um zwei Tage nach vorne", -2),
        ("eine Woche nach hinten", 7),
    ],
)
def test_a_move_may_be_told_by_how_much(asked: str, days: int | None) -> None:
    shift = shift_in(asked)
    assert (None if shift is None else shift.days) == days


PROPOSED = talk_text(
    "en", "i_propose", proposed=talk_text("en", "proposed_book", start="2030-01-07")
)


@pytest.mark.parametrize("last", [WHICH_DAY, WHICH_TIME, PROPOSED, "Book *Dr. Smith*? yes / no"])
@pytest.mark.parametrize(
    "asked", ["move it to thursday", "make it thursday", "shift that to 10:30"]
)
def test_a_new_appointment_that_is_moved_before_it_is_booked_stays_new(
    asked: str, last: str
) -> None:
    given = looked(prompt_of(asked, last=last))
    assert "instead_of" not in given
    assert given["doctor"] == "Dr. Smith"
    assert "thursday" in given["day"] or given["time"] != WISHES["time_preference"]


def test_a_booked_appointment_is_moved_also_while_a_new_one_is_arranged() -> None:
    prompt = prompt_of("move my appointment to thursday", last=WHICH_DAY)
    assert "instead_of" in looked(prompt)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shown", "text"),
    [(WHICH_DOCTOR, "she vomited twice"), (WHICH_DAY, "she has crushing chest pain")],
)
def test_what_is_told_of_the_patient_is_said_not_to_be_held(shown: str, text: str) -> None:
    prompt = prompt_of(text, last=shown, wishes={})
    prompt.read = read(text, Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC)))

    reply = answer_as_booking(prompt)

    assert f"“{text}”" in reply.text
    assert reply.text.endswith(shown)
    assert not reply.calls


@pytest.mark.parametrize(
    ("asked", "day"), [("freitag vormittag", "Fr 11 Dez 2026"), ("donnerstag", "Do 10 Dez 2026")]
)
def test_a_weekday_is_that_of_the_days_that_are_shown(asked: str, day: str) -> None:
    shown = f"- Do 10 Dez 2026: 09:00\n- Fr 11 Dez 2026: 09:00\n\n{talk_text('de', 'which_day')}"
    prompt = prompt_of(asked, last=shown, wishes={"doctor_preference": "Dr. Smith"})
    prompt.past = [("termin nächste woche bei dr smith", shown)]
    assert looked(prompt)["day"] == day


@pytest.mark.parametrize("asked", ["mittwoch 9 uhr", "wednesday at 9"])
@pytest.mark.parametrize(
    ("first", "week"), [("termin nächste woche", "next week"), ("visit in 6 weeks", "in 6 weeks")]
)
def test_a_weekday_behind_a_week_is_that_weeks(asked: str, first: str, week: str) -> None:
    wishes = {"date_preference": "wednesday", "time_preference": "09:00"}
    prompt = prompt_of("dr jones", last=WHICH_DOCTOR, wishes=wishes)
    prompt.past = [(first, WHICH_DOCTOR), (asked, WHICH_DOCTOR)]
    assert looked(prompt)["day"] == f"wednesday {week}"
