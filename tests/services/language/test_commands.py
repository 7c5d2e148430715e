import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.replies.commands import (
    command_in,
    is_clear_command,
    without_outer_punctuation,
)
from tests.tables import with_cases


@with_cases("text")
def test_an_exact_command_clears(text: str) -> None:
    assert is_clear_command(text)


@with_cases("text")
def test_other_wordings_do_not_clear_by_themselves(text: str) -> None:
    assert not is_clear_command(text)


@pytest.mark.parametrize("piece", [" ", "-", "_", "\u0301", "\n", "?!"])
def test_a_million_marks_between_two_letters_are_read_in_one_pass(piece: str) -> None:
    text = f"a{piece * (1_000_000 // len(piece))}b"  # one that looks twice would never end
    assert not is_clear_command(text)
    assert without_outer_punctuation(f"--{text}--") == text


@given(st.text(max_size=40))
def test_marks_are_taken_off_as_an_expression_would(text: str) -> None:
    assert without_outer_punctuation(text) == re.sub(r"\A[\W_]+|[\W_]+\Z", "", text)


@with_cases("text", "command")
def test_an_order_is_a_whole_message(text: str, command: str | None) -> None:
    assert command_in(text) == command


@pytest.mark.parametrize("text", ["restore", "bring it back", "Alles wiederherstellen"])
def test_a_clear_is_undone_by_the_words_for_it(text: str) -> None:
    assert command_in(text) == "undo_clear"
