"""What was done about an illness, values measured instead of one, and ages: from rows alone."""

from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def row(kind: str, name: str, date: str, **more: str) -> ViewRow:
    source = f"Row/{name[:4]}-{date}"
    return ViewRow.model_validate(
        {"kind": kind, "name": name, "date": date, "sources": (source,), **more}
    )


ROWS = {
    "problems": (
        row("problem", "Otitis media", "2020-02-29", end="2020-04-18", status="resolved"),
        row("problem", "Polyp of colon", "2012-06-28", end="2013-08-22", status="resolved"),
    ),
    "medications": (
        row("medication", "Cefuroxime", "2020-02-29", status="stopped"),
        row("medication", "Aspirin", "2020-03-02", status="active", detail="for Chest pain"),
        row("medication", "Ibuprofen", "2018-01-17", status="stopped"),
    ),
    "procedures": (
        row("procedure", "Rectal polypectomy", "2012-06-28", detail="for Polyp of colon"),
        row("procedure", "Knee X-ray", "2012-06-28"),
    ),
    "care": (row("order", "Colonoscopy", "2012-06-28", detail="for Polyp of colon"),),
    "results": (
        row("vital sign", "Oral temperature", "2017-03-15", value="37.53", unit="Cel"),
        row("vital sign", "Body Height", "2017-02-03", value="150.1", unit="cm"),
        row("vital sign", "Body Height", "2020-04-21", value="163.5", unit="cm"),
    ),
    "chart_summary": (row("patient", "Ann Example", "2007-01-30", value="female, 19 years"),),
}


def rows_for(question: ChartQuestion) -> tuple[ViewRow, ...]:
    rows = ROWS.get(question.tool, ())
    if question.tool == "results":
        word = str(question.arguments["names"][0]).rpartition(" ")[2]
        rows = tuple(one for one in rows if word in one.name.casefold())
    return rows


def said(text: str) -> str:
    """Answer as the built-in rules do: each list that is asked for is looked up."""
    utterance = read(text, SITUATION)
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    while True:
        told = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(told, str):
            return told
        view = ChartView(tool=told.tool, kind="table", title="", rows=rows_for(told))
        given.append((told, view))
        assert len(given) < 10, told


@with_cases("text")
def test_a_drug_of_the_days_of_an_illness_is_told_beside_it_as_of_no_reason(
    text: str,
) -> None:
    before, _, behind = said(text).partition(
        answer_words(read(text, SITUATION).language).say("meanwhile")
    )
    assert "Otitis media" in before
    assert "Cefuroxime" in behind
    assert "Aspirin" not in behind, "its reason is another"
    assert "Ibuprofen" not in behind


@pytest.mark.parametrize("text", ["Was the polyp removed?", "Wurde der Polyp entfernt?"])
def test_what_was_done_about_a_finding_is_told_by_its_recorded_reason(text: str) -> None:
    told = said(text)
    assert "Rectal polypectomy" in told
    assert "Knee" not in told
    assert "Row/Colo" not in told, "what was ordered was not yet done"


def test_an_illness_without_any_treatment_on_record_says_so() -> None:
    problem = ViewRow(kind="problem", name="Gout", status="active", date="2001-01-01")
    told = answered(
        read("Is her gout treated?", SITUATION).about,
        [
            (ChartQuestion("problems", {"status": "all"}), view("problems", problem)),
            (ChartQuestion("medications", {"status": "all"}), view("medications")),
            (ChartQuestion("procedures"), view("procedures")),
            (ChartQuestion("care"), view("care")),
        ],
        answer_words("en"),
    )
    assert isinstance(told, str)
    assert told.endswith("The record does not say what it is treated with.")


def view(tool: str, *rows: ViewRow) -> ChartView:
    return ChartView(tool=tool, kind="table", title="", rows=rows)


def test_of_an_illness_that_is_not_recorded_the_measured_value_is_told() -> None:
    told = said("Did he have a fever in 2017?")
    assert told.startswith("“fever” (2 problems): not in the record.")
    assert "Measured: **Oral temperature**: 37.53 Cel, 2017-03-15" in told
    assert "Measured" not in said("Did he have gout in 2017?")


def test_a_value_at_an_age_is_the_one_of_that_year_of_life() -> None:
    assert "150.1 cm" in said("How tall was she at age 10?")
    assert "163.5" not in said("How tall was she at age 10?")
    assert "163.5 cm" in said("Wie groß war sie mit 13?")


@pytest.mark.parametrize("text", ["Did he tolerate cefuroxime?", "Was the polypectomy positive?"])
def test_that_something_was_given_or_done_is_no_yes_to_how_it_went(text: str) -> None:
    assert not said(text).startswith("Yes")


def test_weeks_of_a_pregnancy_are_no_age() -> None:
    assert [each.at_age for each in read("bleeding when she was 10 weeks?", SITUATION).about] in (
        [],
        [None],
    )


def test_a_drug_begun_with_a_long_illness_is_told_beside_those_that_are_for_it() -> None:
    medications = view(
        "medications",
        row("medication", "Levothyroxine", "2024-03-14", detail="for Hypophysitis"),
        row("medication", "Hydrocortisone", "2024-03-11"),
        row("medication", "Dabrafenib", "2024-11-05"),
    )
    told = answered(
        read("How is his hypophysitis treated?", SITUATION).about,
        [
            (
                ChartQuestion("problems", {"status": "all"}),
                view("problems", row("problem", "Hypophysitis", "2024-03-11", status="active")),
            ),
            (ChartQuestion("medications", {"status": "all"}), medications),
            (ChartQuestion("procedures"), view("procedures")),
            (ChartQuestion("care"), view("care")),
        ],
        answer_words("en"),
    )
    assert isinstance(told, str)
    before, _, behind = told.partition(answer_words("en").say("meanwhile"))
    assert "Levothyroxine" in before
    assert "Hydrocortisone" in behind
    assert "Dabrafenib" not in told
