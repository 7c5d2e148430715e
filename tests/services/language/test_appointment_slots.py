"""What the rules read out of a user's own words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.appointment_slots import slots_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I want Dr. Smith", {"doctor_preference": "Dr. Smith"}),
        ("book me in at 3", {"time_preference": "15:00"}),
        ("an appointment at 8 am", {"time_preference": "08:00"}),
        ("an appointment at 12 am", {"time_preference": "00:00"}),
        ("an appointment at 9", {"time_preference": "09:00"}),
        ("an appointment at 25", {}),
        ("appointment on Monday, no, on Tuesday", {"date_preference": "tuesday"}),
        (
            "book a follow-up in 2 weeks at 3pm",
            {
                "date_preference": "in 2 weeks",
                "time_preference": "15:00",
                "procedure_preference": "follow-up",
            },
        ),
        (
            "Termin in zwei Wochen um 15 Uhr vereinbaren",
            {"date_preference": "in two weeks", "time_preference": "15:00"},
        ),
        (
            "what times are free tomorrow with Dr. Jones?",
            {"doctor_preference": "Dr. Jones", "date_preference": "tomorrow"},
        ),
        (
            "book an appointment with cardiology on Monday",
            {"doctor_preference": "cardiology", "date_preference": "monday"},
        ),
        (
            "Wann ist Dr. Smith am Montag frei?",
            {"doctor_preference": "Dr. Smith", "date_preference": "monday"},
        ),
    ],
)
def test_a_request_for_an_appointment_is_read(text: str, expected: dict[str, Any]) -> None:
    assert slots_in(text, is_booking=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("move it to 3", {"time_preference": "15:00"}),
        ("verschiebe ihn auf 3", {"time_preference": "15:00"}),
        ("move it to 10.", {"time_preference": "10:00"}),
        ("move it to 3 May", {"date_preference": "3 may"}),
        ("move it to the 3rd", {}),
    ],
)
def test_an_hour_that_something_is_moved_to_lies_in_the_working_day(
    text: str, expected: dict[str, Any]
) -> None:
    assert slots_in(text, is_booking=True) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What did Dr. Smith write tomorrow?",
        "The CT on 2024-01-03 was at 3 pm",
        "start tumor board for patient_4",
        "Dr. Smith said that she is free of disease",
        "is she free of disease since she saw Dr. Jones?",
    ],
)
def test_talk_about_the_record_is_no_wish(text: str) -> None:
    assert slots_in(text, is_booking=False) == {}


def test_of_a_pasted_letter_only_the_ends_are_read() -> None:
    letter = "Dr. Jones saw her on Monday at 9 am. " * 800
    text = f"{'.' * 1_000}{letter}{'.' * 990} at 3 pm"
    assert slots_in(text, is_booking=True) == {"time_preference": "15:00"}


@given(st.text(max_size=300), st.booleans())
def test_no_text_breaks_the_rules(text: str, is_booking: bool) -> None:
    assert all(isinstance(value, str) for value in slots_in(text, is_booking=is_booking).values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3pm doesn't work for me, at 4 would be better", {"time_preference": "16:00"}),
        ("any day but Friday", {}),
        (
            "Can't do 9am. Anything after 14:00 is fine, but not at 16:30",
            {"time_preference": "14:00"},
        ),
        ("5pm instead of 3pm", {"time_preference": "17:00"}),
        ("it's not urgent", {}),
        (
            "Book with Dr. Smith Monday",
            {"doctor_preference": "Dr. Smith", "date_preference": "monday"},
        ),
        (
            "book dr smith on 3 December",
            {"doctor_preference": "Dr. Smith", "date_preference": "3 december"},
        ),
        ("What did Dr. Sandoval write on Monday about the MRI? The scan was at 14:00", {}),
        ("cancel the call with Dr. Weber on friday at 16:00 in my calendar", {}),
        ("Dr. Weber's note of Monday at 9 says the MRI is stable", {}),
        ("she was seen by Dr. Weber on Monday", {}),
    ],
)
def test_what_is_refused_or_told_of_the_past_is_no_wish(text: str, expected: Any) -> None:
    assert slots_in(text, is_booking=True) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I want an appointment with Dr. Martin tomorrow at half past three",
        "Ich möchte einen Termin bei Dr. Martin morgen um halb vier",
        "Je voudrais un rendez-vous avec Dr. Martin demain à 15h30",
        "Quiero una cita con Dr. Martin mañana a las 15:30",
    ],
)
def test_a_wish_is_the_same_in_each_language(text: str) -> None:
    assert slots_in(text, is_booking=True) == {
        "doctor_preference": "Dr. Martin",
        "date_preference": "tomorrow",
        "time_preference": "15:30",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("um 10 Uhr", {"time_preference": "10:00"}),
        ("um zehn Uhr", {"time_preference": "10:00"}),
        ("halb elf", {"time_preference": "10:30"}),
        ("a las 10", {"time_preference": "10:00"}),
        ("was ist mit den 10 Tabletten?", {}),
    ],
)
def test_a_time_said_alone_is_read_in_any_language(text: str, expected: dict[str, Any]) -> None:
    assert slots_in(text, is_booking=True) == expected
