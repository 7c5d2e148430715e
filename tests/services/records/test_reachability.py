"""Every coded resource is reachable by some tool; no tool says what the bundle does not hold."""

import gzip
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from data_models.chart_view import ChartView
from data_models.identifiers import PatientId
from services.records.resources.record import PatientRecord, record_from_resources
from services.records.resources.sorting import CLINICAL
from services.records.views import lists
from services.records.views.course import course
from services.records.views.lists import problems
from services.records.views.medications import medications
from services.records.views.papers import documents, read_document
from services.records.views.results import results
from services.records.views.summary import chart_summary
from tests.services.records.generated_charts import generated

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((ROOT / "samples" / "patients").glob("*.json"))
PUBLIC = sorted((ROOT.parent / "shared" / "data" / "charts").glob("*.json.gz"))
TODAY = date(2026, 11, 22)
NOW = "2026-11-22T12:00:00+00:00"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def views_of(chart: PatientRecord) -> Iterator[ChartView]:
    yield chart_summary(chart, today=TODAY, now=NOW)
    yield problems(chart, status="all")
    yield medications(chart, today=TODAY, status="all")
    yield results(chart, last=1_000)
    yield lists.allergies(chart)
    yield lists.immunizations(chart)
    yield lists.procedures(chart)
    yield lists.encounters(chart, now=NOW)
    yield lists.care(chart)
    yield lists.history(chart)
    yield documents(chart)
    yield course(chart, today=TODAY, kinds=["imaging study"])


def bundle_of(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    return list(json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)["entry"])


def unreached(entries: list[dict[str, Any]], chart: PatientRecord) -> set[str]:
    """Return the coded resources that say of themselves that they are so and that no view shows."""
    shown = {ref for view in views_of(chart) for row in view.rows for ref in row.sources}
    found = set()
    for entry in entries:
        raw = entry["resource"]
        said = json.dumps([raw.get("status"), raw.get("verificationStatus"), raw.get("docStatus")])
        if raw["resourceType"] in CLINICAL and not re.search(
            "entered-in-error|refuted|cancelled", said
        ):
            found.add(f"{raw['resourceType']}/{raw['id']}")
    return found - shown


def numbers_in(node: Any) -> Iterator[float]:
    if isinstance(node, dict):
        for value in node.values():
            yield from numbers_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from numbers_in(value)
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield float(node)
    elif isinstance(node, str):
        yield from (float(said) for said in _NUMBER.findall(node[:400]))


def invented(entries: list[dict[str, Any]], chart: PatientRecord) -> list[str]:
    """Return values of results that no number of their own resource rounds to."""
    by_ref = {
        f"{e['resource']['resourceType']}/{e['resource'].get('id')}": e["resource"] for e in entries
    }
    wrong = []
    for row in results(chart, last=1_000).rows:
        held = list(numbers_in(by_ref[row.sources[0]]))
        for said in _NUMBER.findall(row.value):
            exact = float(said)
            if not any(abs(abs(one) - exact) <= abs(one) * 0.0006 + 1e-12 for one in held):
                wrong.append(f"{row.name}: {row.value}")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("path", [*SAMPLES, *PUBLIC], ids=lambda path: path.name[:12])
def test_everything_of_a_chart_is_reachable_and_nothing_is_invented(path: Path) -> None:
    entries = bundle_of(path)
    chart = record_from_resources(PatientId("p"), entries)

    assert unreached(entries, chart) == set()
    assert invented(entries, chart) == []


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.slow
def test_every_type_and_value_of_a_generated_chart_is_reachable(seed: int) -> None:
    entries = generated(seed)
    chart = record_from_resources(PatientId("patient_9"), entries)

    assert chart.left_out.sentence() is None
    assert {entry.kind for entry in chart.entries.values()} >= CLINICAL - {"Composition"}
    assert unreached(entries, chart) == set()
    assert invented(entries, chart) == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_active_drug_of_a_sample_is_among_the_medications(path: Path) -> None:
    entries = bundle_of(path)
    active = {
        f"{entry['resource']['resourceType']}/{entry['resource']['id']}"
        for entry in entries
        if entry["resource"]["resourceType"] in ("MedicationRequest", "MedicationStatement")
        and entry["resource"]["status"] == "active"
    }
    view = medications(record_from_resources(PatientId("p"), entries), today=TODAY)

    assert active <= {ref for row in view.rows for ref in row.sources}


def test_a_document_is_read_whole_page_by_page() -> None:
    chart = record_from_resources(PatientId("patient_9"), generated(1))
    ref = next(one.ref for one in chart.documents if one.ref.startswith("DocumentReference"))
    pages = [read_document(chart, ref, page=number) for number in (1, 2, 3)]

    text = "".join(page.rows[0].detail for page in pages if page is not None)
    assert text.count("Seen in clinic.") >= 598
    assert [page.left_out[0].argument for page in pages[:2] if page] == ["page=2", "page=3"]
