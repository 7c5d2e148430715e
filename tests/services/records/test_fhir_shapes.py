"""FHIR servers as they differ: HAPI-, Azure- and Epic-shaped doubles, and how charts stay fresh."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from data_models.errors import RecordNotFoundError, RecordReplacedError, RecordsRefusedError
from data_models.identifiers import PatientId
from services.records.fhir.fhir_chart import LOADED_AGAIN
from services.records.fhir.fhir_search import SEARCHED
from services.records.fhir.fhir_server_records import FhirServerRecords
from tests.fakes import FixedClock
from tests.services.records.charts import PATIENT_ID, Json, cancer, ecog, patient, resource
from tests.services.records.fhir_fake import FakeFhir, answer, client_of, found, outcome, running


def statement(parameters: dict[str, list[str]]) -> Json:
    """A CapabilityStatement of these types."""
    rows = [
        {"type": kind, "searchParam": [{"name": name} for name in names]}
        for kind, names in parameters.items()
    ]
    return {"resourceType": "CapabilityStatement", "rest": [{"mode": "server", "resource": rows}]}


@pytest.fixture
async def fhir() -> AsyncIterator[FakeFhir]:
    async with running(FakeFhir()) as fake:
        fake.on("Patient", found(patient()))
        yield fake


def records_of(
    fhir: FakeFhir, session: aiohttp.ClientSession, clock: FixedClock | None = None, **more: Any
) -> FhirServerRecords:
    used = clock or FixedClock()
    return FhirServerRecords(
        client=client_of(fhir.base_url, session, clock=used), clock=used, **more
    )


async def test_hapi_pages_at_its_base_and_is_asked_for_what_it_serves_only(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.on("metadata", statement({"Observation": ["patient"], "Condition": ["patient"]}))
    fhir.on("Observation", found(ecog("a", "2024", "1"), link=f"{fhir.base_url}?_getpages=7"))
    fhir.on("/fhir?_getpages=7", found(ecog("b", "2024", "2")))
    fhir.on("Condition", found(cancer()))
    record = await records_of(fhir, session).load(PATIENT_ID)
    assert len(record.entries_of("Observation")) == 2
    assert len(record.entries_of("Condition")) == 1
    asked = {target for target in fhir.targets() if target not in ("/fhir", "Patient")}
    assert asked == {"metadata", "Observation", "Condition"}
    assert len(record.left_out.not_offered) == len(SEARCHED) - 2


async def test_a_type_without_the_parameter_patient_is_searched_by_subject(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.on("metadata", statement({"Observation": ["subject", "code"]}))
    fhir.on("Observation", found(ecog("a", "2024", "1")))
    assert (await records_of(fhir, session).load(PATIENT_ID)).entries_of("Observation")
    (asked,) = [one for one in fhir.requests if one.path.endswith("/Observation")]
    assert asked.query["subject"] == "Patient/p9"


async def test_an_include_that_is_refused_degrades_and_the_drug_is_read(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    def search(request: web.Request) -> web.StreamResponse:
        if "_include" in request.query:
            return answer(outcome("not-supported"), 400)(request)
        drug = {"reference": "Medication/d1"}
        return answer(found(resource("MedicationRequest", "m", medicationReference=drug)))(request)

    fhir.on("metadata", statement({"MedicationRequest": ["patient"]}))
    fhir.on("MedicationRequest", search)
    fhir.on("Medication/d1", {"resourceType": "Medication", "id": "d1", "code": {"text": "A"}})
    record = await records_of(fhir, session).load(PATIENT_ID)
    assert len(record.entries_of("MedicationRequest")) == 1
    assert "Medication/d1" in record.names


async def test_epic_wants_a_category_with_every_search(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    def search(request: web.Request) -> web.StreamResponse:
        category = request.query.get("category")
        if category is None:
            return answer(outcome("business-rule"), 400)(request)
        known = {"laboratory": [ecog("a", "2024", "1")], "survey": [ecog("a", "2024", "1")]}
        return answer(found(*known.get(category, [])))(request)

    fhir.on("metadata", statement({"Observation": ["patient", "category"]}))
    fhir.on("Observation", search)
    record = await records_of(fhir, session).load(PATIENT_ID)
    assert [one.ref for one in record.entries_of("Observation")] == ["Observation/a"]


async def test_a_type_that_we_may_not_read_is_named_and_the_rest_is_served(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.on("metadata", statement({"Observation": ["patient"], "Condition": ["patient"]}))
    fhir.on("Observation", answer(outcome("forbidden"), 403))
    fhir.on("Condition", found(cancer()))
    record = await records_of(fhir, session).load(PATIENT_ID)
    assert len(record.entries_of("Condition")) == 1
    assert "Observation" in (record.left_out.sentence() or "")
    fhir.on("Condition", answer(outcome("forbidden"), 403))
    with pytest.raises(RecordsRefusedError):
        await records_of(fhir, session, cache_seconds=0).load(PATIENT_ID)


async def test_only_what_was_written_since_is_asked_for_and_all_after_ten_minutes(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    written: list[Json] = []

    def search(request: web.Request) -> web.StreamResponse:
        if "_lastUpdated" in request.query:
            assert request.query["_lastUpdated"].startswith("ge")
            return answer(found(*written))(request)
        return answer(found(cancer()))(request)

    clock = FixedClock()
    fhir.on("metadata", statement({"Condition": ["patient", "_lastUpdated"]}))
    fhir.on("Condition", search)
    records = records_of(fhir, session, clock, cache_seconds=60)
    first = await records.load(PATIENT_ID)
    clock.advance(61)
    assert await records.load(PATIENT_ID) is first
    written.append(cancer(id="new"))
    clock.advance(61)
    assert set((await records.load(PATIENT_ID)).entries) == {"Condition/tumour", "Condition/new"}
    written.clear()
    clock.advance((LOADED_AGAIN + timedelta(seconds=1)).total_seconds())
    assert set((await records.load(PATIENT_ID)).entries) == {"Condition/tumour"}


async def test_a_mistyped_record_number_is_not_tried_as_an_internal_id(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.on("Patient", found())
    fhir.on("Patient/7654321", patient(id="7654321"))
    records = records_of(fhir, session, identifier_system="urn:mrn")
    with pytest.raises(RecordNotFoundError):
        await records.load(PatientId("7654321"))
    assert fhir.targets() == ["Patient"]


@pytest.mark.parametrize("retired", [{"use": "old"}, {"period": {"end": "2001"}}])
async def test_a_retired_identifier_does_not_open_its_former_owner(
    fhir: FakeFhir, session: aiohttp.ClientSession, retired: dict[str, Any]
) -> None:
    row = {"system": "urn:mrn", "value": "patient_9", **retired}
    fhir.on("Patient", found(patient(identifier=[row])))
    with pytest.raises(RecordNotFoundError):
        await records_of(fhir, session, identifier_system="urn:mrn").load(PATIENT_ID)


async def test_a_merged_patient_gives_way_and_is_not_opened_alone(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    merged = patient(id="p1", active=False, link=[{"type": "replaced-by", "other": {}}])
    fhir.on("Patient", found(merged, patient()))
    fhir.on("metadata", statement({"Condition": ["patient"]}))
    fhir.on("Condition", found())
    assert (await records_of(fhir, session).load(PATIENT_ID)).patient.id == "p9"
    fhir.on("Patient", found(merged))
    with pytest.raises(RecordReplacedError):
        await records_of(fhir, session).load(PATIENT_ID)
