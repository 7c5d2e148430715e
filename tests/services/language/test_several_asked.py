"""Several things asked of several names in one breath: each gets what was asked of it."""

from datetime import UTC, datetime

import pytest

from services.language.charts.chart_words import lexicon
from services.language.reading import read
from services.language.utterance import Situation
from services.language.words.vocabulary import LANGUAGES
from services.records.concepts.table import ConceptKind, concept_table
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def asked(text: str) -> list[tuple[str, str, str]]:
    return [(one.tool, one.aspect, one.name) for one in read(text, SITUATION).about]


@with_cases("text", "aspects")
def test_each_value_is_asked_as_it_is_meant(text: str, aspects: list[tuple[str, str]]) -> None:
    assert asked(text) == [("results", *one) for one in aspects]


@pytest.mark.parametrize(
    ("text", "tool", "head"),
    [
        ("hemoglobin in urine", "results", ""),
        ("protein/creatinine ratio", "results", ""),
        ("any face stitches?", "procedures", "suture"),
        ("does she chew an epipen", "medications", "epinephrine"),
    ],
)
def test_what_may_be_told_of_a_longer_name(text: str, tool: str, head: str) -> None:
    assert (tool, head) in [(one.tool, one.head) for one in read(text, SITUATION).about]


def test_a_salt_that_is_taken_is_no_list_of_values() -> None:
    assert asked("is he on potassium chloride?") == [
        ("medications", "whether", "potassium chloride")
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_measured_is_found_by_the_names_of_the_vocabulary(language: str) -> None:
    kinds: dict[str, ConceptKind] = {"results": "result", "immunizations": "vaccine"}
    names = lexicon(language).words.names
    unknown = [
        name
        for tool, kind in kinds.items()
        for name in names.get(tool, {})
        if concept_table().named(kind, name) is None
    ]
    assert unknown == []


@with_cases("text", "tools")
def test_lists_that_are_looked_at(text: str, tools: list[str]) -> None:
    found = asked(text)
    assert [tool for tool, _, _ in found] == tools
    assert len(tools) == 1 or {aspect for _, aspect, _ in found}.isdisjoint({"whether"}), (
        "that one of them holds it is no yes to the other"
    )


def test_what_somebody_needs_is_not_what_was_done() -> None:
    (question,) = read("does he need a colonoscopy?", SITUATION).about
    assert (question.aspect, question.part) == ("all", "due")


@with_cases("text", "tool", "name")
def test_what_is_meant_by_words_of_the_wards(text: str, tool: str, name: str) -> None:
    first = read(text, SITUATION).about[0]
    assert (first.tool, first.name) == (tool, name)


def test_what_is_no_operation_is_asked_of_the_time_after_it() -> None:
    (question,) = read("opiates after surgery?", SITUATION).about
    assert (question.tool, question.name) == ("medications", "opioid")
    assert [(one.tool, one.name) for one in question.around] == [("procedures", "operation")]


def test_an_age_behind_at_is_the_year_of_life() -> None:
    (question,) = read("bmi at 16", SITUATION).about
    assert (question.name, question.at_age) == ("body mass index", 16)


def test_a_dose_of_a_vaccine_is_no_illness() -> None:
    (question,) = read("zoster second dose date", SITUATION).about
    assert (question.tool, question.name) == ("immunizations", "zoster")


def test_a_value_and_what_is_not_known_are_two() -> None:
    assert asked("last potassium and zonulin")[0][2] == "potassium, zonulin"
    assert asked("bilirubin, direct")[0][2] == "bilirubin direct"


@with_cases("text", "tool", "name", "head")
def test_abbreviations_and_what_of_them_is_meant(
    text: str, tool: str, name: str | None, head: str
) -> None:
    first = read(text, SITUATION).about[0]
    assert (first.tool, first.head) == (tool, head)
    assert name is None or first.name == name


def test_the_newest_and_the_highest_may_be_parted_by_a_slash() -> None:
    assert [aspect for _, aspect, _ in asked("a1c latest/highest")] == ["latest", "maximum"]


def test_each_age_of_a_list_is_asked_of() -> None:
    found = read("wt at birth, 6 mo and 2 yrs", SITUATION).about
    assert [(one.name, one.at_age, one.is_age_in_months) for one in found] == [
        ("body weight", 0, False),
        ("body weight", 6, True),
        ("body weight", 2, False),
    ]


def test_treatment_is_asked_of_the_last_illness_whatever_was_asked_between() -> None:
    earlier = ("when was her colon cancer diagnosed?", "what stage?")
    situation = Situation(now=SITUATION.now, asked_before=earlier)
    (question,) = read("how was it treated?", situation).about
    assert (question.tool, question.part) == ("problems", "treatment")
    assert "colon" in question.name


def test_a_german_verb_is_no_part_of_a_diagnosis() -> None:
    (question,) = read("Welche Diagnosen kamen seit 2010 dazu?", SITUATION).about
    assert (question.tool, question.name, question.is_begun) == ("problems", "", True)


def test_what_is_taken_for_it_is_taken_for_the_illness_before() -> None:
    found = read("since when has he htn and what does he take for it?", SITUATION).about
    assert [(one.name, one.part) for one in found] == [
        ("hypertension", None),
        ("hypertension", "treatment"),
    ]
