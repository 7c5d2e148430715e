"""Writing to a FHIR server: conditions on the wire, and what a lost or odd answer means."""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from data_models.errors import (
    RecordChangedError,
    RecordsRefusedError,
    RecordsUnavailableError,
    RecordsUnreadableError,
)
from data_models.resource import Resource
from services.records.fhir.fhir_client import FhirLimits
from services.records.fhir.fhir_server_resources import FhirServerResources
from tests.fakes import FixedClock
from tests.services.records.fhir_fake import (
    FakeFhir,
    Reply,
    answer,
    client_of,
    found,
    outcome,
    running,
)

LIMITS = FhirLimits(request_seconds=0.5, load_seconds=2.0, attempts=2, pages=2)


def slot(status: str = "free", *, version: str | None = "1", **more: Any) -> dict[str, Any]:
    meta = {} if version is None else {"meta": {"versionId": version}}
    return {"resourceType": "Slot", "id": "s1", "status": status, **meta, **more}


NEW = {"resourceType": "Appointment", "identifier": [{"system": "urn:x", "value": "a b|c"}]}
OLD = Resource(slot(), "1")


@pytest.fixture
async def fake() -> AsyncIterator[FakeFhir]:
    async with running(FakeFhir()) as fake:
        yield fake


@pytest.fixture
async def resources(fake: FakeFhir) -> AsyncIterator[FhirServerResources]:
    async with aiohttp.ClientSession() as session:
        clock = FixedClock()
        client = client_of(fake.base_url, session, clock=clock, limits=LIMITS, token="t")
        yield FhirServerResources(client=client, clock=clock)


def last(fake: FakeFhir) -> web.Request:
    return fake.requests[-1]


async def test_an_update_names_the_version_that_was_read(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    fake.on("Slot/s1", slot("busy", version="2"))
    changed = await resources.update(OLD, slot("busy"))
    assert changed.version == "2"
    request = last(fake)
    assert (request.method, request.headers["If-Match"]) == ("PUT", 'W/"1"')
    assert request.headers["Content-Type"].startswith("application/fhir+json")
    assert request.headers["Authorization"] == "Bearer t"


async def test_a_server_without_versions_is_asked_without_a_condition(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    fake.on("Slot/s1", slot("busy", version=None))
    assert (await resources.update(Resource(slot(), None), slot("busy"))).version is None
    assert "If-Match" not in last(fake).headers


@pytest.mark.parametrize("status", [409, 412])
async def test_whoever_comes_second_is_told(
    fake: FakeFhir, resources: FhirServerResources, status: int
) -> None:
    fake.on("Slot/s1", answer(outcome("conflict"), status), answer(slot("busy", version="2")))
    with pytest.raises(RecordChangedError):
        await resources.update(OLD, slot("busy-tentative", comment="mine"))


async def test_a_write_whose_answer_was_lost_is_known_again(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    written = slot("busy-tentative", version="2", comment="mine")
    busy = answer(outcome("transient"), 503)
    fake.on("Slot/s1", busy, answer(outcome("conflict"), 412), answer(written))
    kept = await resources.update(OLD, slot("busy-tentative", comment="mine"))
    assert kept.version == "2"


async def test_a_server_that_answers_a_write_with_nothing_is_read(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    fake.on("Slot/s1", answer(b"", 204), answer(slot("busy", version="2")))
    assert (await resources.update(OLD, slot("busy"))).version == "2"


async def test_a_new_resource_is_created_once(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    fake.on("Appointment", answer({**NEW, "id": "a1"}, 201))
    assert (await resources.create_once(NEW)).body["id"] == "a1"
    request = last(fake)
    assert request.method == "POST"
    assert request.headers["If-None-Exist"] == "identifier=urn%3Ax%7Ca+b%7Cc"


async def test_a_resource_that_is_there_already_is_returned(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    there = {**NEW, "id": "a0", "status": "booked"}
    fake.on("Appointment", answer(outcome("informational"), 200), answer(found(there)))
    assert (await resources.create_once(NEW)).body["id"] == "a0"
    assert last(fake).query["identifier"] == "urn:x|a b|c"


async def test_several_that_carry_an_identifier_are_no_answer(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    fake.on("Appointment", answer(outcome("multiple-matches"), 412))
    with pytest.raises(RecordChangedError):
        await resources.create_once(NEW)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answer(outcome("forbidden"), 403), RecordsRefusedError),
        (answer(outcome("exception"), 500), RecordsUnavailableError),
        (answer(outcome("processing"), 422), RecordsUnreadableError),
        (answer({"resourceType": "Patient", "id": "s1"}), RecordsUnreadableError),
        (answer(slot(version='1"\r\nX: y')), RecordsUnreadableError),
    ],
)
async def test_a_write_that_fails_says_what_kind_of_failure_it_is(
    fake: FakeFhir, resources: FhirServerResources, reply: Reply, error: type[Exception]
) -> None:
    fake.on("Slot/s1", reply)
    with pytest.raises(error):
        await resources.update(OLD, slot("busy"))


async def test_an_absent_resource_is_none_and_a_failing_server_is_not(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    assert await resources.read("Slot", "s9") is None
    assert await resources.read("Slot", "../Patient") is None
    fake.on("Slot/s9", answer(outcome("exception"), 500))
    with pytest.raises(RecordsUnavailableError):
        await resources.read("Slot", "s9")


async def test_a_search_returns_its_kind_only_and_never_a_part(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    other = {"resourceType": "OperationOutcome", "id": "o"}
    fake.on("Slot", found(slot(), other))
    assert [one.body["id"] for one in await resources.search("Slot", [("status", "free")])] == [
        "s1"
    ]
    pages = [found(slot(), link=f"{fake.base_url}/Slot?page={number}") for number in range(4)]
    fake.on("Slot", *pages)
    with pytest.raises(RecordsUnreadableError, match="too many"):
        await resources.search("Slot", [("status", "free")])


async def test_no_text_of_a_resource_is_in_an_error(
    fake: FakeFhir, resources: FhirServerResources
) -> None:
    fake.on("Slot/s1", answer(outcome("processing", "Mrs Secret"), 422))
    with pytest.raises(RecordsUnreadableError) as raised:
        await resources.update(OLD, slot("busy", comment="Secret"))
    assert "Secret" not in json.dumps([str(raised.value), repr(raised.value.__cause__)])
