"""Short questions that lean on the one before them."""

from datetime import UTC, datetime

import pytest

from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from tests.tables import with_cases


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


def test_a_relative_clause_points_at_nothing_that_was_named_before() -> None:
    (question,) = about("allergies that are no longer active", "food allergies?")
    assert (question.tool, question.name) == ("allergies", "")


@pytest.mark.parametrize("text", ["war er 2015 in der Notaufnahme", "was he in the ER in 2015"])
def test_a_phrase_that_begins_with_a_joining_word_is_a_question_of_its_own(text: str) -> None:
    (question,) = about(text, "seit wann Insulin")
    assert (question.tool, question.name) == ("encounters", "emergency")


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


@pytest.mark.parametrize(
    ("another", "before"),
    [("and sodium?", ("creatinine?", "before?")), ("und Natrium?", ("Kreatinin?", "davor?"))],
)
def test_of_another_value_the_newest_is_asked_again(another: str, before: tuple[str, str]) -> None:
    (question,) = about(another, *before)
    assert (question.name, question.aspect, question.back) == ("sodium", "latest", 0)


def test_the_one_before_the_one_before_is_one_further_back() -> None:
    (question,) = about("and before that?", "creatinine?", "und davor?")
    assert question.back == 2


@with_cases("text", "before")
def test_whether_it_rises_is_told_by_the_course(text: str, before: str) -> None:
    (question,) = about(text, before)
    assert (question.name, question.aspect) == ("creatinine", "trend")


@pytest.mark.parametrize("text", ["what was done for it?", "is she on anything for it?"])
def test_what_was_done_for_it_is_asked_of_that_and_not_of_all(text: str) -> None:
    assert [one.name for one in about(text, "does she have asthma?")] == ["asthma"]


@pytest.mark.parametrize("text", ["was bekommt er dafür?", "was wurde dafür gemacht?"])
def test_in_one_german_word_it_is_asked_of_that_too(text: str) -> None:
    assert [one.name for one in about(text, "hat er Asthma?")] == ["asthma"]


def test_before_the_drugs_taken_now_are_those_that_ended() -> None:
    (question,) = about("and before that?", "what does she take?")
    assert question.arguments == {"status": "stopped"}


def test_the_days_asked_about_end_where_the_question_before_began() -> None:
    (question,) = about("and before that?", "latest potassium in 2015?")
    assert question.arguments["until"] == "2014-12-31"


@pytest.mark.parametrize("text", ["is she stable?", "what happened?", "any news?", "thanks"])
def test_what_speaks_of_the_patient_goes_on_from_no_value(text: str) -> None:
    assert not any(one.tool == "results" for one in about(text, "creatinine?"))


def test_mean_is_an_average_only_where_one_is_asked_for() -> None:
    assert [one.aspect for one in about("her CEA I mean")] == ["all"]
    assert [one.aspect for one in about("what is the mean CEA?")] == ["average"]
    assert about("what does the CEA mean?") == ()


def test_french_ace_is_cea_and_weight_is_asked_with_how_much() -> None:
    assert about("Quel est son dernier ACE ?")[0].name == "carcinoembryonic antigen"
    (weight,) = about("Combien pèse-t-elle ?")
    assert (weight.name, weight.aspect) == ("body weight", "all")


def test_who_prescribed_it_is_asked_of_what_was_named() -> None:
    (question,) = about("who prescribed it?", "last opioid prescription")
    assert (question.tool, question.name, question.part) == ("medications", "opioid", "people")

    (question,) = about("wer hat das verordnet?", "Wann bekam er zuletzt Ibuprofen?")
    assert (question.tool, question.name, question.part) == ("medications", "ibuprofen", "people")


def test_it_takes_over_nothing_of_another_list() -> None:
    (question,) = about("is that in the care plan?", "last opioid prescription")
    assert question.tool == "care"


def test_whether_it_is_rising_is_asked_of_now() -> None:
    (question,) = about("is it rising?", "latest CEA?", "and in 2024?")
    assert (question.name, question.aspect, question.span) == (
        "carcinoembryonic antigen",
        "trend",
        None,
    )
    assert "until" not in question.arguments


@pytest.mark.slow
@with_cases("judged", "earlier", "before")
def test_whether_it_is_good_is_asked_of_the_value_and_adds_no_name(
    judged: str, earlier: str, before: str
) -> None:
    (question,) = about(judged, before)
    assert (question.name, question.part, question.unread) == ("creatinine", "range", "")
    (question,) = about(earlier, before, judged)
    assert (question.name, question.back, question.unread) == ("creatinine", 1, "")


def test_how_long_a_drug_is_taken_is_counted_until_today() -> None:
    (question,) = about("how long has she been on it?", "when did she start alendronate?")
    assert (question.name, question.aspect) == ("alendronic acid", "when")
    assert question.asked_on is not None


@pytest.mark.parametrize(
    ("text", "before"),
    [("er for it?", "whiplash?"), ("was he in the ER for it?", "whiplash?"),
     ("war er deswegen in der Notaufnahme?", "Schleudertrauma?")],
)  # fmt: skip
def test_an_emergency_is_asked_for_with_what_was_named_before(text: str, before: str) -> None:
    (question,) = about(text, before)
    assert (question.tool, question.head) == ("encounters", "emergency")
    assert question.name.startswith("emergency ")


def test_the_next_vaccine_is_none_of_those_that_were_named_before() -> None:
    (question,) = about("next vaccine due?", "mmr doses")
    assert (question.tool, question.name) == ("immunizations", "")
