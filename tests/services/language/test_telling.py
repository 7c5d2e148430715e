"""What tells something is told from what asks for something."""

import pytest

from services.language.requests.work import impossible_wish
from services.language.told.telling import is_told, told_in
from tests.tables import with_cases


@pytest.mark.slow
@with_cases("text")
def test_a_sentence_with_its_subject_and_verb_is_told(text: str) -> None:
    assert is_told(text)


@pytest.mark.slow
@with_cases("text")
def test_what_asks_or_orders_is_not_told(text: str) -> None:
    assert not is_told(text)


@with_cases("text")
def test_what_only_may_tell_is_kept_and_answered(text: str) -> None:
    assert not is_told(text)
    assert told_in(text) == (text,)


@with_cases("text")
def test_what_is_ordered_for_the_patient_is_kept(text: str) -> None:
    assert impossible_wish(text) == "only_read"
    assert told_in(text) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "start osimertinib when",
        "hold the statin?",
        "stop",
        "size of polyp removed",
        "ct chest from may",
        "patient Twyla Moen",
        "chart of twyla moen",
        "Patient: Bryan Breitenberg",
    ],
)
def test_what_asks_when_a_drug_is_given_orders_nothing(text: str) -> None:
    assert impossible_wish(text) is None
    assert told_in(text) == []


def test_a_request_for_a_number_is_not_even_half_told() -> None:
    assert told_in("phone number of the GP") == []
