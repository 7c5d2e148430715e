"""Answers of a word or two, which the offline rules read by what was asked or listed before."""

import pytest

from group_chat.offline.assistant import is_office_request
from group_chat.offline.booking import answer_as_booking
from group_chat.offline.prompt import Prompt, Spoken, ToolOffer

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
