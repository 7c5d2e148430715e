"""What a record has in other words than the question, and what it says was never given."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
from services.records.rows.finding import find_series, means
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def row(kind: str, name: str, date: str = "2020-01-01", **more: object) -> ViewRow:
    source = f"Row/{name[:4]}-{date}"
    return ViewRow.model_validate(
        {"kind": kind, "name": name, "date": date, "sources": (source,), **more}
    )


def said(text: str, rows: Mapping[str, tuple[ViewRow, ...]]) -> str:
    """Answer as the built-in rules do: each list that is asked for is looked up."""
    utterance = read(text, SITUATION)
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    while True:
        told = answered(utterance.about, given, answer_words(utterance.language), text=text)
        if isinstance(told, str):
            return told
        shown = rows.get(f"{told.tool} {told.name}", rows.get(told.tool, ()))
        given.append((told, ChartView(tool=told.tool, kind="table", title="", rows=shown)))
        assert len(given) < 10, told


def test_a_value_of_the_time_of_what_is_absent_is_told_of_all_times() -> None:
    value = row("laboratory", "Hemoglobin", value="11.2", unit="g/dL")
    *absent, lead, told = said("post chemo hb", {"results": (value,)}).splitlines()
    assert "not in the record" in " ".join(absent)
    assert "of all times" in lead
    assert told == "**Hemoglobin**: 11.2 g/dL, 2020-01-01 [Row/Hemo-2020-01-01]"


@with_cases("asked", "label", "is_meant")
def test_a_drug_is_called_by_how_its_name_begins(asked: str, label: str, is_meant: bool) -> None:
    assert means("drug", asked, label=label, codes=()) is is_meant


def test_nothing_is_found_for_a_name_of_small_words() -> None:
    assert find_series((), "in the").series == ()


@with_cases("text", "told")
def test_where_no_allergy_is_recorded_nothing_is_said_of_one(text: str, told: str) -> None:
    assert told in said(text, {})


CHEMO = (
    row("procedure", "Chemotherapy", "2018-05-28"),
    row("procedure", "Chemotherapy", "2018-10-30"),
)
COUNTS = tuple(
    row("laboratory", "Hemoglobin", day, value=f"{value}", unit="g/dL", number=value)
    for day, value in (
        ("2015-01-01", 5.1),
        ("2018-05-28", 7.6),
        ("2018-09-01", 6.3),
        ("2021-01-01", 14.2),
    )
)


@with_cases("text", "told", "silent")
def test_a_value_of_a_time_is_one_of_that_time(text: str, told: str, silent: str) -> None:
    answer = said(text, {"procedures": CHEMO, "results": COUNTS})
    assert f"{told} g/dL" in answer
    assert f"{silent} g/dL" not in answer


def test_where_a_time_has_no_days_a_value_is_not_told_as_one_of_it() -> None:
    answer = said("lowest hb during chemo", {"results": COUNTS})
    before, _, value = answer.partition("The record gives no days for that")
    assert "5.1 g/dL" in value
    assert "g/dL" not in before
    paragraphs = answer.split("\n\n")
    assert len(paragraphs) == len(set(paragraphs))


def test_what_is_taken_by_its_beginning_is_found() -> None:
    assert means("drug", "amox", label="Amoxicillin 250 MG Oral Capsule", codes=())
    assert means("vaccine", "mening", label="meningococcal MCV4P", codes=())
    assert not means("problem", "card", label="Cardiomyopathy", codes=())


@pytest.mark.parametrize("text", ["any chronic problems?", "Welche Diagnosen hat er?"])
def test_where_no_problem_is_active_those_that_are_over_are_told(text: str) -> None:
    over = (row("problem", "Otitis media", status="resolved", end="2020-02-01"),)
    utterance = read(text, SITUATION)
    none = ChartView(tool="problems", kind="table", title="", rows=())
    whole = ChartView(tool="problems", kind="table", title="", rows=over)
    words = answer_words(utterance.language)
    asked = answered(utterance.about, [(utterance.about[0], none)], words)
    assert isinstance(asked, ChartQuestion)
    assert asked.arguments == {"status": "all"}
    told = answered(utterance.about, [(utterance.about[0], none), (asked, whole)], words)
    assert isinstance(told, str)
    assert told.startswith(words.say("no_problems"))
    assert "**Otitis media**" in told


PREGNANCIES = row("problem", "Normal pregnancy", "2017-01-07", end="2017-08-19", status="resolved",
                  detail="recorded 2 times, last 2017-01-07, before 2014-11-22–2015-06-20",
                  code=("http://snomed.info/sct|72892002",))  # fmt: skip
BLOOD = tuple(
    row("laboratory", "Hemoglobin", day, value=value, number=float(value), unit="g/dL")
    for day, value in (("2018-05-19", "13.2"), ("2015-05-16", "11.6"), ("2012-05-12", "12.1"))
)


@with_cases("text", "is_told", "is_not")
def test_what_was_during_several_times_of_an_illness_is_told_of_each(
    text: str, is_told: str, is_not: str
) -> None:
    told = said(text, {"problems": (PREGNANCIES,), "results": BLOOD})
    assert is_told in told
    assert is_not not in told


@with_cases("text", "is_told")
def test_the_code_that_something_is_recorded_with_is_told(text: str, is_told: str) -> None:
    assert is_told in said(text, {"problems": (PREGNANCIES,), "results": BLOOD})


@with_cases("text", "is_told", "is_not")
def test_where_it_is_a_word_that_nobody_knows_it_alone_is_absent(
    text: str, is_told: str, is_not: str
) -> None:
    told = said(text, {})
    assert is_told in told
    assert is_not not in told


STUDY = row("imaging study", "Mammography", "2015-02-20", detail="Breast structure")
SCANS = (
    row("procedure", "Mammography (procedure)", "2018-02-20"),
    row("procedure", "Mammography (procedure)", "2015-02-20"),
)


@with_cases("text", "lines")
def test_scans_that_only_procedures_tell_of_are_counted_with_the_images(
    text: str, lines: list[str]
) -> None:
    told = said(text, {"imaging_reports": (STUDY,), "procedures": SCANS}).splitlines()
    assert len(told) == len(lines)
    assert all(map(str.__contains__, told, lines))


def test_how_large_a_tumour_was_is_told_by_its_measure() -> None:
    size = row(
        "laboratory", "Size.maximum dimension in Tumor", "2015-03-12", value="2.6", unit="cm"
    )
    told = said("how big was the tumour", {"results": (size,), "procedures": SCANS})
    assert told.startswith("**Size.maximum dimension in Tumor**: 2.6 cm")
