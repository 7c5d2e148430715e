"""Kinds of plain questions that were read as another thing: each by several wordings."""

from datetime import UTC, datetime

import pytest

from services.language.charts.chart_words import lexicon
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def asked(text: str, *before: str) -> tuple[ChartQuestion, ...]:
    situation = Situation(now=SITUATION.now, asked_before=before)
    return read(text, situation).about


def named(text: str, *before: str) -> list[tuple[str, str]]:
    return [(one.tool, one.name) for one in asked(text, *before)]


@with_cases("text", "operation")
def test_whether_an_organ_is_still_there_asks_for_its_removal(text: str, operation: str) -> None:
    assert named(text) == [("procedures", operation)]


@pytest.mark.slow
@with_cases("text", "tool", "name")
def test_what_is_meant_is_asked_and_nothing_beside_it(text: str, tool: str, name: str) -> None:
    assert named(text) == [(tool, name)]


@pytest.mark.slow
@with_cases("text", "tool", "name")
def test_what_is_asked_for_is_found(text: str, tool: str, name: str) -> None:
    assert named(text) == [(tool, name)]


@with_cases("text")
def test_what_is_taken_for_an_illness_is_its_treatment(text: str) -> None:
    assert [(one.name, one.part) for one in asked(text)] == [("bronchitis", "treatment")]


@with_cases("text")
def test_the_illness_before_is_what_is_treated(text: str) -> None:
    found = asked(text)
    assert [(one.name, one.part) for one in found] == [
        ("dementia", None),
        ("dementia", "treatment"),
    ]
    then = asked("and how was it treated?", "did he have any burns?")
    assert [(one.name, one.part) for one in then] == [("burn", "treatment")]


@with_cases("text", "ages")
def test_each_age_is_asked_about(text: str, ages: list[tuple[int | None, bool, str]]) -> None:
    assert [(one.at_age, one.is_age_in_months, one.aspect) for one in asked(text)] == ages


def test_a_question_without_a_mark_is_no_told_sentence() -> None:
    assert read("his eGFR when CKD stage 2 was diagnosed", SITUATION).task == "answer"
    assert read("his left leg is swollen", SITUATION).task == "tell"


@with_cases("text")
def test_what_it_is_and_what_it_was_asks_for_both(text: str) -> None:
    (both,) = asked(text)
    assert (both.aspect, both.arguments["since"]) == ("change", "2023-01-01")
    assert "until" not in both.arguments


@with_cases("text")
def test_values_at_visits_are_values(text: str) -> None:
    assert named(text) == [("results", "blood pressure")]


@with_cases("text", "tool")
def test_one_tool_is_asked_and_no_word_looked_for(text: str, tool: str) -> None:
    assert [one.tool for one in asked(text)] == [tool]


@pytest.mark.slow
@with_cases("before", "text", "tool", "name", "part")
def test_a_short_question_is_asked_of_what_was_named_before(
    before: str, text: str, tool: str, name: str, part: str | None
) -> None:
    (question, *_) = asked(text, before)
    assert (question.tool, question.name, question.part) == (tool, name, part)


@with_cases("before", "text", "back")
def test_which_of_several_times_is_asked_of_those_told_before(
    before: str, text: str, back: int
) -> None:
    (question,) = asked(text, before)
    assert (question.aspect, question.back) == ("first", back)


def test_a_word_is_no_slip_of_one_that_would_be_passed_over() -> None:
    assert [one.text for one in lexicon("en").pieces("displaced shwoed")] == ["displaced", "showed"]


@with_cases("text")
def test_what_is_said_of_a_question_is_used(text: str) -> None:
    assert [one.unread for one in asked(text)] == [""]


def test_whether_a_drug_may_be_started_is_no_order() -> None:
    first, *others = asked("can i start spironolactone")
    assert first.tool == "allergies"
    assert "kidney function" in [one.name for one in others]


@with_cases("text")
def test_whose_chart_is_open_is_asked_with_every_word(text: str) -> None:
    assert [(one.tool, one.name, one.unread) for one in asked(text)] == [
        ("chart_summary", "name", "")
    ]


@with_cases("text")
def test_who_called_is_no_question_for_the_patients_name(text: str) -> None:
    assert "name" not in [one.name for one in asked(text)]
