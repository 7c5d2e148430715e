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


@with_cases("text", "tool", "name")
def test_what_is_meant_by_words_of_the_wards(text: str, tool: str, name: str) -> None:
    first = read(text, SITUATION).about[0]
    assert (first.tool, first.name) == (tool, name)


@with_cases("text", "tool", "name", "head")
def test_abbreviations_and_what_of_them_is_meant(
    text: str, tool: str, name: str | None, head: str
) -> None:
    first = read(text, SITUATION).about[0]
    assert (first.tool, first.head) == (tool, head)
    assert name is None or first.name == name


def test_treatment_is_asked_of_the_last_illness_whatever_was_asked_between() -> None:
    earlier = ("when was her colon cancer diagnosed?", "what stage?")
    situation = Situation(now=SITUATION.now, asked_before=earlier)
    (question,) = read("how was it treated?", situation).about
    assert (question.tool, question.part) == ("problems", "treatment")
    assert "colon" in question.name
