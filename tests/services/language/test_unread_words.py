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


@with_cases("text", "unread")
def test_what_no_answer_goes_by_is_named(text: str, unread: str) -> None:
    assert unread in [one for question in asked(text) for one in question.unread.split(", ")]


@pytest.mark.slow
@with_cases("text", "unread")
def test_no_limit_of_any_kind_is_passed_over(text: str, unread: str) -> None:
    named = ", ".join(one.unread for one in asked(text)).split(", ")
    assert any(unread.casefold() in one.casefold() for one in named)


def test_what_is_set_aside_is_not_told_for_the_others() -> None:
    (question,) = asked("last visit that was not a checkup")
    assert (question.tool, question.name, question.unread) == ("encounters", "", "not a checkup")


@pytest.mark.parametrize(
    "text",
    [
        "how many visits in 2018 not counting checkups",
        "no checkups pls",
        "visits but no checkups",
        "Besuche ohne Vorsorge",
    ],
)
def test_a_kind_of_visits_is_left_out(text: str) -> None:
    (question,) = asked(text)
    assert (question.tool, question.without, question.unread) == ("encounters", ("check up",), "")


def test_what_is_left_out_by_name_is_left_out() -> None:
    (labs,), (drugs,) = asked("labs other than lipids"), asked("Medikamente außer Statinen")
    assert (labs.tool, labs.without, labs.unread) == ("results", ("lipid panel",), "")
    assert (drugs.tool, drugs.without, drugs.unread) == ("medications", ("statin",), "")


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


@pytest.mark.parametrize(
    ("text", "asked_for"),
    [
        ("ldl before and after starting simvastatin", [("before", "all"), ("after", "all")]),
        ("LDL vor/nach Simvastatin", [("before", "all"), ("after", "all")]),
        ("tg now vs before the statin", [("before", "all"), ("since", "latest")]),
        ("ist LDL niedriger als vor dem Statin?", [("before", "all"), ("since", "latest")]),
    ],
)
def test_both_sides_of_an_event_are_asked_for(text: str, asked_for: list[tuple[str, str]]) -> None:
    told = [(one.when if one.around else "since", one.aspect) for one in asked(text)]
    assert told == asked_for


@pytest.mark.slow
@with_cases("text")
def test_what_claims_nothing_or_is_used_is_not(text: str) -> None:
    questions = asked(text)
    assert questions
    assert [one.unread for one in questions if one.unread] == []


@pytest.mark.parametrize(
    "text", ["könntest du mir bitte kurz die Ziele zeigen", "great, her goals"]
)
def test_a_courtesy_names_nothing(text: str) -> None:
    assert [(one.tool, one.name) for one in asked(text)] == [("care", "goal")]


@with_cases("text", "name")
def test_which_of_like_parts_of_the_body_asks_for_the_side(text: str, name: str) -> None:
    assert [(one.name, one.part) for one in asked(text)] == [(name, "side")]


def test_a_vaccination_keeps_its_topic_where_the_arm_is_asked_too() -> None:
    (question,) = asked("Welche Impfung zuletzt und in welchen Arm?")
    assert (question.tool, question.aspect, question.part) == ("immunizations", "latest", "side")


def test_a_stay_for_something_stays_a_stay() -> None:
    (question,) = asked("was he hospitalised for the fracture?")
    assert (question.name, question.head) == ("inpatient admission fracture", "inpatient admission")


def test_a_therapy_by_its_name_is_no_list_of_all() -> None:
    (question,) = asked("heat therapy since when?")
    assert (question.tool, question.name) == ("search_record", "heat")


@pytest.mark.parametrize(
    "text", ["problem list w/o resolved ones", "meds without the stopped ones"]
)
def test_without_those_that_are_over_asks_for_the_others(text: str) -> None:
    (question,) = asked(text)
    assert (question.arguments, question.unread) == ({}, "")


def test_a_word_cut_short_is_the_one_that_begins_so() -> None:
    (question,) = asked("Wird die Herzinsuff. behandelt?")
    assert (question.tool, question.part) == ("problems", "treatment")


def test_a_second_question_is_not_counted_because_the_first_is() -> None:
    drugs = [one for one in asked("how many visits, and which drugs?") if one.tool == "medications"]
    assert [one.aspect for one in drugs] == ["all"]


def test_her_heart_rate_is_no_illness_of_her_heart() -> None:
    (question,) = asked("When was her heart rate lowest?")
    assert (question.tool, question.name) == ("results", "heart rate")


@pytest.mark.parametrize(
    ("text", "aside"),
    [
        ("ldl every value except 2020", "except 2020"),
        ("visits not in 2020", "not in 2020"),
        ("Besuche außer 2020", "außer 2020"),
    ],
)
def test_days_that_are_set_aside_are_not_those_that_are_told(text: str, aside: str) -> None:
    (question,) = asked(text)
    assert (question.span, question.unread) == (None, aside)


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


def test_values_on_a_drug_are_those_of_its_time() -> None:
    (question,) = asked("weight gain on metformin")
    assert [(one.tool, one.name) for one in question.around] == [("medications", "metformin")]


def test_what_changed_by_more_than_a_figure_is_no_value_beyond_it() -> None:
    (question,) = asked("hb dropped more than 1 since 2015?")
    assert (question.above, question.unread) == (None, "more than 1")
    (question,) = asked("potassium rose above 5?")
    assert question.above == 5


def test_a_length_of_time_that_is_used_is_not_named() -> None:
    before = replace(SITUATION, asked_before=("weight at the whiplash",))
    (question,) = read("and a year later?", before).about
    assert question.shift is not None
    assert question.unread == ""


def test_what_was_measured_with_it_is_of_its_time() -> None:
    before = replace(SITUATION, asked_before=("letzter Arztbesuch wegen Sinusitis",))
    (question,) = read("Gewicht dabei?", before).about
    assert [one.tool for one in question.around] == ["encounters"]
