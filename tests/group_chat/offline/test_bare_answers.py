"""Answers of a word or two, which the offline rules read by what was asked or listed before."""

import json

import pytest

from group_chat.offline.booking import answer_as_booking
from group_chat.offline.facilitator import answer_as_facilitator
from group_chat.offline.offline_chat import reply_to
from group_chat.offline.prompt import Exchange, Prompt, Spoken, ToolAnswer, ToolOffer
from group_chat.offline.scenario import answer_in_scenario
from group_chat.offline.secretary import is_office_request

WISHES = {"doctor_preference": "Dr. Smith", "date_preference": "2030-01-07"}
ASKED_TIME = "Dr. Smith, 2030-01-07: free are 08:00, 15:00.\nWhich time suits?"


def booking(asked: str, last: str) -> Prompt:
    return Prompt(
        tools=[ToolOffer(wire_name="rounds-available_slots")],
        entities={"entities": WISHES},
        asked=asked,
        earlier=[Spoken("AppointmentManager", last)],
    )


@pytest.mark.parametrize(("said", "time"), [("8", "08:00"), ("3.", "15:00"), ("12", "12:00")])
def test_a_bare_hour_answers_which_time(said: str, time: str) -> None:
    call = answer_as_booking(booking(said, ASKED_TIME)).calls[0]
    assert call.arguments["time"] == time


def test_a_bare_number_is_no_hour_where_no_time_was_asked_for() -> None:
    call = answer_as_booking(booking("8", "How strong is it, from 1 to 10?")).calls[0]
    assert "time" not in call.arguments


@pytest.mark.parametrize("said", ["move the first to 5 pm", "cancel the first one"])
def test_the_first_of_a_calendar_is_no_question_about_the_past(said: str) -> None:
    shown = {"recent_entities": [{"type": "calendar_event", "id": "evt_1"}]}
    assert is_office_request(Prompt(asked=said, tool_memory=shown))
    assert not is_office_request(Prompt(asked="when was the first scan", tool_memory=shown))


def test_a_bare_hour_counts_after_a_time_that_is_taken() -> None:
    taken = "Dr. Smith, 2030-01-07: that time is not free; free are 09:00.\nWhich time suits?"
    prompt = booking("9", taken)
    prompt.entities = {"entities": {**WISHES, "time_preference": "08:00"}}
    assert answer_as_booking(prompt).calls[0].arguments["time"] == "09:00"


def test_next_week_is_looked_up_day_by_day() -> None:
    prompt = booking("next week", "Which day suits?")
    prompt.snapshot = {"generated_at": "2030-01-02T08:00:00Z"}  # a Wednesday
    days = [call.arguments["day"] for call in answer_as_booking(prompt).calls]
    assert days == ["2030-01-07", "2030-01-08", "2030-01-09", "2030-01-10", "2030-01-11"]


def test_a_week_is_told_in_order_and_a_weekday_of_it_is_that_day() -> None:
    prompt = booking("next week", "Which day suits?")
    slot = {"slots": [{"start": "2030-01-08 09:00"}], "doctor": "Dr. Smith"}
    later, sooner = {**slot, "day": "2030-01-15"}, {**slot, "day": "2030-01-08"}
    prompt.answers = [ToolAnswer("available_slots", later), ToolAnswer("available_slots", sooner)]
    told = answer_as_booking(prompt).text
    assert told.index("Tue 8 Jan 2030") < told.index("Tue 15 Jan 2030")
    assert told.endswith("Which day suits?")
    listed = "Dr. Smith is free on:\n- Tue 15 Jan 2030: 09:00\n\nWhich day suits?"
    for said in ("tuesday", "the 15th"):
        call = answer_as_booking(booking(said, listed)).calls[-1]
        assert call.arguments["day"] == "2030-01-15"


def moving(asked: str, *past: Exchange) -> Prompt:
    """Say it where two appointments with one doctor are booked."""
    rows = [
        {"appointment_id": "a1", "start": "2030-01-08 09:00", "doctor": "Dr. Anna Smith"},
        {"appointment_id": "a2", "start": "2030-01-09 10:00", "doctor": "Dr. Anna Smith"},
    ]
    return Prompt(
        tools=[ToolOffer(wire_name="rounds-available_slots")],
        asked=asked,
        past=list(past),
        earlier=[Spoken("AppointmentManager", one.answered) for one in past],
        answers=[ToolAnswer("list_appointments", {"appointments": rows})],
    )


def test_a_move_of_one_of_two_asks_which_and_keeps_the_day_it_goes_to() -> None:
    which = answer_as_booking(moving("move it to friday")).text
    assert which.endswith("Which appointment shall I move?")
    for said in ("2", "the one on wednesday"):
        prompt = moving(said, Exchange("move it to friday", which))
        assert answer_as_booking(prompt).calls[0].arguments["day"] == "friday"


@pytest.mark.parametrize(
    ("said", "day", "time"),
    [
        ("move it one day later", "2030-01-09", "09:00"),
        ("move it two hours earlier", "2030-01-08", "07:00"),
        ("push it back by a week", "2030-01-15", "09:00"),
        ("verschieb ihn um einen Tag", "2030-01-09", "09:00"),
        ("verschiebe ihn um eine Woche nach hinten, eine Woche später", "2030-01-15", "09:00"),
    ],
)
def test_a_move_by_days_or_hours_is_reckoned_from_what_is_booked(
    said: str, day: str, time: str
) -> None:
    prompt = moving(said)
    rows = prompt.answers[0].data["appointments"][:1]
    prompt.answers = [ToolAnswer("list_appointments", {"appointments": rows})]
    asked = answer_as_booking(prompt).calls[0].arguments
    assert (asked["day"], asked["time"]) == (day, time)


@pytest.mark.parametrize("said", ["cancel it", "sag ihn ab", "book a visit with Dr. Jones"])
def test_another_order_ends_a_move_that_waits_for_its_day(said: str) -> None:
    prompt = moving(said, Exchange("move it", "- 2030-01-08 09:00\n\nWhich day suits?"))
    prompt.answers = []
    prompt.tools = [ToolOffer("cancel_appointment"), ToolOffer("find_doctor")]
    assert answer_as_booking(prompt).calls[0].wire_name != "list_appointments"
    assert answer_as_booking(prompt).calls, "it is done, not asked for a day again"


def test_a_move_that_was_proposed_is_not_proposed_again() -> None:
    prompt = moving("move the one on wednesday to friday at 11:00")
    free = {"wanted_time_is_free": True, "slots": [{"slot_id": "s1", "start": "2030-01-11 11:00"}]}
    proposal = {"action": "move_appointment", "start": "2030-01-11 11:00"}
    prompt.answers += [
        ToolAnswer("available_slots", free),
        ToolAnswer("move_appointment", {"proposal": proposal}),
    ]
    reply = answer_as_booking(prompt)
    assert not reply.calls
    assert "2030-01-11 11:00" in reply.text


def test_a_move_with_a_day_is_no_yes_to_what_was_proposed_before() -> None:
    prompt = booking("move it to friday", "Which time suits?")
    prompt.tools = [ToolOffer(wire_name="list_appointments"), ToolOffer("cancel_appointment")]
    proposal = {"action": "cancel_appointment", "appointment_id": "a1"}
    prompt.entities = {"derived_entities": {"appointment_proposal": proposal}}
    assert answer_as_booking(prompt).calls[0].wire_name == "list_appointments"


def test_a_step_is_told_in_the_words_in_quotes_not_in_those_to_the_agent() -> None:
    facts = {"scenario": "Intake", "step": "Welcome", "asked": False, "ask_for": []}

    def told(says: str) -> str:
        line = f"SCENARIO_JSON: {json.dumps({**facts, 'says': says})}"
        reply = answer_in_scenario(Prompt(instructions=line, tools=[ToolOffer("record_fields")]))
        assert reply is not None
        return reply.text

    assert told('Greet: "Hello there."') == "**Intake**, Welcome: Hello there. Shall we go on?"
    assert told("Greet, and name the purpose.") == "**Intake**, Welcome. Shall we go on?"


def test_a_scenario_that_is_not_published_is_said_to_be_so_with_what_to_do() -> None:
    prompt = Prompt(asked="start oncology intake", snapshot={"patient_id": "patient_4"})
    text = answer_as_facilitator(prompt).text
    assert "oncology intake" in text
    assert "/operator" in text


def test_advice_for_models_is_not_shown_to_people() -> None:
    error = "it is not clear which event is meant; list or search them first"
    tools = [ToolOffer("rounds-list_events"), ToolOffer("rounds-cancel_event")]
    answers = [ToolAnswer("cancel_event", {"error": error})]
    told = reply_to(Prompt(asked="cancel it", tools=tools, answers=answers)).text
    assert told.endswith("I changed nothing: it is not clear which event is meant.")
