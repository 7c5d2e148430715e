"""A FHIR server is asked for what a tool needs, and the answer is that of the whole chart."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date, timedelta
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from data_models.chart_view import ChartView
from data_models.identifiers import PatientId
from services.records.fhir.fhir_server_records import FhirServerRecords
from services.records.resources.ports import EVERYTHING, PERSON, Need
from services.records.resources.record import PatientRecord, record_from_resources
from services.records.views import lists
from services.records.views.course import course
from services.records.views.lists import problems
from services.records.views.medications import medications
from services.records.views.needs import (
    need_of_document,
    need_of_history,
    need_of_results,
    need_of_tool,
)
from services.records.views.oncology import oncology
from services.records.views.papers import documents, read_document
from services.records.views.results import results
from services.records.views.search import search_record
from services.records.views.summary import chart_summary
from tests.fakes import FixedClock
from tests.services.records.charts import Json, entries, patient, resource
from tests.services.records.fhir_double import SHAPES, FhirDouble, Shape
from tests.services.records.fhir_fake import client_of
from tests.services.records.generated_charts import generated

TODAY = date(2026, 11, 22)
NOW = "2026-11-22T12:00:00+00:00"
ME = PatientId("patient_9")
POTASSIUM = "2823-3"
View = Callable[[PatientRecord], ChartView | None]
TOOLS: dict[str, tuple[Need, View]] = {
    "chart_summary": (
        need_of_tool("chart_summary"), lambda one: chart_summary(one, today=TODAY, now=NOW),
    ),
    "problems": (need_of_tool("problems"), lambda one: problems(one, status="all")),
    "medications": (
        need_of_tool("medications"), lambda one: medications(one, today=TODAY, status="all"),
    ),
    "results": (need_of_results([]), lambda one: results(one, last=100)),
    "results of a kind": (
        need_of_results([], kind="laboratory"), lambda one: results(one, category="laboratory"),
    ),
    "allergies": (need_of_tool("allergies"), lists.allergies),
    "immunizations": (need_of_tool("immunizations"), lists.immunizations),
    "procedures": (need_of_tool("procedures"), lists.procedures),
    "encounters": (need_of_tool("encounters"), lambda one: lists.encounters(one, now=NOW)),
    "care": (need_of_tool("care"), lists.care),
    "history": (need_of_history(), lists.history),
    "documents": (need_of_tool("documents"), documents),
    "search_record": (need_of_tool("search_record"), lambda one: search_record(one, "clinic")),
    "timeline": (need_of_tool("timeline"), lambda one: course(one, today=TODAY, kinds=["all"])),
    "load_patient_data": (
        need_of_tool("load_patient_data"), lambda one: oncology.overview(one, today=TODAY),
    ),
    "current_status": (
        need_of_tool("current_status"), lambda one: oncology.status_view(one, today=TODAY),
    ),
    "imaging_reports": (need_of_tool("imaging_reports"), oncology.imaging_view),
    "pathology_reports": (need_of_tool("pathology_reports"), oncology.pathology_view),
    "biomarkers": (need_of_tool("biomarkers"), oncology.biomarkers_view),
}  # fmt: skip


@asynccontextmanager
async def serving(
    double: FhirDouble, clock: FixedClock | None = None, **more: Any
) -> AsyncIterator[FhirServerRecords]:
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", double.handle)
    used = clock or FixedClock()
    async with TestServer(app, host="127.0.0.1") as server, aiohttp.ClientSession() as session:
        client = client_of(f"http://127.0.0.1:{server.port}/fhir", session, clock=used)
        records = FhirServerRecords(client=client, clock=used, **more)
        yield records
        records.close()


def chart_for(shape: Shape, seed: int) -> list[Json]:
    """A generated chart; where a server is searched by category, everything has one."""
    made = generated(seed)
    for entry in made:
        row = entry["resource"]
        if shape == "epic" and row["resourceType"] == "Observation":
            row.setdefault("category", [{"coding": [{"code": "exam"}]}])
    return made


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tool", TOOLS)
async def test_a_tool_answers_from_what_it_fetched_alike(shape: Shape, tool: str) -> None:
    need, view = TOOLS[tool]
    double = FhirDouble(shape=shape, entries=chart_for(shape, 3), page=20)
    whole = record_from_resources(ME, chart_for(shape, 3))
    async with serving(double) as records:
        fetched = await records.load(ME, need)

    here, there = view(fetched), view(whole)
    assert here is not None
    assert there is not None
    assert sorted(row.model_dump_json() for row in here.rows) == sorted(
        row.model_dump_json() for row in there.rows
    )
    assert sorted(map(str, here.left_out)) == sorted(map(str, there.left_out))
    if shape != "epic":
        assert double.refused == []


@pytest.mark.parametrize("shape", SHAPES)
async def test_only_the_types_that_a_tool_reads_are_asked_for(shape: Shape) -> None:
    double = FhirDouble(shape=shape, entries=chart_for(shape, 4))
    async with serving(double) as records:
        await records.load(ME, PERSON)
        assert double.kinds_searched() == set()
        await records.load(ME, need_of_tool("allergies"))
        assert double.kinds_searched() == {"AllergyIntolerance"}
        double.asked.clear()
        await records.load(ME, need_of_tool("encounters"))
        await records.load(ME, need_of_tool("problems"))
        kinds = [kind for kind, _ in double.asked]
        assert sorted(set(kinds)) == ["Appointment", "Condition", "Encounter"]


async def test_a_type_that_only_adds_a_word_is_not_said_to_be_missing() -> None:
    row = resource("Observation", "o", status="final", code={"text": "K"}, valueString="4")
    double = FhirDouble(shape="hapi", entries=entries(patient(), row))
    async with serving(double) as records:
        chart = await records.load(ME, need_of_results([]))
        assert chart.left_out.sentence() is None
        papers = await records.load(ME, need_of_tool("documents"))
        assert "DocumentReference" in papers.left_out.not_offered


def many_results(count: int) -> list[Json]:
    """Sodium every day, and potassium in the oldest tenth only."""
    rows = []
    for at in range(count):
        day = (TODAY - timedelta(days=at)).isoformat()
        code = POTASSIUM if at >= count * 0.9 else "2951-2"
        coding = [{"system": "http://loinc.org", "code": code}]
        rows.append(
            resource(
                "Observation", f"o{at}", status="final", code={"coding": coding},
                category=[{"coding": [{"code": "laboratory"}]}], effectiveDateTime=day,
                valueQuantity={"value": 4.1, "unit": "mmol/L"},
            )
        )  # fmt: skip
    return entries(patient(), *rows)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["hapi", "azure"])
async def test_of_many_results_the_newest_page_and_the_asked_code_are_fetched(shape: Shape) -> None:
    double = FhirDouble(shape=shape, entries=many_results(1_000), page=100)
    async with serving(double) as records:
        chart = await records.load(ME, need_of_results(["potassium"]))
        view = results(chart, names=["potassium"], last=1_000)

        assert len(view.rows) == 100
        assert "of older results only those of the asked codes" in view.notes[-1]
        first, second = double.searched("Observation")
        assert first["_sort"] == "-date"
        assert POTASSIUM in second["code"]
        await records.load(ME, need_of_results(["potassium"]))
        assert len(double.searched("Observation")) == 2
        whole = await records.load(ME, need_of_results([]))
        assert len(whole.entries) == 1_000
        assert whole.left_out.sentence() is None


@pytest.mark.parametrize("shape", ["hapi", "azure"])
async def test_since_is_asked_of_the_server_where_there_are_many(shape: Shape) -> None:
    double = FhirDouble(shape=shape, entries=many_results(600), page=100)
    since, until = TODAY - timedelta(days=300), TODAY - timedelta(days=250)
    async with serving(double) as records:
        chart = await records.load(ME, need_of_results([], since=since, until=until))
        view = results(chart, since=since, until=until, last=1_000)
    assert len(view.rows) == 51
    assert len(double.searched("Observation")) == 2


@pytest.mark.parametrize(
    ("shape", "without"), [("hapi", {"code"}), ("azure", {"_sort", "date"}), ("epic", set[str]())]
)
@pytest.mark.slow
async def test_what_cannot_be_searched_by_widens_a_search(shape: Shape, without: set[str]) -> None:
    double = FhirDouble(shape=shape, entries=many_results(400), page=100)
    double.without = frozenset(without)
    double.resources.reverse()  # the oldest first, as they were written
    async with serving(double) as records:
        chart = await records.load(ME, need_of_results(["potassium"]))
    assert len(results(chart, names=["potassium"], last=1_000).rows) == 40
    assert len(chart.entries) == 400


@pytest.mark.parametrize("shape", SHAPES)
async def test_one_more_document_than_the_limit_is_still_read_by_its_id(shape: Shape) -> None:
    texts: list[Json] = [{"resourceType": "Binary", "id": "b", "data": "U2VlbiB0b2RheS4="}]
    for at in range(103):
        attachment = {"contentType": "text/plain", "url": "Binary/b"}
        texts.append(
            resource(
                "DocumentReference", f"d{at}", status="current", date=f"2024-01-{at % 28 + 1:02}",
                content=[{"attachment": attachment}],
            )
        )  # fmt: skip
    double = FhirDouble(shape=shape, entries=entries(patient(), *texts))
    async with serving(double) as records:
        for ref in ("DocumentReference/d0", "DocumentReference/d102"):
            view = read_document(await records.load(ME, need_of_document(ref)), ref)
            assert view is not None
            assert view.rows[0].detail == "Seen today."
        assert len(double.searched("Binary")) == 2


async def test_charts_leave_when_there_is_no_room_the_least_recently_used_first() -> None:
    double = FhirDouble(shape="hapi", entries=generated(5))
    for name in ("a", "b"):
        double.resources.append(patient(id=f"p-{name}", identifier=[{"value": f"patient_{name}"}]))
    async with serving(double, kept_resources=10) as records:
        await records.load(ME, EVERYTHING)
        asked = len(double.asked)
        await records.load(ME, EVERYTHING)
        assert len(double.asked) == asked
        await records.load(PatientId("patient_a"), PERSON)
        await records.load(ME, PERSON)
        assert len(double.searched("Patient")) == 3


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_type_no_longer_to_be_read_is_gone_when_asked_for_anew(
    shape: Shape,
) -> None:
    clock, double = FixedClock(), FhirDouble(shape=shape, entries=chart_for(shape, 4))
    need = Need(kinds=frozenset({"AllergyIntolerance", "Condition"}))
    async with serving(double, clock) as records:
        assert (await records.load(ME, need)).entries_of("AllergyIntolerance")
        double.forbidden = frozenset({"AllergyIntolerance"})
        clock.advance(61)
        record = await records.load(ME, need)
        assert not record.entries_of("AllergyIntolerance")
        assert record.entries_of("Condition")
        double.forbidden = frozenset()
        clock.advance(61)
        assert (await records.load(ME, need)).entries_of("AllergyIntolerance")
