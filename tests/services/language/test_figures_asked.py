"""Questions about figures: in a unit, per year, in percent, beyond a limit, around an event."""

from datetime import UTC, datetime

import pytest

from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from tests.tables import with_cases


def asked(text: str, *before: str) -> tuple[ChartQuestion, ...]:
    situation = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC), asked_before=before)
    return read(text, situation).about


@pytest.mark.slow
@with_cases("text", "names")
def test_words_for_how_values_are_shown_are_not_in_their_names(text: str, names: list[str]) -> None:
    (question,) = asked(text)
    assert question.arguments["names"] == names


@with_cases("text", "aspect", "rate")
def test_what_is_told_of_a_year_or_in_percent(text: str, aspect: str, rate: str) -> None:
    assert [(one.aspect, one.rate) for one in asked(text)] == [(aspect, rate)]


@with_cases("text", "relation", "event")
def test_values_are_asked_of_the_days_of_an_event(text: str, relation: str, event: str) -> None:
    (question,) = asked(text)
    assert (question.tool, question.when) == ("results", relation)
    assert [one.name for one in question.around] == [event]


def test_an_age_at_the_first_of_a_kind_asks_for_no_visit() -> None:
    found = asked("how old was she at her first tetanus shot")
    assert "encounters" not in {one.tool for one in found}


def test_a_fragment_is_read_in_the_language_of_the_conversation() -> None:
    situation = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC), language="de")
    found = read("Gewicht in Pfund", situation)
    assert [(one.name, one.unit) for one in found.about] == [("body weight", "[lb_av]")]


def test_a_follow_up_is_read_in_the_language_of_the_talk() -> None:
    situation = Situation(
        now=datetime(2026, 11, 22, 12, tzinfo=UTC), language="de", asked_before=("Kreatinin?",)
    )
    assert [one.rate for one in read("Unterschied in %", situation).about] == ["percent"]


@pytest.mark.parametrize(
    ("text", "left"),
    [("LDL on 25/4", "25"), ("what was bp on that visit", "on that visit")],
)
def test_a_day_that_is_not_known_is_said_to_be_left_out(text: str, left: str) -> None:
    assert left.split(maxsplit=1)[0] in asked(text)[0].unread


@with_cases("text", "aspect", "back")
def test_a_place_from_an_end_is_counted(text: str, aspect: str, back: int) -> None:
    (question,) = asked(text)
    assert (question.aspect, question.back, question.unread) == (aspect, back, "")


@with_cases("text", "aspect", "most")
def test_as_many_from_an_end_are_asked_for(text: str, aspect: str, most: int) -> None:
    (question,) = asked(text)
    assert (question.aspect, question.most, question.unread) == (aspect, most, "")


@with_cases("text", "before", "when")
def test_a_side_of_what_was_asked_last(text: str, before: str, when: str) -> None:
    (question,) = asked(text, before)
    assert (bool(question.around), question.when, question.unread) == (True, when, "")


def test_what_follows_is_no_course_of_all_times() -> None:
    assert not any(one.aspect == "trend" for one in asked("danach gesunken?", "höchstes LDL"))


LDL = "low density lipoprotein cholesterol"
