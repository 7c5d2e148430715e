"""Drafts of orders over a FHIR server that answers badly: nobody is told what is not known."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest

from data_models import errors
from services.orders.draft_order import DraftOrder, service_request
from services.orders.order_drafts import OrderDrafts
from services.records.fhir.fhir_server_resources import FhirServerResources
from tests.fakes import FixedClock
from tests.services.records.charts import PATIENT_ID, patient
from tests.services.records.fhir_fake import FakeFhir, answer, client_of, found, outcome, running
from tests.tables import with_cases

ORDER = DraftOrder("order_1", "CEA", "2030-01-03", "Ada Example, born 1957-03-14", (), "Orders")
CREATES = {"type": "ServiceRequest", "interaction": [{"code": "create"}], "conditionalCreate": True}


def capability(*rows: dict[str, Any], mode: str = "server") -> dict[str, Any]:
    return {"resourceType": "CapabilityStatement", "rest": [{"mode": mode, "resource": [*rows]}]}


def stored(**changes: Any) -> dict[str, Any]:
    now = datetime(2030, 1, 2, tzinfo=UTC)
    body = service_request(ORDER, patient_key="p9", requester="Ada", now=now)
    return {**body, "id": "sr1", "meta": {"versionId": "1"}, **changes}


@pytest.fixture
async def fhir() -> AsyncIterator[FakeFhir]:
    async with running(FakeFhir()) as fake:
        fake.on("Patient", found(patient()))
        fake.on("metadata", capability(CREATES))
        yield fake


@pytest.fixture
async def drafts(fhir: FakeFhir) -> AsyncIterator[OrderDrafts]:
    clock = FixedClock()
    async with aiohttp.ClientSession() as session:
        client = client_of(fhir.base_url, session, clock=clock)
        yield OrderDrafts(records=FhirServerResources(client=client, clock=clock), clock=clock)


async def made(drafts: OrderDrafts) -> str:
    return (await drafts.make(ORDER, patient_id=PATIENT_ID, requester="Ada")).order_id


@pytest.mark.parametrize("status", [200, 201])
async def test_a_draft_is_known_by_its_id(fhir: FakeFhir, drafts: OrderDrafts, status: int) -> None:
    fhir.on("ServiceRequest", answer(stored(), status))
    assert await made(drafts) == "sr1"


@pytest.mark.parametrize("status", [400, 404, 405, 422])
async def test_what_the_server_does_not_take_was_not_written(
    fhir: FakeFhir, drafts: OrderDrafts, status: int
) -> None:
    fhir.on("ServiceRequest", answer(outcome("invalid"), status))
    with pytest.raises(errors.RecordNotAcceptedError) as raised:
        await made(drafts)
    assert raised.value.status == status


@pytest.mark.slow
@pytest.mark.parametrize("status", [408, 500, 503])
async def test_of_an_answer_that_says_nothing_nobody_says_that_it_was_not_written(
    fhir: FakeFhir, drafts: OrderDrafts, status: int
) -> None:
    fhir.on("ServiceRequest", answer(outcome("timeout"), status))
    with pytest.raises(errors.RecordsError) as raised:
        await made(drafts)
    assert not isinstance(raised.value, errors.RecordNotAcceptedError)


@pytest.mark.parametrize("status", [409, 412])
async def test_a_key_that_several_carry_is_a_conflict(
    fhir: FakeFhir, drafts: OrderDrafts, status: int
) -> None:
    fhir.on("ServiceRequest", answer(outcome("conflict"), status))
    with pytest.raises(errors.RecordChangedError):
        await made(drafts)


@with_cases("statement")
async def test_a_server_that_does_not_say_that_it_creates_orders_once_is_sent_none(
    fhir: FakeFhir, drafts: OrderDrafts, statement: dict[str, Any]
) -> None:
    fhir.on("metadata", statement)
    with pytest.raises(errors.ToolInputError, match="does not take drafts of orders"):
        await made(drafts)
    assert "POST" not in [one.method for one in fhir.requests]


@pytest.mark.parametrize(
    "kept",
    [
        stored(subject={"reference": "Patient/another"}),
        stored(code={"text": "MRI"}),
        stored(intent="order"),
        stored(identifier=[{"system": "urn:other", "value": "order_1"}]),
    ],
)
async def test_another_resource_under_the_key_is_no_success(
    fhir: FakeFhir, drafts: OrderDrafts, kept: dict[str, Any]
) -> None:
    fhir.on("ServiceRequest", answer(kept, 200))
    with pytest.raises(errors.ToolInputError, match="something else"):
        await made(drafts)


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (stored(status="active"), "it is no draft any more"),
        (stored(subject={"reference": "Patient/another"}), "no such draft"),
        (stored(identifier=[{"system": "urn:other", "value": "x"}]), "no such draft"),
        (stored(intent="order"), "no such draft"),
    ],
)
async def test_only_a_draft_of_ours_for_this_patient_is_taken_back(
    fhir: FakeFhir, drafts: OrderDrafts, kept: dict[str, Any], why: str
) -> None:
    fhir.on("ServiceRequest/sr1", answer(kept))
    with pytest.raises(errors.ToolInputError, match=why):
        await drafts.take_back("sr1", patient_id=PATIENT_ID, language="en")
    assert "PUT" not in [one.method for one in fhir.requests]
