"""Charts as other systems export them, asked in plain words through the tools."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from data_models.chart_view import ChartView
from group_chat.tools import chart_tools as tools
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
from services.records.resources.record import PatientRecord
from services.records.views.view import with_future_marked
from tests.services.records.charts import Json, patient, record
from tests.tables import with_cases

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TOOLS: Mapping[str, tuple[Callable[..., ChartView], Mapping[str, Any]]] = {
    "biomarkers": (tools.biomarkers, {}),
    "allergies": (tools.allergies, {}),
    "care": (tools.care, {}),
    "chart_summary": (tools.chart_summary, {}),
    "current_status": (tools.current_status, {}),
    "documents": (tools.documents, {"kind": None}),
    "encounters": (tools.encounters, {}),
    "history": (tools.history, {}),
    "imaging_reports": (tools.imaging_reports, {}),
    "immunizations": (tools.immunizations, {"name": None}),
    "medications": (tools.medications, {"name": None}),
    "pathology_reports": (tools.pathology_reports, {}),
    "problems": (tools.problems, {}),
    "procedures": (tools.procedures, {"name": None, "since": None}),
    "results": (tools.results, {"names": [], "category": None, "last": None}),
    "search_record": (tools.search_record, {}),
}


def looked_up(chart: PatientRecord, question: ChartQuestion) -> ChartView:
    tool, plain = TOOLS[question.tool]
    view = tool(tools.Chart(chart, NOW), **{**plain, **question.arguments})
    return with_future_marked(view, NOW.date())


def asked(text: str, chart: PatientRecord) -> str:
    utterance = read(text, Situation(now=NOW))
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    while True:
        told = answered(utterance.about, given, answer_words(utterance.language), text=text)
        if isinstance(told, str):
            return told
        given.append((told, looked_up(chart, told)))
        assert len(given) < 10, told


def chart_of(resources: tuple[Json, ...]) -> PatientRecord:
    """Return the chart; of each resource only what differs is written in the table."""
    person = patient(birthDate="2023-03-08", contact=resources[0].get("contact", []))
    plain = {"status": "completed", "id": "x", "subject": {"reference": "Patient/p9"}}
    made = [
        {**plain, "patient": plain["subject"], "id": f"r{number}", **each}
        for number, each in enumerate(resources)
        if "resourceType" in each
    ]
    return record(*made, person=person)


@pytest.mark.slow
@with_cases("text", "resources", "says", "lacks")
def test_it_is_told_as_it_is_recorded(
    text: str, resources: tuple[Json, ...], says: str, lacks: str
) -> None:
    told = asked(text, chart_of(resources))
    assert says in told
    assert not lacks or lacks not in told


def test_what_is_not_certain_is_told_so_in_a_long_list_too() -> None:
    doubt = {"verificationStatus": {"coding": [{"code": "unconfirmed"}]}}
    many = [{"resourceType": "Condition", "code": {"text": f"Illness {n}"}} for n in range(20)]
    chart = chart_of((*many, {"resourceType": "Condition", "code": {"text": "Gout"}, **doubt}))
    told = asked("which diagnoses does she have?", chart)
    assert "**Gout**, active; unconfirmed" in told


def test_a_list_without_a_name_leaves_out_what_was_refuted() -> None:
    refuted = {"verificationStatus": {"coding": [{"code": "refuted"}]}}
    gout = {"resourceType": "Condition", "code": {"text": "Gout"}}
    embolism = {**gout, "code": {"text": "Pulmonary embolism"}, **refuted}
    latex = {"resourceType": "AllergyIntolerance", "code": {"text": "Latex"}, **refuted}
    chart = chart_of((gout, embolism, latex))
    assert "embolism" not in asked("which diagnoses does she have?", chart)
    assert asked("how many problems has she had?", chart).startswith("1 problem")
    assert "Latex" not in asked("Welche Allergien hat sie?", chart)


def test_what_a_tool_tells_a_model_alone_nobody_reads() -> None:
    about = read("which trials fit", Situation(now=NOW)).about
    given = [(one, "No study search is connected here; tell the user") for one in about]
    told = answered(about, given, answer_words("en"), text="which trials fit")
    assert told == "Clinical studies: not looked up. No study search is connected here."
