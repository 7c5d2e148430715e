"""What is told of a row that stands for several times, of an organ's illnesses, and of ages."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
from services.records.answers.looked_up import told_of_day
from services.records.answers.sentences import answer_of

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))
ROWS: Mapping[str, tuple[ViewRow, ...]] = {
    "problems": (
        ViewRow(kind="problem", name="Acute viral pharyngitis", status="resolved",
                date="2017-09-11", end="2017-09-22",
                detail="recorded 3 times, last 2017-09-11, before 2017-01-03, 2014-10-23",
                sources=("Condition/c", "Condition/b", "Condition/a")),
        ViewRow(kind="problem", name="Otitis media", status="resolved", date="2014-08-09",
                end="2014-12-24", sources=("Condition/o",)),
        ViewRow(kind="problem", name="Neuropathy due to diabetes", status="active",
                date="1998-01-18", sources=("Condition/n",)),
    ),
    "medications": (
        ViewRow(kind="medication", name="Jolivette 28 Day Pack", status="stopped",
                date="2010-11-16",
                detail="2 prescriptions since 2010-11-16, last 2017-09-30",
                sources=("MedicationRequest/j", "MedicationRequest/i")),
        ViewRow(kind="medication", name="NuvaRing", status="stopped", date="2016-07-26",
                sources=("MedicationRequest/n",)),
    ),
    "chart_summary": (
        ViewRow(kind="patient", name="Ann Example", value="female, 23 years", date="2003-03-26",
                detail="born 2003-03-26", sources=("Patient/p",)),
    ),
    "immunizations": (
        ViewRow(kind="immunization", name="Hep B", date="2003-03-27", sources=("Immunization/1",)),
        ViewRow(kind="immunization", name="IPV", date="2003-09-28", sources=("Immunization/2",)),
        ViewRow(kind="immunization", name="MMR", date="2005-04-01", sources=("Immunization/3",)),
    ),
    "care": (
        ViewRow(kind="care plan", name="Respiratory therapy", status="completed",
                date="2013-01-26", end="2015-02-10", sources=("CarePlan/r",)),
    ),
}  # fmt: skip


def answer(text: str) -> str:
    utterance = read(text, SITUATION)
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    for _ in range(6):
        told = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(told, str):
            return told
        rows = ROWS.get(told.tool, ())
        given.append((told, ChartView(tool=told.tool, kind="table", title="", rows=rows)))
    raise AssertionError(given)


@pytest.mark.parametrize(("year", "is_there"), [(2014, True), (2016, False), (2017, True)])
def test_between_two_times_of_an_illness_is_none(year: int, is_there: bool) -> None:
    assert ("Nothing of that time" not in answer(f"pharyngitis in {year}?")) is is_there


def test_what_began_on_a_day_of_an_earlier_time_is_told_for_that_time() -> None:
    rows = (ViewRow(kind="medication", name="Penicillin", date="2017-01-03", sources=("M/1",)),)
    question = ChartQuestion("medications", {}, "all", "Penicillin", "reason")
    problems = ChartView(tool="problems", kind="table", title="", rows=ROWS["problems"])
    drugs = ChartView(tool="medications", kind="table", title="", rows=rows)
    assert "**Acute viral pharyngitis**, resolved, 2017-01-03 [" in told_of_day(
        question, drugs, [problems], "", answer_words("en")
    )


def test_that_nothing_is_taken_now_is_said_in_the_language_of_the_question() -> None:
    question = read("Welche Medikamente nimmt er derzeit?", SITUATION).about
    empty = ChartView(tool="medications", kind="table", title="", rows=())
    told = answered(question, [(question[0], empty)], answer_words("de"))
    assert told == "Kein Medikament ist verzeichnet, das derzeit genommen wird."


def test_a_vaccine_by_its_own_name_is_no_other_against_the_same_illness() -> None:
    question = read("how many doses of DTaP?", SITUATION).about[0]
    rows = tuple(
        ViewRow(kind="immunization", name=name, date=date, sources=(f"Immunization/{name}",))
        for name, date in (("Tdap", "2020-07-16"), ("DTaP", "2014-06-12"))
    )
    view = ChartView(tool="immunizations", kind="table", title="", rows=rows)
    assert answer_of(question, view, answer_words("en")).startswith("1 vaccination")
