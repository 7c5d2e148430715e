from dataclasses import replace

import pytest

from data_models.identifiers import PatientId
from services.patient_context.reading.reading import Ask, Reading, of_things, read_message
from services.patient_context.reading.rules import (
    decide_by_rules,
    is_bare_switch,
    may_concern_patient,
)
from tests.services.patient_context.world import PATTERN
from tests.tables import with_cases

ONE = ("patient_4",)
TWO = ("patient_15", "patient_4")
THREE = ("patient_7", "patient_15", "patient_4")


def read(text: str, roster: tuple[str, ...], active: str | None) -> Reading:
    pointer = None if active is None else PatientId(active)
    known = [PatientId(one) for one in roster]
    return read_message(text, active=pointer, known=known, pattern=PATTERN)


@with_cases("text")
def test_nothing_here_can_concern_another_patient(text: str) -> None:
    assert not may_concern_patient(read(text, ONE, "patient_4"))


@with_cases("text")
def test_a_word_or_an_id_or_its_digits_may(text: str) -> None:
    assert may_concern_patient(read(text, ONE, "patient_4"))


def test_a_bare_id_of_another_form_may() -> None:
    assert may_concern_patient(read("mrn-AB12CD", ("mrn-AB12CD", *ONE), "patient_4"))


@pytest.mark.parametrize(
    "text",
    [*["the other", "another", "previous", "go back", "next", "first", "last", "second"], "患者"],
)
def test_relative_words_count_once_there_are_two(text: str) -> None:
    assert may_concern_patient(read(text, TWO, "patient_4"))
    assert not may_concern_patient(read(text, ONE, "patient_4"))


@with_cases("text", "roster", "active", "expected")
def test_plain_wordings_need_no_model(
    text: str, roster: tuple[str, ...], active: str | None, expected: tuple[str, str | None]
) -> None:
    decision = decide_by_rules(read(text, roster, active))
    assert decision is not None
    assert (decision.action, decision.patient_id) == expected


@pytest.mark.parametrize(
    ("text", "action"), [("the other one", "UNCHANGED"), ("the other patient", "SWITCH_EXISTING")]
)
def test_who_was_asked_which_event_they_mean_speaks_of_one(text: str, action: str) -> None:
    reading = of_things(read(text, TWO, "patient_4"))
    decision = decide_by_rules(reading)
    assert decision is not None
    assert decision.action == action
    assert is_bare_switch(reading) == (action == "SWITCH_EXISTING")


@with_cases("text")
def test_what_is_said_in_passing_is_for_a_model(text: str) -> None:
    assert decide_by_rules(read(text, TWO, "patient_4")) is None


def test_a_negated_id_opens_nobody_where_nobody_is_active() -> None:
    assert decide_by_rules(read("don't open patient_15", TWO, None)) is None


@with_cases("text", "roster", "is_bare")
def test_a_number_alone_opens_where_no_form_may_have_asked_for_it(
    text: str, roster: tuple[str, ...], is_bare: bool
) -> None:
    assert is_bare_switch(read(text, roster, "patient_4")) == is_bare


def test_a_number_of_somebody_new_that_is_asked_about_opens_alone() -> None:
    asked_about = Ask("meant", options=(PatientId("patient_21"),))
    reading = replace(read("and 21?", ONE, "patient_4"), placed=(), doubt=asked_about)
    assert is_bare_switch(reading)
