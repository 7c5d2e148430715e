# Look-alike letters are meant here.
# ruff: noqa: RUF001

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import ConfigurationError
from data_models.identifiers import PatientId
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from tests.tables import tables_beside, with_cases

DEFAULT = PatientIdPattern.compile(DEFAULT_PATTERN)
NO_ROSTER: tuple[PatientId, ...] = ()


@cache
def mixed() -> PatientIdPattern:
    return PatientIdPattern.compile("^(patient_[0-9]+|mrn-[A-Z0-9]{6})$")


def ids(*names: str) -> tuple[PatientId, ...]:
    return tuple(map(PatientId, names))


@with_cases("text")
def test_what_is_not_wholly_an_id_does_not_match(text: str) -> None:
    assert not DEFAULT.matches(text)


@pytest.mark.parametrize("text", ["patient_4", "patient_15", "patient_" + "1" * 56])
def test_an_id_matches(text: str) -> None:
    assert DEFAULT.matches(text)


@given(st.text(max_size=80) | st.from_regex(DEFAULT_PATTERN))
def test_whatever_matches_is_safe_in_a_file_name(text: str) -> None:
    safe = re.fullmatch(r"patient_[0-9]+", text, re.ASCII) is not None and len(text) <= 64
    assert DEFAULT.matches(text) == safe


@with_cases("source", "example")
def test_the_example_has_the_configured_form(source: str, example: str | None) -> None:
    if example is None:
        with pytest.raises(ConfigurationError):
            PatientIdPattern.compile(source)
        return
    pattern = PatientIdPattern.compile(source)
    assert pattern.example() == example
    assert all(pattern.matches(one) for one in pattern.examples)


def test_each_alternative_has_an_example() -> None:
    assert {"patient_4", "mrn-4A7B2C"} <= set(mixed().examples)


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        pytest.param("", id="empty"),
        pytest.param("a" * 501, id="too long"),
        pytest.param("[", id="invalid"),
        pytest.param("(" * 200 + ")" * 200, id="deep and empty"),
        pytest.param(r"^(p)\2$", id="unknown group"),
        pytest.param("^.*$", id="anything"),
        pytest.param("^patient_.+$", id="a slash"),
        pytest.param(r"^patient_[0-9]+\s*$", id="a newline"),
        pytest.param("^patient_[0-9.]+$", id="two dots"),
        pytest.param(r"^[0-9]+[\\/][0-9]+$", id="a path"),
        pytest.param("^MRN:[0-9]+$", id="a colon"),
        pytest.param("^.{200}$", id="too long an id"),
        pytest.param("^[а-я]+$", id="not ASCII"),
        pytest.param("^_[0-9]+$", id="begins unsafely"),
    ],
)
def test_an_unsafe_pattern_stops_the_start(source: str) -> None:
    with pytest.raises(ConfigurationError, match=r"PATIENT_ID_PATTERN .*for example \^patient_"):
        PatientIdPattern.compile(source)


def refused(source: str) -> str:
    with pytest.raises(ConfigurationError) as error:
        PatientIdPattern.compile(source)
    return str(error.value)


@pytest.mark.slow
def test_a_pattern_that_can_blow_up_stops_the_start() -> None:
    sources = tables_beside(Path(__file__))["blow_up"]
    with ThreadPoolExecutor() as side_by_side:  # each is waited for until it is given up
        said = list(side_by_side.map(refused, sources))
    assert [one for one in said if "too long on hostile input" not in one] == []


@with_cases("token", "roster", "expected")
def test_one_spelling_stands_for_all(
    token: str, roster: tuple[PatientId, ...], expected: str | None
) -> None:
    assert mixed().canonical(token, roster) == expected


def test_upper_case_is_tried_last() -> None:
    assert PatientIdPattern.compile("^MRN[0-9]{3}$").canonical("mrn123", ()) == "MRN123"


@pytest.mark.parametrize(
    ("digits", "expected"), [("15", "patient_15"), ("007", "patient_007"), ("1" * 70, None)]
)
def test_bare_digits_suggest_an_id(digits: str, expected: str | None) -> None:
    assert DEFAULT.with_digits(digits) == expected


def test_bare_digits_suggest_nothing_where_an_id_needs_more() -> None:
    assert PatientIdPattern.compile("^mrn-[A-Z0-9]{6}$").with_digits("15") is None


def test_the_identifiers_of_a_chart_are_ids_beside_those_of_the_pattern() -> None:
    chart = PatientId("018f428e-34f6-4707-8009-5ad742f901e7")
    charts = {chart: chart, "mrn-77": chart}
    pattern = DEFAULT.with_charts(lambda token: charts.get(token.lower()))

    assert pattern.matches(chart)
    assert pattern.canonical(chart.upper(), NO_ROSTER) == chart
    assert pattern.canonical("MRN-77", NO_ROSTER) == chart
    assert pattern.canonical("patient_4", NO_ROSTER) == "patient_4"


@pytest.mark.parametrize("token", ["12345678", "example", "p9"])
def test_a_word_or_a_number_is_no_chart_though_one_is_called_so(token: str) -> None:
    assert not DEFAULT.with_charts(PatientId).matches_any_case(token)
