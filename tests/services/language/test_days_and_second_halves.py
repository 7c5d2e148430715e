"""Nothing of a question is dropped unsaid: its second half, and the time it names."""

from datetime import UTC, datetime

import pytest

from services.language.charts.answer_words import answer_words
from services.language.people.descriptions import spoken_sex
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.choosing.unsaid import said_unread
from tests.tables import with_cases


def asked(text: str, *before: str, language: str = "en") -> tuple[ChartQuestion, ...]:
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    return read(text, Situation(now=now, language=language, asked_before=before)).about


def named(text: str, *before: str) -> list[tuple[str, str, str | None]]:
    return [(one.tool, one.name, one.part) for one in asked(text, *before)]


@with_cases("text", "found")
def test_both_sides_are_asked_about(text: str, found: list[tuple[str, str]]) -> None:
    assert [one[:2] for one in named(text)] == found


@with_cases("text", "names")
def test_whether_it_is_normal_is_asked(text: str, names: str) -> None:
    assert named(text) == [("results", names, "range")]


def test_a_time_that_is_ago_in_german_is_no_woman() -> None:
    words = ["wie", "lange", "ist", "der", "letzte", "hba1c", "her"]
    assert spoken_sex(words, words) is None
    english = ["was", "her", "sodium", "low"]
    assert spoken_sex(english, english) == "female"
    (question,) = asked(" ".join(words))
    assert (question.name, question.aspect) == ("hemoglobin a1c", "latest")


@with_cases("text", "day")
def test_an_appointment_of_days_that_are_over_is_a_visit(text: str, day: str) -> None:
    (question,) = asked(text)
    assert (question.tool, question.arguments["since"]) == ("encounters", day)


def test_a_length_of_time_that_nobody_understands_is_said() -> None:
    (question,) = asked("egfr in 3 months")
    told = said_unread(question, "**eGFR**: 60", answer_words("en"))
    assert "“in 3 months”" in told.splitlines()[0]
    assert told.endswith("**eGFR**: 60")
    assert [one.unread for one in asked("how many visits per month")] == ["per month"]
    assert [one.unread for one in asked("wie viele Besuche pro Monat?")] == ["pro Monat"]
    (whole,) = asked("egfr in the last 3 months")
    assert said_unread(whole, "**eGFR**: 60", answer_words("en")) == "**eGFR**: 60"


@with_cases("text", "since", "until")
def test_parts_of_years_are_days(text: str, since: str, until: str) -> None:
    (question,) = asked(text)
    assert (question.arguments["since"], question.arguments["until"]) == (since, until)
    assert len(question.arguments["names"]) == 1


@with_cases("text", "aspects")
def test_whom_they_saw_is_told_beside_how_often(text: str, aspects: list[str]) -> None:
    found = asked(text)
    assert {one.tool for one in found} == {"encounters"}
    assert [one.aspect for one in found] == aspects


@with_cases("text")
def test_an_age_at_a_visit_is_of_then(text: str) -> None:
    assert [one.tool for one in asked(text)] == ["encounters", "chart_summary"]
    assert [one.tool for one in asked("what is her age right now")] == ["chart_summary"]


@with_cases("text", "tool", "arguments", "is_begun")
def test_what_is_asked_of_a_visit_is_of_that_visit(
    text: str, tool: str, arguments: dict[str, object], is_begun: bool
) -> None:
    (question,) = asked(text)
    (visit,) = question.around
    assert (question.tool, question.when, question.is_begun) == (tool, "within", is_begun)
    assert arguments.items() <= question.arguments.items()
    assert (visit.tool, visit.aspect in ("latest", "first")) == ("encounters", True)


@with_cases("text", "before")
def test_the_year_before_is_of_those_that_were_asked_about(text: str, before: str) -> None:
    (question,) = asked(text, before)
    assert (question.tool, question.arguments) == ("encounters", {"since": "2015-01-01"})


@with_cases("text", "before")
def test_then_is_the_days_before(text: str, before: str) -> None:
    (question,) = asked(text, before)
    assert (question.tool, question.arguments) == ("encounters", {"since": "2018-01-01"})


@pytest.mark.parametrize(
    "text", ["patient is her hemoglobin low", "patient was there any lab after her last er visit"]
)
def test_a_question_behind_a_name_is_not_told(text: str) -> None:
    assert asked(text) != ()
    assert asked("patient is diabetic since 2019") == ()
