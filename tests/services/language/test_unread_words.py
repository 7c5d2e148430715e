"""Which words of a chart question are said not to be understood: all that no answer uses."""

from dataclasses import replace
from datetime import UTC, date, datetime

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


@pytest.mark.parametrize(
    ("before", "text", "unread"),
    [
        ("what does she take?", "and the last two?", "two"),
        ("is she on metformin?", "the first two?", "two"),
        ("last LDL?", "and HDL in the morning?", "in the morning"),
        ("last LDL?", "not the last one", "not"),
    ],
)
def test_what_a_question_that_leans_on_another_leaves_out_is_named_too(
    before: str, text: str, unread: str
) -> None:
    (question,) = read(text, replace(SITUATION, asked_before=(before,))).about
    assert question.unread == unread


def test_as_many_as_are_named_are_asked_of_what_was_asked_before() -> None:
    (question,) = read("and the last two?", replace(SITUATION, asked_before=("last LDL?",))).about
    assert (question.arguments["last"], question.unread) == (2, "")


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


def test_a_limit_that_goes_on_has_the_days_that_are_said_with_it() -> None:
    before = replace(SITUATION, asked_before=("how many creatinine > 3",))
    (question,) = read("and > 2.5 since 2018?", before).about
    assert (question.above, question.arguments["since"]) == (2.5, "2018-01-01")


def test_the_year_after_is_the_one_behind_the_one_asked_about() -> None:
    before = replace(SITUATION, asked_before=("how many visits in 2017",))
    (question,) = read("and the year after?", before).about
    assert question.span is not None
    assert (question.span.since, question.span.until) == (date(2018, 1, 1), date(2018, 12, 31))
    assert question.unread == ""


def test_a_length_of_time_that_is_used_is_not_named() -> None:
    before = replace(SITUATION, asked_before=("weight at the whiplash",))
    (question,) = read("and a year later?", before).about
    assert question.shift is not None
    assert question.unread == ""


def test_what_was_measured_with_it_is_of_its_time() -> None:
    before = replace(SITUATION, asked_before=("letzter Arztbesuch wegen Sinusitis",))
    (question,) = read("Gewicht dabei?", before).about
    assert [one.tool for one in question.around] == ["encounters"]
