"""What is worked out of values: per year, in percent, in another unit, beyond both figures."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.questions.question_figures import arguments_of
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def result(name: str, value: str, unit: str, date: str) -> ViewRow:
    number = float(value) if "/" not in value else None
    return ViewRow(kind="laboratory", name=name, value=value, number=number, unit=unit, date=date,
                   sources=(f"Observation/{name[:3]}{date}",))  # fmt: skip


def visit(name: str, date: str) -> ViewRow:
    return ViewRow(kind="encounter", name=name, value="ambulatory", date=date,
                   sources=(f"Encounter/{date}",))  # fmt: skip


ROWS: Mapping[str, tuple[ViewRow, ...]] = {
    "creatinine": (
        result("Creatinine", "1.5", "mg/dL", "2020-01-01"),
        result("Creatinine", "1.0", "mg/dL", "2018-01-01"),
    ),
    "body weight": (
        result("Body weight", "80", "kg", "2019-06-01"),
        result("Body weight", "90", "kg", "2018-06-01"),
    ),
    "body height": (
        result("Body height", "92.78", "cm", "2019-06-01").model_copy(update={"number": 92.78241}),
        result("Body height", "93.5", "cm", "2018-06-01").model_copy(update={"number": 93.50004}),
    ),
    "creatine kinase": (
        result("Creatine kinase", "120", "U/L", "2020-01-01"),
        result("Creatine kinase", "2250", "U/L", "2019-06-01"),
        result("Creatine kinase", "90", "U/L", "2019-03-01"),
        result("Creatine kinase", "140", "U/L", "2018-06-01"),
    ),
    "blood pressure": (
        result("Blood pressure", "150/70", "mm[Hg]", "2020-01-01"),
        result("Blood pressure", "130/95", "mm[Hg]", "2019-01-01"),
        result("Blood pressure", "120/80", "mm[Hg]", "2018-01-01"),
    ),
    "encounters": (
        visit("Office visit", "2020-05-01"),
        visit("Encounter for check up", "2019-05-01"),
        visit("Office visit", "2018-07-01"),
        visit("Encounter for check up", "2018-05-01"),
        visit("Encounter for check up", "2017-05-01"),
    ),
    "immunizations": (
        ViewRow(kind="immunization", name="Tetanus",
                date="2013-03-27", sources=("Immunization/2",)),
        ViewRow(kind="immunization", name="Tetanus",
                date="2003-03-27", sources=("Immunization/1",)),
    ),
    "chart_summary": (
        ViewRow(kind="patient", name="Ann Example", value="female", date="2001-03-26",
                detail="born 2001-03-26", sources=("Patient/p",)),
    ),
}  # fmt: skip


def rows_for(question: ChartQuestion) -> tuple[ViewRow, ...]:
    arguments: Mapping[str, Any] = arguments_of(question)
    if question.tool != "results":
        return ROWS.get(question.tool, ())[: arguments.get("last", 99)]
    return tuple(row for name in arguments["names"] for row in ROWS.get(name, ()))


def answer(text: str) -> str:
    utterance = read(text, SITUATION)
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    for _ in range(6):
        told = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(told, str):
            return told
        given.append((told, ChartView(tool=told.tool, kind="table", title="", rows=rows_for(told))))
    raise AssertionError(given)


def test_a_change_does_not_hide_what_lies_between_its_ends() -> None:
    first, highest, lowest = answer("is the creatine kinase rising?").splitlines()
    assert "140 U/L (2018-06-01)" in first
    assert first.endswith("-20 U/L")
    assert "2250 U/L, 2019-06-01" in highest
    assert "90 U/L, 2019-03-01" in lowest
    assert len(answer("is creatinine rising?").splitlines()) == 1


def test_a_change_is_no_finer_than_its_values() -> None:
    assert answer("how did the height change?").endswith("-0.72 cm")


def test_counts_and_averages_are_told_of_each_year() -> None:
    assert answer("visits per year").splitlines()[1:] == [
        "- 2020: 1", "- 2019: 1", "- 2018: 2", "- 2017: 1",
    ]  # fmt: skip
    assert "- 2018: Average Creatinine: 1.0 mg/dL" in answer("average creatinine by year")


def test_a_unit_that_needs_the_weight_of_a_molecule_is_not_converted() -> None:
    told = answer("creatinine in umol/L")
    assert "in mg/dL" in told.splitlines()[0]
    assert "umol/L" in told.splitlines()[0]
    assert "1.5 mg/dL" in told
    assert "above" not in answer("was creatinine above 150 umol/L?")


def test_the_last_of_a_kind_are_found_behind_other_visits() -> None:
    assert [line.count("check up") for line in answer("last 2 check ups").splitlines()] == [1, 1]


def test_what_is_not_said_of_a_value_is_named_before_it() -> None:
    told = answer("gobbledygook creatinine")
    assert "gobbledygook" in told.splitlines()[0]
    assert "1.5 mg/dL" in told
