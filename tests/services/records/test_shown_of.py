"""What the tools show of resources, and what is then said: a chart, views of it and questions.

A resource is its kind with its fields; those that it usually has are left out, and a concept may
be its text. A view is a tool, perhaps with what it is given; of a row its name may do.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict

from data_models.chart_view import ChartView, ViewRow
from data_models.plain_yaml import read_yaml
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion
from services.records.answers.direct import answered
from services.records.resources.record import PatientRecord
from services.records.views import lists
from services.records.views.medications import medications
from services.records.views.oncology.oncology import (
    biomarkers_view,
    status_view,
    treatments_view,
)
from services.records.views.papers import documents
from services.records.views.results import results
from services.records.views.search import search_record
from services.records.views.summary import chart_summary
from tests.services.records.charts import Json, note, patient, record, resource
from tests.services.records.test_rows_told import otherwise
from tests.services.records.test_said_otherwise import SITUATION
from tests.tables import with_cases

TODAY = date(2026, 11, 22)
VIEWS: Mapping[str, Callable[..., ChartView]] = {
    "allergies": lists.allergies,
    "biomarkers": biomarkers_view,
    "care": lists.care,
    "chart_summary": partial(chart_summary, today=TODAY, now="2026-11-22"),
    "current_status": partial(status_view, today=TODAY),
    "documents": documents,
    "encounters": partial(lists.encounters, now="2026-11-22T12:00:00Z"),
    "history": lists.history,
    "immunizations": lists.immunizations,
    "medications": partial(medications, today=TODAY),
    "problems": lists.problems,
    "procedures": lists.procedures,
    "results": results,
    "search_record": search_record,
    "treatments": partial(treatments_view, today=TODAY),
}
_CONCEPTS = ("code", "type", "vaccineCode", "medicationCodeableConcept", "relationship")
_USUAL: Mapping[str, Json] = {
    "CarePlan": {"status": "active", "title": "Plan"},
    "DiagnosticReport": {"status": "final"},
    "Encounter": {"status": "finished"},
    "FamilyMemberHistory": {"status": "completed"},
    "Immunization": {"status": "completed"},
    "MedicationRequest": {"status": "active", "intent": "order"},
    "Observation": {"status": "final"},
    "Procedure": {"status": "completed"},
    "ServiceRequest": {"status": "active"},
}


class Case(BaseModel):
    """A chart, what views show of it and what is said of their rows; with `each`, once with every.

    Attributes:
        chart: Its resources, each its kind with its fields, or a `note` with date and text.
        person: Fields of the Patient.
        shown: All rows of views; or `rows`, or `some` of them, and what else of them is so.
        says: Questions with what their answers are like.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    each: list[str] = [""]
    chart: list[dict[str, dict[str, Any]]] = []
    person: dict[str, Any] = {}
    shown: dict[str, list[Any] | dict[str, Any]] = {}
    says: list[tuple[str, dict[str, str | list[str]]]] = []


def made(one: Mapping[str, Mapping[str, Any]], place: int) -> Json:
    """Return a resource."""
    ((kind, given),) = one.items()
    fields: Json = {
        name: {"text": value} if name in _CONCEPTS and isinstance(value, str) else value
        for name, value in given.items()
    }
    key = str(fields.pop("id", f"r{place}"))
    if kind == "note":
        return note(key, fields.pop("date"), fields.pop("text")) | fields
    return resource(kind, key, **{**_USUAL.get(kind, {}), **fields})


def seen(chart: PatientRecord, asked: str) -> tuple[str, ChartView]:
    """Return a tool's name and what it shows, as `results {names: [potassium]}`."""
    tool, _, given = asked.partition(" ")
    return tool, VIEWS[tool](chart, **(read_yaml(given) if given else {}))


def is_so(value: Any, expected: Any) -> bool:
    """Whether a field is as expected; what begins with `~ ` is a part of it."""
    if isinstance(expected, str) and expected.startswith("~ "):
        return expected.removeprefix("~ ") in str(value)
    return bool(value == (tuple(expected) if isinstance(expected, list) else expected))


def is_row(row: ViewRow, expected: str | Mapping[str, Any]) -> bool:
    """Whether a row is the one with this name, or with these fields."""
    fields = {"name": expected} if isinstance(expected, str) else expected
    told = row.model_dump()
    return all(is_so(told[name], value) for name, value in fields.items())


def assert_shown(view: ChartView, expected: Sequence[Any] | Mapping[str, Any]) -> None:
    more = expected if isinstance(expected, Mapping) else {"rows": expected}
    if "rows" in more:
        assert len(view.rows) == len(more["rows"]), view.rows
        assert [one for one in zip(view.rows, more["rows"], strict=True) if not is_row(*one)] == []
    rows = more.get("some", ())
    assert [one for one in rows if not any(is_row(row, one) for row in view.rows)] == [], view.rows
    assert is_so(view.nothing, more.get("nothing", view.nothing))
    assert all(map(is_so, view.notes, more.get("notes", view.notes))), view.notes
    left = [[one.count, one.what] for one in view.left_out]
    assert left == more.get("left", left)


def said(text: str, views: Mapping[str, ChartView]) -> str:
    """Answer as the built-in rules do, over views; one that there is not is empty."""
    utterance = read(text, SITUATION)
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    for _ in range(10):
        told = answered(utterance.about, given, answer_words(utterance.language), text=text)
        if isinstance(told, str):
            return told
        empty = ChartView(tool=told.tool, kind="table", title="", rows=())
        given.append((told, views.get(told.tool, empty)))
    raise AssertionError(given)


def filled(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {filled(name, text): filled(inner, text) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, text) for inner in value]
    return value.replace("{}", text) if isinstance(value, str) else value


@with_cases("case")
def test_it_is_shown_so(case: dict[str, Any]) -> None:
    for text in case.get("each", [""]):
        given = Case.model_validate(filled(case, text))
        person = patient(**given.person)
        chart = record(*(made(one, n) for n, one in enumerate(given.chart)), person=person)
        views: dict[str, ChartView] = {}
        for asked, expected in given.shown.items():
            tool, views[tool] = seen(chart, asked)
            assert_shown(views[tool], expected)
        for question, like in given.says:
            assert otherwise(said(question, views), like) == [], question
