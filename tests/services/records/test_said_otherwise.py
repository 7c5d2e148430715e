"""What a record has in other words than the question, and what it says was never given."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
from services.records.finding import find_series, means

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
        told = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(told, str):
            return told
        shown = rows.get(f"{told.tool} {told.name}", rows.get(told.tool, ()))
        given.append((told, ChartView(tool=told.tool, kind="table", title="", rows=shown)))
        assert len(given) < 10, told


def test_a_drug_that_was_ordered_and_never_given_is_no_yes() -> None:
    cancelled = row("medication", "Docetaxel", status="cancelled", detail="Never given.")
    assert said("did he have docetaxel", {"medications": (cancelled,)}).startswith("No: ")


def test_an_illness_is_not_had_by_who_was_vaccinated_against_it() -> None:
    told = said("has he had shingles?", {"immunizations zoster": (row("immunization", "zoster"),)})
    assert "“shingles”" in told.splitlines()[0]
    assert "Yes" not in told
    assert "**zoster**" in told


def test_whether_an_illness_cleared_up_is_no_where_it_is_active() -> None:
    active = row("problem", "Chronic sinusitis", status="active")
    assert said("did his sinusitis clear up", {"problems": (active,)}).startswith("No: ")


@pytest.mark.parametrize("text", ["what is his weight trend", "weight?"])
def test_a_value_in_a_note_is_found_in_other_words(text: str) -> None:
    note = row("note", "Urology", detail="Stream improved. Weight 85 kg.")
    assert "Weight 85 kg" in said(text, {"search_record": (note,)})


def test_both_values_of_one_moment_are_told_and_no_change_between_them() -> None:
    values = tuple(
        row("laboratory", "Creatinine", "2019-12-08", value=each, number=float(each), unit="mg/dL")
        for each in ("1.04", "3.04")
    )
    newest = said("creatinine?", {"results": values})
    assert "1.04" in newest
    assert "3.04" in newest
    assert "Overall" not in said("creatinine in 2019", {"results": values})


def test_the_average_of_pressures_has_both_figures() -> None:
    pressures = (
        row("vital sign", "Blood Pressure", "2021-03-22", value="130/90", unit="mm[Hg]"),
        row("vital sign", "Blood Pressure", "2020-03-22", value="120/80", unit="mm[Hg]"),
    )
    assert said("bp average", {"results": pressures}).startswith(
        "Average Blood Pressure: 125.0/85.0 mm[Hg] (2 values"
    )


def test_a_reason_that_stands_in_the_note_of_a_drug_is_not_called_missing() -> None:
    stopped = row(
        "medication",
        "Abiraterone",
        status="stopped",
        detail="said to take; Stopped for progression.",
    )
    told = said("why was abiraterone stopped", {"medications": (stopped,)})
    assert "Stopped for progression" in told
    assert "does not say" not in told


def test_what_is_known_of_a_longer_name_is_told_beside_what_is_absent() -> None:
    pressure = row("vital sign", "Blood Pressure", value="170/97", unit="mm[Hg]")
    told = said("BP in pregnancy", {"results blood pressure": (pressure,)})
    assert told.splitlines()[0] == "The record does not say “in pregnancy” of it; without that:"
    assert "170/97" in told


def test_what_is_taken_for_an_illness_is_told_where_no_reason_is_recorded() -> None:
    told = said(
        "is her osteoporosis treated?",
        {
            "problems": (row("problem", "Osteoporosis", status="active"),),
            "medications": (
                row("medication", "Alendronic acid 10 MG", status="active"),
                row("medication", "Simvastatin 10 MG", status="active"),
            ),
        },
    )
    assert f"{answer_words('en').usual_for}\n- **Alendronic acid" in told
    assert "Simvastatin" not in told


@pytest.mark.parametrize(
    ("asked", "label", "is_meant"),
    [
        ("pembro", "Pembrolizumab", True),
        ("simva", "Simvastatin 10 MG", True),
        ("met", "Metformin 500 MG", False),
        ("insul", "Pembrolizumab", False),
    ],
)
def test_a_drug_is_called_by_how_its_name_begins(asked: str, label: str, is_meant: bool) -> None:
    assert means("drug", asked, label=label, codes=()) is is_meant


def test_nothing_is_found_for_a_name_of_small_words() -> None:
    assert find_series((), "in the").series == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("is she allergic to penicillin?", "not a statement that there are none"),
        ("Hat sie eine Penicillinallergie?", "das heißt nicht, dass es keine gibt"),
        ("Est-elle allergique à la pénicilline ?", "aucune"),
        ("¿Tiene alergias?", "no dice que no las haya"),
    ],
)
def test_where_no_allergy_is_recorded_nothing_is_said_of_one(text: str, told: str) -> None:
    assert told in said(text, {})
