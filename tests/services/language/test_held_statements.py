"""Of what clinicians write only plain statements about the patient become statements."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from services.language.told.held_statements import (
    asks_to_hold,
    held_statements,
    withdrawn_value,
    withdraws_all,
)
from tests.tables import with_cases

SENTENCES = yaml.safe_load(Path(__file__).with_name("held_sentences.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("sentence", "stated"), SENTENCES["states"].items())
def test_a_plain_statement_is_read_with_its_polarity(sentence: str, stated: list[object]) -> None:
    found = [[one.kind, one.polarity, one.value.casefold()] for one in held_statements(sentence)]
    assert found == [[kind, polarity, value.casefold()] for kind, polarity, value in stated]  # type: ignore[misc, has-type]


@pytest.mark.parametrize("sentence", SENTENCES["nothing"])
def test_what_states_nothing_about_the_patient_is_not_kept(sentence: str) -> None:
    assert held_statements(sentence) == ()


@pytest.mark.parametrize("sentence", SENTENCES["states"])
def test_the_quote_is_in_the_words_of_the_user(sentence: str) -> None:
    assert all(one.quote in sentence for one in held_statements(sentence))


@pytest.mark.parametrize("sentence", SENTENCES["states"])
def test_a_question_mark_takes_every_statement_back(sentence: str) -> None:
    assert held_statements(sentence.rstrip(". ") + "?") in ((), held_statements(sentence)[:-1])


@pytest.mark.slow
@given(st.text(max_size=300))
def test_any_text_is_read_without_failing(text: str) -> None:
    assert all(one.value and one.quote for one in held_statements(text))


@with_cases("text", "value")
def test_a_command_to_forget_one_thing_is_told_from_a_clear(text: str, value: str | None) -> None:
    assert withdrawn_value(text) == value


@pytest.mark.parametrize(
    "message", ["Could you note that she lives alone?", "Can you please remember that she is DNR?"]
)
def test_a_polite_request_is_no_question(message: str) -> None:
    assert [one.quote for one in held_statements(message)] == [message]
    assert asks_to_hold(message)


@with_cases("message", "is_meant")
def test_all_that_is_held_of_the_patient_can_be_named(message: str, is_meant: bool) -> None:
    assert withdraws_all(message) is is_meant


MOEN = ("Twyla Moen",)


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("Mrs Moen takes ramipril 5 mg", "ramipril 5 mg"),
        ("Twyla Moen is allergic to penicillin, rash", "penicillin (rash)"),
        ("Frau Moen nimmt Metformin", "Metformin"),
        ("what is she on\nFrau Moen nimmt Metformin", "Metformin"),
    ],
)
def test_what_is_stated_of_the_patient_by_name_is_held(message: str, value: str) -> None:
    assert [one.value for one in held_statements(message, MOEN)] == [value]


@with_cases("message")
def test_what_is_stated_of_anybody_else_by_name_is_not(message: str) -> None:
    assert held_statements(message, MOEN) == ()


@pytest.mark.parametrize("message", ["hes allergic to penicillin", "shes on metformin 500 mg bid"])
def test_what_is_typed_without_its_apostrophe_is_held(message: str) -> None:
    assert len(held_statements(message)) == 1


@pytest.mark.parametrize("message", ["patients allergic to penicillin", "hes allergic to?"])
def test_other_words_with_an_s_are_not(message: str) -> None:
    assert held_statements(message) == ()


def test_a_german_allergy_is_held_with_what_it_did() -> None:
    (held,) = held_statements("Er ist allergisch gegen Penicillin, Exanthem")
    assert held.value == "Penicillin (Exanthem)"


@with_cases("message", "note")
def test_a_note_about_the_open_patient_is_held(message: str, note: str | None) -> None:
    assert [one.value for one in held_statements(message, MOEN)] == ([note] if note else [])
    assert asks_to_hold(message, MOEN) is (note is not None)
