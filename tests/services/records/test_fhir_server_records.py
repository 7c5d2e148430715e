import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from data_models.errors import (
    ConfigurationError,
    RecordAmbiguousError,
    RecordNotFoundError,
    RecordsError,
    RecordsRefusedError,
    RecordsUnavailableError,
    RecordsUnreadableError,
)
from data_models.identifiers import PatientId
from services.records.fhir.fhir_client import FhirLimits
from services.records.fhir.fhir_server_records import FhirServerRecords
from services.records.resources.ports import PatientRecords
from services.records.views.course import course
from services.records.views.papers import read_document
from tests.fakes import FixedClock
from tests.services.records.charts import PATIENT_ID, cancer, ecog, note, patient, resource
from tests.services.records.fhir_fake import FakeFhir, answer, client_of, found, outcome, running
from tests.tables import with_cases

TODAY = date(2025, 1, 1)
TOKEN = "token-that-must-stay-here"
LIMITS = FhirLimits(request_seconds=20.0, load_seconds=60.0)


@pytest.fixture
async def fhir() -> AsyncIterator[FakeFhir]:
    async with running(FakeFhir()) as fake:
        yield fake


@pytest.fixture
def records(fhir: FakeFhir, session: aiohttp.ClientSession) -> PatientRecords:
    return make(fhir, session)


def make(fhir: FakeFhir, session: aiohttp.ClientSession, **options: Any) -> PatientRecords:
    chosen = {"cache_seconds": 0, "clock": FixedClock(), "everything": True, **options}
    client = client_of(
        fhir.base_url, session, clock=chosen["clock"], token=chosen.pop("token", TOKEN),
        limits=chosen.pop("limits", LIMITS),
    )  # fmt: skip
    return FhirServerRecords(client=client, **chosen)


async def test_all_about_the_patient_is_read(fhir: FakeFhir, records: PatientRecords) -> None:
    fhir.holds_patient(ecog("e", "2024-01-01", "1"), note("n", "2024-01-02", "Well."))
    record = await records.load(PATIENT_ID)

    assert set(record.entries) == {"Observation/e", "DocumentReference/n"}
    assert fhir.requests[0].query["identifier"] == "patient_9"
    assert {request.headers["Authorization"] for request in fhir.requests} == {f"Bearer {TOKEN}"}


async def test_without_a_token_no_authorization_is_sent(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.holds_patient()
    await make(fhir, session, token=None).load(PATIENT_ID)
    assert "Authorization" not in fhir.requests[0].headers


async def test_the_identifier_system_is_asked_for_and_checked(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.holds_patient()
    await make(fhir, session, identifier_system="urn:ids").load(PATIENT_ID)
    assert fhir.requests[0].query["identifier"] == "urn:ids|patient_9"

    with pytest.raises(RecordNotFoundError):
        await make(fhir, session, identifier_system="urn:others").load(PATIENT_ID)


async def test_a_patient_without_the_identifier_is_found_by_resource_id(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    fhir.on("Patient", found())
    fhir.on("Patient/p9", patient())
    fhir.on("Patient/p9/$everything", found(cancer()))
    record = await records.load(PatientId("p9"))
    assert [one.ref for one in record.entries_of("Condition")] == ["Condition/tumour"]


def busy(status: int, wait: str) -> Any:
    return answer(outcome("throttled"), status, **{"Retry-After": wait})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("served", "error", "requests"),
    [
        # A server that ignores the search does not give us a stranger, and of two none is chosen.
        ([found(patient(id="p1", identifier=[{"value": "patient_1"}]))], RecordNotFoundError, 0),
        ([found(patient(), patient(id="p10"))], RecordAmbiguousError, 1),
        # A resource id that would change the path is refused.
        *(
            ([found(patient(id=key))], RecordsUnreadableError, 1)
            for key in ("..", ".", "a/b", "p9/../p10", "", "x" * 65)
        ),
        # An unknown id is not found, and another resource than the one asked for is refused.
        ([found(), answer(outcome("not-found"), 404)], RecordNotFoundError, 2),
        ([found(), answer(outcome("not-found"), 410)], RecordNotFoundError, 2),
        ([found(), patient(id="p10")], RecordsUnreadableError, 2),
        # Refused credentials are the operator's matter.
        ([answer(outcome("login"), 401)], RecordsRefusedError, 1),
        ([answer(outcome("login"), 403)], RecordsRefusedError, 1),
        # A long wait is not waited for, and a busy server is given up after three attempts.
        ([busy(429, "3600")], RecordsUnavailableError, 1),
        ([busy(429, "Thu, 03 Jan 2030 03:04:06 GMT")], RecordsUnavailableError, 1),
        *(([busy(503, one)], RecordsUnavailableError, 3) for one in ("soon", "-3", "0", "")),
    ],
)
async def test_a_patient_who_cannot_be_read_is_no_other(
    fhir: FakeFhir,
    records: PatientRecords,
    served: list[Any],
    error: type[RecordsError],
    requests: int,
) -> None:
    for target, one in zip(("Patient", "Patient/p9"), served, strict=False):
        fhir.on(target, one)
    with pytest.raises(error):
        await records.load(PATIENT_ID if len(served) == 1 else PatientId("p9"))
    assert requests in (0, len(fhir.requests))


async def test_pages_are_followed_to_the_end(fhir: FakeFhir, records: PatientRecords) -> None:
    fhir.holds_patient()
    here = f"{fhir.base_url}/Patient/p9/$everything"
    fhir.on("Patient/p9/$everything", found(ecog("a", "2024", "1"), link=f"{here}?page=2"))
    fhir.on("Patient/p9/$everything?page=2", found(ecog("b", "2024", "1"), link="?page=3"))
    fhir.on("Patient/p9/$everything?page=3", found(ecog("c", "2024", "1")))

    record = await records.load(PATIENT_ID)
    assert list(record.entries) == ["Observation/a", "Observation/b", "Observation/c"]
    assert record.left_out.sentence() is None


@pytest.mark.parametrize(
    "limits", [replace(LIMITS, pages=3), replace(LIMITS, entries=3)], ids=["pages", "entries"]
)
async def test_more_than_we_read_is_said(
    fhir: FakeFhir, session: aiohttp.ClientSession, limits: FhirLimits
) -> None:
    fhir.holds_patient()
    for number in range(10):
        target = "Patient/p9/$everything" + (f"?page={number}" if number else "")
        fhir.on(target, found(ecog(f"e{number}", "2024", "1"), link=f"?page={number + 1}"))

    record = await make(fhir, session, limits=limits).load(PATIENT_ID)
    assert len(record.entries_of("Observation")) == 3
    assert "more than was read" in course(record, today=TODAY).notes[-1]


async def test_pages_that_go_in_a_circle_end(fhir: FakeFhir, records: PatientRecords) -> None:
    fhir.holds_patient()
    fhir.on("Patient/p9/$everything", found(link="?page=2"))
    fhir.on("Patient/p9/$everything?page=2", found(link="?page=2"))
    with pytest.raises(RecordsUnreadableError):
        await records.load(PATIENT_ID)


@pytest.mark.parametrize("status", [404, 410, 422, 500])
async def test_a_page_that_fails_fails_the_whole(
    fhir: FakeFhir, records: PatientRecords, status: int
) -> None:
    fhir.holds_patient()
    fhir.on("Patient/p9/$everything", found(ecog("a", "2024", "1"), link="?page=2"))
    fhir.on("Patient/p9/$everything?page=2", answer(outcome("exception"), status))
    with pytest.raises(RecordsError):
        await records.load(PATIENT_ID)
    assert fhir.targets() == ["Patient", "Patient/p9/$everything", "Patient/p9/$everything"]


async def test_more_than_we_read_of_one_type_is_said(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.holds_patient()
    fhir.on("Patient/p9/$everything", answer(outcome("not-supported"), 404))
    fhir.on("Condition", found(cancer(), link="?page=2"))
    record = await make(fhir, session, limits=replace(LIMITS, pages=1)).load(PATIENT_ID)
    assert record.left_out.truncated


@pytest.mark.slow
@with_cases("address")
async def test_a_link_to_another_place_is_not_followed(
    fhir: FakeFhir, records: PatientRecords, address: Any
) -> None:
    fhir.holds_patient()
    fhir.on("Patient/p9/$everything", {**found(), "link": [{"relation": "next", "url": address}]})
    with pytest.raises(RecordsUnreadableError):
        await records.load(PATIENT_ID)
    assert fhir.targets() == ["Patient", "Patient/p9/$everything"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(
    fhir: FakeFhir, records: PatientRecords, status: int
) -> None:
    async with running(FakeFhir()) as elsewhere:
        fhir.on("Patient", answer("", status, Location=f"{elsewhere.base_url}/Patient"))
        with pytest.raises(RecordsUnreadableError):
            await records.load(PATIENT_ID)
        assert elsewhere.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_busy_server_is_asked_again(
    fhir: FakeFhir, records: PatientRecords, status: int
) -> None:
    fhir.holds_patient()
    fhir.on("Patient", answer(outcome("throttled"), status), answer(found(patient())))
    await records.load(PATIENT_ID)
    assert fhir.targets()[:2] == ["Patient", "Patient"]


@pytest.mark.slow
async def test_a_busy_server_is_asked_again_when_it_said(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    fhir.holds_patient()
    busy = answer(outcome("throttled"), 429, **{"Retry-After": "1"})
    fhir.on("Patient", busy, answer(found(patient())))

    start = time.monotonic()
    await records.load(PATIENT_ID)
    assert time.monotonic() - start > 0.9
    assert fhir.targets()[:2] == ["Patient", "Patient"]


@pytest.mark.slow
async def test_retry_after_may_be_a_date(fhir: FakeFhir, session: aiohttp.ClientSession) -> None:
    fhir.holds_patient()
    busy = answer(outcome("throttled"), 503, **{"Retry-After": "Wed, 02 Jan 2030 03:04:06 GMT"})
    fhir.on("Patient", busy, answer(found(patient())))

    start = time.monotonic()
    await make(fhir, session).load(PATIENT_ID)  # the fixed clock shows one second earlier
    assert time.monotonic() - start > 0.9


@pytest.mark.slow
async def test_a_slow_server_is_unavailable(fhir: FakeFhir, session: aiohttp.ClientSession) -> None:
    records = make(fhir, session, limits=replace(LIMITS, request_seconds=0.2))
    fhir.delay_seconds = 0.5
    with pytest.raises(RecordsUnavailableError):
        await records.load(PATIENT_ID)
    assert len(fhir.requests) == 1


@pytest.mark.slow
async def test_many_slow_pages_are_bounded_as_a_whole(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.on("Patient", answer(outcome("throttled"), 503, **{"Retry-After": "2"}))
    records = make(fhir, session, limits=replace(LIMITS, load_seconds=0.3))
    with pytest.raises(RecordsUnavailableError):
        await records.load(PATIENT_ID)
    assert len(fhir.requests) == 1, "it waited as long as it was asked to"


@pytest.mark.slow
async def test_a_server_that_is_not_there_is_unavailable(
    fhir: FakeFhir, session: aiohttp.ClientSession, unused_tcp_port: int
) -> None:
    fhir.base_url = f"http://127.0.0.1:{unused_tcp_port}/fhir"
    with pytest.raises(RecordsUnavailableError) as caught:
        await make(fhir, session).load(PATIENT_ID)
    assert "patient_9" not in repr(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "body",
    ["", "<html>", "[]", "7", '{"resourceType":"Bundle"', '{"resourceType":"Patient"}', b"\xff\xfe",
     outcome("exception"), {"resourceType": "Bundle", "entry": {}},
     {"resourceType": "Bundle", "link": 1},
     '{"resourceType":"Bundle","a":NaN}'],
)  # fmt: skip
async def test_what_is_no_bundle_is_never_an_empty_record(
    fhir: FakeFhir, records: PatientRecords, body: Any
) -> None:
    fhir.holds_patient()
    fhir.on("Patient/p9/$everything", answer(body))
    with pytest.raises(RecordsUnreadableError) as caught:
        await records.load(PATIENT_ID)
    assert caught.value.__cause__ is None


async def test_an_answer_over_the_limit_is_not_read_to_its_end(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    fhir.holds_patient(note("n", "2024-01-01", "x" * 200_000))
    with pytest.raises(RecordsUnreadableError):
        await make(fhir, session, limits=replace(LIMITS, page_bytes=100_000)).load(PATIENT_ID)


async def test_a_small_answer_that_unpacks_to_a_huge_one_is_refused(
    fhir: FakeFhir, session: aiohttp.ClientSession
) -> None:
    def packed(_: web.Request) -> web.StreamResponse:
        response = web.Response(body=b" " * 5_000_000)
        response.enable_compression(web.ContentCoding.gzip)
        return response

    fhir.on("Patient", packed)
    with pytest.raises(RecordsUnreadableError):
        await make(fhir, session, limits=replace(LIMITS, page_bytes=1_000_000)).load(PATIENT_ID)


@pytest.mark.parametrize("status", [400, 404, 405, 501])
async def test_without_everything_each_type_is_searched(
    fhir: FakeFhir, records: PatientRecords, status: int
) -> None:
    fhir.holds_patient()
    fhir.on("Patient/p9/$everything", answer(outcome("not-supported"), status))
    for kind in ("Condition", "Observation", "MedicationStatement", "MedicationRequest",
                 "MedicationAdministration", "Procedure", "DiagnosticReport",
                 "DocumentReference", "AllergyIntolerance"):  # fmt: skip
        fhir.on(kind, found())
    fhir.on("Observation", found(ecog("a", "2024", "1"), link="?page=2"))
    fhir.on("Observation?page=2", found(ecog("b", "2024", "1")))

    record = await records.load(PATIENT_ID)
    assert len(record.entries) == 2
    assert "ImagingStudy" in record.left_out.not_offered
    assert "Condition" not in record.left_out.not_offered
    asked = next(r for r in fhir.requests if r.path.endswith("/MedicationRequest"))
    assert asked.query["patient"] == "Patient/p9"


async def test_a_type_that_fails_is_not_a_type_without_entries(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    fhir.holds_patient()
    fhir.on("Patient/p9/$everything", answer(outcome("not-supported"), 404))
    fhir.on("Condition", answer(outcome("invalid", "Ada Secret"), 400))
    with pytest.raises(RecordsUnreadableError) as caught:
        await records.load(PATIENT_ID)
    assert str(caught.value) == "the records server answered 400 (invalid)"


async def test_an_outcome_with_text_for_a_code_is_not_repeated(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    fhir.on("Patient", answer(outcome("Ada Secret was here"), 422))
    with pytest.raises(RecordsUnreadableError) as caught:
        await records.load(PATIENT_ID)
    assert "Secret" not in str(caught.value)


async def test_resources_of_other_patients_are_left_out_and_said(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    theirs = {**ecog("t", "2024", "4"), "subject": {"reference": "Patient/p10"}}
    fhir.holds_patient(theirs, patient(id="p10"), ecog("m", "2024", "1"))
    record = await records.load(PATIENT_ID)
    assert list(record.entries) == ["Observation/m"]
    assert record.left_out.other_patient == 1


async def test_absolute_references_to_this_server_are_this_patient(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    mine = {"reference": f"{fhir.base_url}/Patient/p9"}
    fhir.holds_patient({**ecog("m", "2024", "1"), "subject": mine})
    assert len((await records.load(PATIENT_ID)).entries) == 1


async def test_texts_kept_elsewhere_on_the_server_are_fetched(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    def kept(key: str, url: str) -> dict[str, Any]:
        row = note(key, "2024-01-01", "")
        row["content"] = [{"attachment": {"contentType": "text/plain", "url": url}}]
        return row

    data = base64.b64encode(b"Seen today.").decode()
    fhir.on("Binary/1", {"resourceType": "Binary", "data": data})
    fhir.holds_patient(
        kept("relative", "Binary/1"), kept("absolute", f"{fhir.base_url}/Binary/1"),
        kept("gone", "Binary/2"), kept("foreign", "https://evil.example/Binary/1"),
    )  # fmt: skip
    record = await records.load(PATIENT_ID)

    texts = {document.ref.partition("/")[2]: document.text for document in record.documents}
    assert texts == {
        "relative": "Seen today.", "absolute": "Seen today.", "gone": None, "foreign": None,
    }  # fmt: skip
    gone = read_document(record, "DocumentReference/gone")
    assert gone is not None
    assert gone.nothing.endswith("the text is kept elsewhere and was not fetched")


async def test_tools_of_one_turn_share_one_load(
    fhir: FakeFhir, session: aiohttp.ClientSession, clock: FixedClock
) -> None:
    fhir.holds_patient()
    records = make(fhir, session, clock=clock, cache_seconds=60)
    await asyncio.gather(*(records.load(PATIENT_ID) for _ in range(5)))
    assert len(fhir.requests) == 2

    clock.advance(61)
    await records.load(PATIENT_ID)
    assert fhir.targets().count("Patient") == 2


async def test_nothing_of_the_patient_or_the_token_is_logged(
    fhir: FakeFhir, records: PatientRecords
) -> None:
    fhir.holds_patient(resource("Condition", "c", code={"text": "Secret disease"}))
    fhir.on("Patient", answer(outcome("x"), 503), answer(found(patient())))
    with capture_logs() as logs:
        await records.load(PATIENT_ID)

    written = json.dumps(logs, default=str)
    assert "records_loaded" in written
    for secret in ("Secret", "Ada", "patient_9", "p9/", TOKEN):
        assert secret not in written


@with_cases("address")
async def test_an_address_that_would_leak_the_token_stops_the_start(
    session: aiohttp.ClientSession, clock: FixedClock, address: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_of(address, session, clock=clock, token=TOKEN)
    assert TOKEN not in str(caught.value)


def test_all_failures_are_of_one_family() -> None:
    kinds = (RecordNotFoundError, RecordAmbiguousError, RecordsRefusedError, RecordsUnreadableError)
    assert all(issubclass(kind, RecordsError) for kind in kinds)
