"""Which words of a chart question are said not to be understood: all that no answer uses."""

from datetime import UTC, datetime

import pytest

from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def asked(text: str) -> tuple[ChartQuestion, ...]:
    return read(text, SITUATION).about


@pytest.mark.slow
@with_cases("text", "unread")
def test_what_no_answer_goes_by_is_named(text: str, unread: str) -> None:
    assert unread in [one for question in asked(text) for one in question.unread.split(", ")]


@pytest.mark.slow
@with_cases("text", "unread")
def test_no_limit_of_any_kind_is_passed_over(text: str, unread: str) -> None:
    named = ", ".join(one.unread for one in asked(text)).split(", ")
    assert any(unread.casefold() in one.casefold() for one in named)


@pytest.mark.slow
@with_cases("text")
def test_what_claims_nothing_or_is_used_is_not(text: str) -> None:
    questions = asked(text)
    assert questions
    assert [one.unread for one in questions if one.unread] == []


@with_cases("text", "name")
def test_which_of_like_parts_of_the_body_asks_for_the_side(text: str, name: str) -> None:
    assert [(one.name, one.part) for one in asked(text)] == [(name, "side")]


def test_days_that_nothing_keeps_to_are_named() -> None:
    assert "2015" in asked("what is her phone number in 2015?")[0].unread
