import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from data_models.errors import RecordNotFoundError
from data_models.identifiers import PatientId
from scripts.test_tools import NODE_HOME
from services.records.fhir.fhir_server_records import FhirServerRecords
from services.records.resources.ports import PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views.course import course
from services.records.views.oncology.status import current_status
from tests import peers
from tests.fakes import FixedClock
from tests.services.records.charts import records_in
from tests.services.records.fhir_fake import client_of

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "samples" / "patients"
NAMES = ["patient_4", "patient_15", "patient_42"]
TODAY = FixedClock().now().date()

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An independent FHIR server in memory, filled with samples over its own interface."""
    peers.node_module("@medplum/fhir-router", "fhir-router")
    script = ROOT / "tests" / "tools" / "fhir_server.mjs"
    # Its library wants a WebSocket, which Node.js 20 has only behind this switch.
    arguments: list[str | Path] = ["--experimental-websocket", script, NODE_HOME]
    folder = tmp_path_factory.mktemp("fhir")
    with peers.running_node(arguments, folder=folder, ready=r"listening on (\S+)\n") as url:
        asyncio.run(fill(url))
        yield url


async def fill(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        for name in NAMES:
            bundle = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))
            for entry in bundle["entry"]:
                await put(session, url, unique(entry["resource"], name))


def unique(resource: dict[str, object], name: str) -> dict[str, object]:
    """Samples may share ids such as `ecog-1`; one server cannot hold both."""
    text = json.dumps(resource)
    if resource["resourceType"] != "Patient":
        number = name.removeprefix("patient_")
        text = text.replace(f'"id": "{resource["id"]}"', f'"id": "{resource["id"]}-{number}"', 1)
        text = text.replace('"ImagingStudy/', f'"ImagingStudy/{number}-')
    loaded: dict[str, object] = json.loads(text)
    return loaded


async def put(session: aiohttp.ClientSession, url: str, resource: dict[str, object]) -> None:
    target = f"{url}/{resource['resourceType']}/{resource['id']}"
    headers = {"Content-Type": "application/fhir+json"}
    async with session.put(target, json=resource, headers=headers) as response:
        assert response.status in (200, 201), await response.text()


@pytest.fixture
async def records(base_url: str) -> AsyncIterator[PatientRecords]:
    async with aiohttp.ClientSession() as session:
        clock = FixedClock()
        yield FhirServerRecords(client=client_of(base_url, session, clock=clock), clock=clock)


@pytest.mark.parametrize("name", NAMES)
async def test_a_server_and_bundle_give_the_same_facts(records: PatientRecords, name: str) -> None:
    served = await records.load(PatientId(name))
    filed = await records_in(SAMPLES, FixedClock()).load(PatientId(name))

    assert served.left_out.sentence() is None
    assert len(served.entries) == len(filed.entries)
    here, there = (current_status(chart, today=TODAY) for chart in (served, filed))
    assert [(fact.name, fact.value, fact.state) for fact in (here.ecog, *here.staging)] == [
        (fact.name, fact.value, fact.state) for fact in (there.ecog, *there.staging)
    ]
    assert told(served) == told(filed)


def told(chart: PatientRecord) -> list[tuple[str, str]]:
    return sorted((row.date, row.name) for row in course(chart, today=TODAY).rows)


async def test_an_id_that_the_server_does_not_know_is_not_found(records: PatientRecords) -> None:
    for name in ("patient_999", "nobody"):
        with pytest.raises(RecordNotFoundError):
            await records.load(PatientId(name))
