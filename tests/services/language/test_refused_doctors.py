"""A doctor who is ruled out is never wished for."""

import pytest

from services.language.appointment_slots import slots_in
from services.language.requests import refused_doctors


@pytest.mark.parametrize(
    "text",
    [
        "an appointment tomorrow at 10, anyone but Dr. Smith",
        "book me with anybody except Dr. Smith",
        "I don't want to see Dr. Smith, book somebody else",
        "please book, but not with Dr. Smith",
        "another doctor than usual, no Dr. Smith please, book tomorrow",
    ],
)
def test_a_doctor_who_is_ruled_out_is_not_wished_for(text: str) -> None:
    assert "doctor_preference" not in slots_in(text, is_booking=True)
    assert refused_doctors(text) == {"Smith"}


@pytest.mark.parametrize(
    "text",
    [
        "I want to see Dr. Jones tomorrow at 10, anyone but Dr. Smith",
        "not Dr. Smith but Dr. Jones",
        "Dr. Jones instead of Dr. Smith",
    ],
)
def test_the_other_doctor_is_wished_for(text: str) -> None:
    assert slots_in(text, is_booking=True)["doctor_preference"] == "Dr. Jones"


def test_a_plain_wish_rules_nobody_out() -> None:
    assert refused_doctors("I want to see Dr. Smith tomorrow") == frozenset()
    assert refused_doctors("but Dr. Smith would be fine") == frozenset()
