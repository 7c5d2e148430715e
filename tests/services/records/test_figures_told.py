"""What is worked out of values: per year, in percent, in another unit, beyond both figures."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

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


def test_a_change_is_told_in_percent_of_the_first_value() -> None:
    assert answer("% change in creatinine").endswith("+0.5 mg/dL, +50.0 % of the first value")


def test_a_change_is_told_per_year_where_it_took_one() -> None:
    assert answer("rate of rise of creatinine").endswith("+0.5 mg/dL, +0.2502 mg/dL a year")
    assert not answer("how much did creatinine rise").endswith("a year")
    assert not answer("rate of change of the weight").endswith("a year")  # a day less than a year


def test_a_change_does_not_hide_what_lies_between_its_ends() -> None:
    first, highest, lowest = answer("is the creatine kinase rising?").splitlines()
    assert "140 U/L (2018-06-01)" in first
    assert first.endswith("-20.0 U/L")
    assert "2250 U/L, 2019-06-01" in highest
    assert "90 U/L, 2019-03-01" in lowest
    assert len(answer("is creatinine rising?").splitlines()) == 1


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


def test_a_limit_in_another_unit_is_compared_in_it() -> None:
    assert answer("was creatinine above 12 mg/L?").startswith("Yes. 1 of 2")


@pytest.mark.parametrize(
    ("text", "count"), [("BP ever >140/90?", "2 of 3"), ("BP ever <140/90?", "1 of 3")]
)
def test_either_figure_of_a_pressure_may_be_above_and_both_are_below(text: str, count: str) -> None:
    assert answer(text).startswith(f"Yes. {count}")


def test_the_last_of_a_kind_are_found_behind_other_visits() -> None:
    assert [line.count("check up") for line in answer("last 2 check ups").splitlines()] == [1, 1]


def test_the_age_is_told_of_the_first_alone() -> None:
    told = answer("how old was she at her first tetanus shot")
    assert "at the age of 2 " in told
    assert "at the age of 12" not in told


def test_what_is_not_said_of_a_value_is_named_before_it() -> None:
    told = answer("gobbledygook creatinine")
    assert "gobbledygook" in told.splitlines()[0]
    assert "1.5 mg/dL" in told


def test_the_age_is_told_of_the_day_of_a_value() -> None:
    told = answer("latest creatinine, how old was she?")
    assert "**Creatinine** (2020-01-01): at the age of 18" in told
    assert "at the age of" not in answer("how old is she and what is her latest creatinine?")


def test_a_place_from_the_highest_is_told_as_such() -> None:
    assert answer("second highest creatine kinase").startswith(
        "2. Highest **Creatine kinase**: 140"
    )
    assert "2 values of Creatinine" in answer("4th lowest creatinine")


def test_a_value_is_told_of_the_day_of_the_lowest_of_another() -> None:
    told = answer("creatinine at the highest blood pressure")
    assert "1.5 mg/dL, 2020-01-01" in told
    assert "Highest **Creatinine**" not in told


def test_how_many_values_of_some_days_an_end_is_of_is_told() -> None:
    assert "2 values of Creatine kinase" in answer("highest creatine kinase in 2019")


def test_each_of_two_times_has_its_own_mean() -> None:
    told = answer("mean creatine kinase before 2019 vs after 2018")
    assert "140.0 U/L (1 value" in told
    assert "820.0 U/L (3 values" in told


def test_values_since_a_birthday_and_before_it_are_told_apart() -> None:
    assert "1 value" in answer("how many weights since she turned 18")
    assert "1 value" in answer("how many weights before age 18")


def test_how_far_two_values_are_apart_is_told() -> None:
    assert "2 years (730 days)" in answer("how long between the creatinine checks")


@pytest.mark.parametrize(
    ("text", "told", "untold"),
    [
        ("top 2 creatine kinase", ("2250", "140"), ("120", "90 ")),
        ("the two lowest creatine kinase values", ("90 ", "120"), ("2250", "140")),
        ("was creatine kinase between 100 and 150?", ("120", "140", "2/4"), ("2250", "90 ")),
        ("how often was creatine kinase above 100 and below 130", ("120", "1/4"), ("140", "2250")),
        ("first two checkups", ("2017-05-01", "2018-05-01"), ("2019-05-01",)),
    ],
)
def test_as_many_and_such_values_are_told_as_are_asked_for(
    text: str, told: tuple[str, ...], untold: tuple[str, ...]
) -> None:
    said = answer(text)
    assert [one for one in told if one not in said] == []
    assert [one for one in untold if one in said] == []
