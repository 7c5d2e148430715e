"""Short questions that lean on the one before them."""

from datetime import UTC, datetime

import pytest

from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation


def about(text: str, *before: str) -> tuple[ChartQuestion, ...]:
    situation = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC), asked_before=before)
    return read(text, situation).about


@pytest.mark.parametrize("text", ["and in 2015?", "what about 2015?", "und 2015?"])
def test_other_days_take_over_what_was_asked(text: str) -> None:
    (question,) = about(text, "latest potassium?")
    assert question.name == "potassium"
    assert question.arguments["since"] == "2015-01-01"
    assert question.arguments["until"] == "2015-12-31"
    assert question.aspect == "all"


def test_a_follow_up_of_a_follow_up_keeps_what_was_asked() -> None:
    (question,) = about("and in 2016?", "How many visits in 2014?", "and in 2015?")
    assert (question.tool, question.aspect) == ("encounters", "count")
    assert question.arguments["since"] == "2016-01-01"


def test_another_name_takes_over_aspect_and_days() -> None:
    (question,) = about("what about the potassium?", "lowest sodium in 2015?")
    assert (question.name, question.aspect) == ("potassium", "minimum")
    assert question.arguments["since"] == "2015-01-01"


def test_days_without_a_question_before_ask_nothing() -> None:
    assert about("and in 2015?") == ()
    assert about("and in 2015?", "thank you") == ()


def test_a_question_of_its_own_takes_nothing_over() -> None:
    (question,) = about("and what is the latest sodium?", "lowest potassium in 2015?")
    assert (question.name, question.aspect, question.span) == ("sodium", "latest", None)
    (other,) = about("and is she allergic to latex?", "lowest potassium in 2015?")
    assert other.tool == "allergies"
    assert other.span is None
