"""The clinic on sample data and on an independent FHIR server, with the same content."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp

from data_models.clock import RandomIds
from data_models.resource import ResourceStore
from data_models.storage.local_blob_store import LocalBlobStore
from services.records.fhir.fhir_server_resources import FhirServerResources
from services.records.local_resources import LocalResources, slots_on
from services.scheduling.clinic import Clinic
from tests.fakes import FixedClock
from tests.services.records.charts import records_in
from tests.services.records.fhir_fake import client_of

SAMPLES = Path(__file__).parents[3] / "samples"
NOW = datetime(2030, 1, 2, 9, 5, tzinfo=UTC)
TODAY = NOW.date()
PATIENTS = ("patient_4", "patient_7", "patient_15", "patient_21", "patient_33", "patient_42")


def clinic_over(records: ResourceStore, *, now: datetime = NOW) -> Clinic:
    return Clinic(records=records, clock=FixedClock(now), ids=RandomIds(), zone=UTC)


def local_records(root: Path, *, now: datetime = NOW) -> LocalResources:
    clock = FixedClock(now)
    return LocalResources(
        patients=records_in(SAMPLES / "patients", clock),
        folder=SAMPLES / "scheduling",
        store=LocalBlobStore(root=root),
        zone=UTC,
        clock=clock,
    )


@asynccontextmanager
async def server_records(url: str) -> AsyncIterator[FhirServerResources]:
    async with aiohttp.ClientSession() as session:
        clock = FixedClock(NOW)
        yield FhirServerResources(client=client_of(url, session, clock=clock), clock=clock)


def sampled(kind: str) -> list[dict[str, Any]]:
    """The committed resources of one kind."""
    files = [*(SAMPLES / "scheduling").glob("*.json")]
    files += [SAMPLES / "patients" / f"{name}.json" for name in PATIENTS]
    entries = [entry for file in files for entry in json.loads(file.read_text("utf-8"))["entry"]]
    return [entry["resource"] for entry in entries if entry["resource"]["resourceType"] == kind]


def slots(days: list[date]) -> list[dict[str, Any]]:
    """What a server holds that has its own calendar."""
    roles = sampled("PractitionerRole")
    return [
        slot
        for schedule in sampled("Schedule")
        for day in days
        for slot in slots_on(schedule, roles, day, zone=UTC)
    ]


async def fill(url: str, days: list[date]) -> None:
    """Put a fresh clinic on the server: nothing is booked."""
    kinds = ("Practitioner", "Schedule", "Coverage", "Patient")
    rows = [row for kind in kinds for row in sampled(kind)] + slots(days)
    async with aiohttp.ClientSession() as session:
        for appointment in await found(session, url, "Appointment"):
            async with session.delete(f"{url}/Appointment/{appointment['id']}") as response:
                assert response.status == 200
        limit = asyncio.Semaphore(8)
        await asyncio.gather(*(put(session, url, row, limit) for row in rows))


async def found(session: aiohttp.ClientSession, url: str, kind: str) -> list[dict[str, Any]]:
    """All resources of a kind."""
    async with session.get(f"{url}/{kind}", params={"_count": "1000"}) as response:
        bundle = json.loads(await response.read())
    return [entry["resource"] for entry in bundle.get("entry", ())]


async def put(
    session: aiohttp.ClientSession, url: str, row: Mapping[str, Any], limit: asyncio.Semaphore
) -> None:
    target = f"{url}/{row['resourceType']}/{row['id']}"
    headers = {"Content-Type": "application/fhir+json"}
    async with limit, session.put(target, json=row, headers=headers) as response:
        assert response.status in (200, 201), await response.text()


def days_from_today(count: int) -> list[date]:
    return [TODAY + timedelta(days=number) for number in range(count)]
