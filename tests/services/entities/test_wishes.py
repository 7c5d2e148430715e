"""What the rules read out of a user's own words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.entities.wishes import wishes_in


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
    ],
)
def test_a_request_for_an_appointment_is_read(text: str, expected: dict[str, Any]) -> None:
    assert wishes_in(text, is_booking=False) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What did Dr. Smith write tomorrow?",
        "The CT on 2024-01-03 was at 3 pm",
        "start tumor board for patient_4",
    ],
)
def test_talk_about_the_record_is_no_wish(text: str) -> None:
    assert wishes_in(text, is_booking=False) == {}


def test_of_a_pasted_letter_only_the_ends_are_read() -> None:
    letter = "Dr. Jones saw her on Monday at 9 am. " * 800
    text = f"{'.' * 1_000}{letter}{'.' * 990} at 3 pm"
    assert wishes_in(text, is_booking=True) == {"time_preference": "15:00"}


@given(st.text(max_size=300), st.booleans())
def test_no_text_breaks_the_rules(text: str, is_booking: bool) -> None:
    assert all(isinstance(value, str) for value in wishes_in(text, is_booking=is_booking).values())
