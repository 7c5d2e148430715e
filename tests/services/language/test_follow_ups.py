"""Short questions that lean on the one before them."""

from datetime import UTC, datetime

import pytest

from services.language.follow_ups.leaning_words import asks_which, every
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from tests.tables import with_cases


def about(text: str, *before: str) -> tuple[ChartQuestion, ...]:
    situation = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC), asked_before=before)
    return read(text, situation).about


@with_cases("text", "before", "aspect", "back", "unread")
def test_which_of_a_list_is_asked_is_counted_or_all_of_it_is_told(
    text: str, before: str, aspect: str, back: int, unread: str
) -> None:
    (question,) = about(text, before)
    assert (question.aspect, question.back, question.unread) == (aspect, back, unread)


@pytest.mark.slow
@with_cases("text", "before")
def test_the_one_before_is_asked_of_the_same(text: str, before: str) -> None:
    (question,) = about(text, before)
    assert (question.tool, question.name, question.aspect) == ("results", "creatinine", "latest")
    assert question.back == 1


@with_cases("text", "before")
def test_whether_it_rises_is_told_by_the_course(text: str, before: str) -> None:
    (question,) = about(text, before)
    assert (question.name, question.aspect) == ("creatinine", "trend")


def test_a_name_written_like_a_small_word_goes_on_from_nothing() -> None:
    (question,) = about("größe 2012 und 2020", "what language does he speak?")
    assert (question.tool, question.name) == ("results", "body height")


def test_the_lowest_is_asked_of_no_month_that_was_asked_about() -> None:
    (question,) = about("what was it at lowest", "psa", "and in november")
    assert (question.aspect, question.month) == ("minimum", "")


@pytest.mark.parametrize("text", ["is she stable?", "what happened?", "any news?", "thanks"])
def test_what_speaks_of_the_patient_goes_on_from_no_value(text: str) -> None:
    assert not any(one.tool == "results" for one in about(text, "creatinine?"))


@pytest.mark.slow
@with_cases("judged", "earlier", "before")
def test_whether_it_is_good_is_asked_of_the_value_and_adds_no_name(
    judged: str, earlier: str, before: str
) -> None:
    (question,) = about(judged, before)
    assert (question.name, question.part, question.unread) == ("creatinine", "range", "")
    (question,) = about(earlier, before, judged)
    assert (question.name, question.back, question.unread) == ("creatinine", 1, "")


@pytest.mark.parametrize(
    ("text", "before"),
    [("er for it?", "whiplash?"), ("was he in the ER for it?", "whiplash?"),
     ("war er deswegen in der Notaufnahme?", "Schleudertrauma?")],
)  # fmt: skip
def test_an_emergency_is_asked_for_with_what_was_named_before(text: str, before: str) -> None:
    (question,) = about(text, before)
    assert (question.tool, question.head) == ("encounters", "emergency")
    assert question.name.startswith("emergency ")


def test_the_words_of_all_languages_are_joined_once() -> None:
    assert asks_which(["which"])
    joined = every.cache_info().currsize
    assert asks_which(["which"])
    assert every.cache_info().currsize == joined
