# Look-alike letters are meant here.
# ruff: noqa: RUF001

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.words.folding import fold
from services.patient_context.reading.line_filter import LineFilter
from services.patient_context.reading.markers import MARK

FOOTER = (
    "---\n*PT_CTX:*\n- **Patient ID:** `patient_15`\n"
    "- **Session Patients:** `patient_15` (active), `patient_4`\n- **Conversation ID:** `c`"
)


def without_reserved_lines(text: str) -> str:
    reserved = LineFilter()
    return reserved.feed(text) + reserved.finish()


PIECES = st.sampled_from(
    [
        *["PATIENT", "_CONTEXT", "_JSON", ":", "{}", "*PT", "_CTX", ":*", "*", "**", "---", "***"],
        *["\n", "\r", " ", "> ", "- ", "`", "\\", "\u200b", "a", "p", "patient ", "Р", "ＰＴ"],
        *["- **Patient ID", "s", ":**", "- *No active patient.*", "session patients", FOOTER],
    ]
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(f"Answer.\n\n{FOOTER}", "Answer.\n\n", id="a footer at the end"),
        pytest.param(f"One.\n{FOOTER}\nTwo.\n", "One.\nTwo.\n", id="a footer in the middle"),
        pytest.param("PATIENT_CONTEXT_JSON: {}\nText", "Text", id="a snapshot line"),
        pytest.param("  > *patient_context_json*: {}\nText", "Text", id="a quoted snapshot line"),
        pytest.param("So: PATIENT_CONTEXT_JSON: {}\nText", "So: \nText", id="a snapshot in a line"),
        pytest.param("*PT_CTX:*\n- *No active patient.*\nText", "Text", id="nobody is active"),
        pytest.param("*PT_CTX:*\n\n- **Patient ID:** x\nText", "\nText", id="a blank line between"),
        pytest.param(
            "*PT_CTX:*\nText\n- **Patient ID:** y", "Text\n- **Patient ID:** y", id="it has ended"
        ),
        pytest.param("PT\\_CTX", "", id="an escaped footer mark"),
    ],
)
def test_reserved_lines_are_removed(text: str, shown: str) -> None:
    assert without_reserved_lines(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Stage: T2N1M0\n\n---\n\nPlan:\n- one\n- two\n***\n",
        "- **Patient ID:** is a column here\n",
        "text\n- **Patient ID:** is a column here\n",
        "The patient context in JSON",
        "pt CTX day 1",
        "PATIENT_CONTEXT",
        "---",
        "| a | b |\n|---|---|\n| *x* | `y` |",
        "ends with a star *",
        "Title\n---\ntext",
        "-" * 500 + "\n",
    ],
)
def test_ordinary_text_passes_whole(text: str) -> None:
    assert without_reserved_lines(text) == text


def test_ordinary_words_are_not_delayed() -> None:
    reserved = LineFilter()
    assert reserved.feed("Stage ") == "Stage "
    assert reserved.feed("IIIA, ECOG 1") == "IIIA, ECOG 1"


def test_text_that_may_become_a_mark_waits_for_the_next_piece() -> None:
    reserved = LineFilter()
    assert reserved.feed("The pat") == "The "
    assert reserved.feed("ch was removed") == "patch was removed"


def test_a_mark_cut_short_is_text() -> None:
    reserved = LineFilter()
    assert reserved.feed("see PATIENT_CONTEXT") == "see "
    assert reserved.finish() == "PATIENT_CONTEXT"


@given(st.lists(PIECES, max_size=20))
def test_how_a_text_is_cut_never_changes_what_is_shown(pieces: list[str]) -> None:
    text = "".join(pieces)
    by_characters = LineFilter()
    by_pieces = LineFilter()
    shown = "".join(by_characters.feed(character) for character in text) + by_characters.finish()
    assert shown == without_reserved_lines(text)
    assert "".join(map(by_pieces.feed, pieces)) + by_pieces.finish() == shown


@given(st.lists(PIECES, max_size=20))
def test_nothing_that_is_shown_holds_a_mark(pieces: list[str]) -> None:
    lines = without_reserved_lines("".join(pieces)).split("\n")
    assert [line for line in lines if MARK.search(fold(line)[0])] == []


@given(st.text(alphabet="abcdefgh \n.,-", max_size=200))
def test_text_without_marks_comes_out_as_it_went_in(text: str) -> None:
    assert without_reserved_lines(text) == text
