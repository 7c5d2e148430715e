import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.patient_context.commands import (
    is_clear_command,
    is_confirmation,
    is_no,
    is_yes,
    without_outer_punctuation,
)


@pytest.mark.parametrize(
    "text",
    ["clear", "Clear patient", " CLEAR CONTEXT! ", "`clear patient context`", "clear  patient.\n"],
)
def test_an_exact_command_clears(text: str) -> None:
    assert is_clear_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "clear all",
        "please clear",
        "clear patient_4",
        "don't clear",
        "clear the patient",
        "clear, patient",
        "unclear",
        "margins clear",
        "clear\u200bpatient",
    ],
)
def test_other_wordings_do_not_clear_by_themselves(text: str) -> None:
    assert not is_clear_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "confirm",
        "Yes",
        "yes proceed",
        "Yes, please proceed!",
        "ok",
        "Okay.",
        "sure, go ahead",
        "sounds good",
        "SOUNDS GOOD!!",
        "continue please",
        "yes 👍",
    ],
)
def test_confirmation_words_alone_confirm(text: str) -> None:
    assert is_confirmation(text)


@pytest.mark.parametrize(
    "text",
    ["", "please", "yes but skip radiology", "ok?no", "go", "ahead", "not ok", "yes " * 40, "no"],
)
def test_anything_more_is_no_confirmation(text: str) -> None:
    assert not is_confirmation(text)


@pytest.mark.parametrize("text", ["yes", "Y", "yes please", "Yes, proceed.", "do it", "ok"])
def test_these_say_yes_to_a_question(text: str) -> None:
    assert is_yes(text)


@pytest.mark.parametrize("text", ["", "proceed", "continue", "sounds good", "yes to radiology"])
def test_these_do_not_say_yes_to_a_question(text: str) -> None:
    assert not is_yes(text)


@pytest.mark.parametrize(
    "text", ["no", "No.", "cancel", "no, cancel", "don't", "Don\u2019t!", "stop"]
)
def test_these_say_no(text: str) -> None:
    assert is_no(text)
    assert not is_yes(text)
    assert not is_confirmation(text)


@pytest.mark.parametrize("text", ["", "no new lesions", "nothing", "please", "yes"])
def test_these_do_not_say_no(text: str) -> None:
    assert not is_no(text)


@pytest.mark.parametrize("piece", [" ", "-", "_", "\u0301", "\n", "?!"])
def test_sixteen_thousand_marks_between_two_letters_are_read_in_no_time(piece: str) -> None:
    text = f"a{piece * (16_000 // len(piece))}b"
    began = time.process_time()
    assert not is_clear_command(text)
    assert without_outer_punctuation(f"--{text}--") == text
    assert time.process_time() - began < 5.0


@given(st.text(max_size=40))
def test_marks_are_taken_off_as_an_expression_would(text: str) -> None:
    assert without_outer_punctuation(text) == re.sub(r"\A[\W_]+|[\W_]+\Z", "", text)
