"""What the rules read out of a user's own words."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.language.requests.appointment_slots import slots_in
from tests.tables import with_cases


@with_cases("text", "expected")
def test_a_request_for_an_appointment_is_read(text: str, expected: dict[str, Any]) -> None:
    assert slots_in(text, is_booking=False) == expected


@with_cases("text", "expected")
def test_an_hour_that_something_is_moved_to_lies_in_the_working_day(
    text: str, expected: dict[str, Any]
) -> None:
    assert slots_in(text, is_booking=True) == expected


@with_cases("text")
def test_talk_about_the_record_is_no_wish(text: str) -> None:
    assert slots_in(text, is_booking=False) == {}


def test_of_a_pasted_letter_only_the_ends_are_read() -> None:
    letter = "Dr. Jones saw her on Monday at 9 am. " * 800
    text = f"{'.' * 1_000}{letter}{'.' * 990} at 3 pm"
    assert slots_in(text, is_booking=True) == {"time_preference": "15:00"}


@given(st.text(max_size=300), st.booleans())
def test_no_text_breaks_the_rules(text: str, is_booking: bool) -> None:
    assert all(isinstance(value, str) for value in slots_in(text, is_booking=is_booking).values())


@with_cases("text", "expected")
def test_what_is_refused_or_told_of_the_past_is_no_wish(text: str, expected: Any) -> None:
    assert slots_in(text, is_booking=True) == expected


@with_cases("text")
def test_a_wish_is_the_same_in_each_language(text: str) -> None:
    assert slots_in(text, is_booking=True) == {
        "doctor_preference": "Dr. Martin",
        "date_preference": "tomorrow",
        "time_preference": "15:30",
    }


@with_cases("text", "expected")
def test_a_time_said_alone_is_read_in_any_language(text: str, expected: dict[str, Any]) -> None:
    assert slots_in(text, is_booking=True) == expected
