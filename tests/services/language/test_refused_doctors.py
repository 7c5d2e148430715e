"""A doctor who is ruled out is never wished for."""

from services.language.requests.appointment_slots import slots_in
from services.language.requests.requests import refused_doctors
from tests.tables import with_cases


@with_cases("text")
def test_a_doctor_who_is_ruled_out_is_not_wished_for(text: str) -> None:
    assert "doctor_preference" not in slots_in(text, is_booking=True)
    assert refused_doctors(text) == {"Smith"}


@with_cases("text")
def test_the_other_doctor_is_wished_for(text: str) -> None:
    assert slots_in(text, is_booking=True)["doctor_preference"] == "Dr. Jones"


def test_a_plain_wish_rules_nobody_out() -> None:
    assert refused_doctors("I want to see Dr. Smith tomorrow") == frozenset()
    assert refused_doctors("but Dr. Smith would be fine") == frozenset()
