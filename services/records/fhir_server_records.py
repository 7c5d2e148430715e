"""Patient records from a FHIR R4 server."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import structlog
from yarl import URL

from data_models.clock import Clock
from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId, hashed
from services.records.base_url import checked_base_url
from services.records.canonical import canonical_id
from services.records.fhir_attachments import fetch_attachments
from services.records.fhir_client import FhirAnswer, FhirClient, FhirLimits, Pages
from services.records.patient_lookup import PatientLookup, unexpected
from services.records.ports import AllPatients, ChartPatient
from services.records.readers.attachments import with_texts
from services.records.readers.reading import DocumentReader
from services.records.record import PatientRecord, record_from_resources
from services.records.record_cache import RecordCache

PAGE_ENTRIES = 200
_NOT_OFFERED = frozenset({404, 405, 410, 501})
_SEARCHED = (
    "Condition", "Observation", "MedicationStatement", "MedicationRequest",
    "MedicationAdministration", "Procedure", "ImagingStudy", "DiagnosticReport",
    "DocumentReference", "AllergyIntolerance",
)  # fmt: skip

_IDENTITY = "identifier,name,birthDate,gender,active,link,deceased"
KEPT_BYTES = 400_000_000
_BYTES_PER_RESOURCE = 12_000

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Received:
    entries: list[dict[str, Any]]
    truncated: bool
    not_offered: tuple[str, ...] = ()


class FhirServerRecords:
    """A `PatientRecords` over one FHIR server.

    A patient is found by identifier (in `identifier_system` if given), else by resource id.
    What was loaded is kept for `cache_seconds`.
    """

    def __init__(
        self,
        *,
        base_url: str,
        token: str | None,
        session: aiohttp.ClientSession,
        clock: Clock,
        identifier_system: str | None = None,
        limits: FhirLimits | None = None,
        cache_seconds: float = 60,
        fits: Callable[[str], bool] = lambda _: False,
        reader: DocumentReader | None = None,
    ) -> None:
        """Take a session that the caller made for outbound calls and closes.

        Which addresses it may reach is the session's business; redirects are refused and cookies
        should not be kept.

        Raises:
            ConfigurationError: `base_url` is not usable.
        """
        self._limits = limits or FhirLimits()
        url = checked_base_url(base_url)
        self._client = FhirClient(
            base_url=url, token=token, session=session, clock=clock, limits=self._limits
        )
        self._lookup = PatientLookup(client=self._client, system=identifier_system, clock=clock)
        self._cache = RecordCache(clock=clock, limit_bytes=KEPT_BYTES, seconds=cache_seconds)
        self._clock = clock
        self._reader = reader or DocumentReader()
        self._systems = (identifier_system,) if identifier_system else ()
        self._fits = fits

    async def load(self, patient_id: PatientId) -> PatientRecord:
        """See `PatientRecords.load`."""
        return await self._cache.get(patient_id, self._fetch, size=_size)

    async def all_patients(self) -> AllPatients:
        """See `PatientIndex.all_patients`."""
        query = {"_elements": _IDENTITY, "_count": str(PAGE_ENTRIES)}
        found = await self._client.pages((self._client.base_url / "Patient").with_query(query))
        if isinstance(found, FhirAnswer):
            raise RecordsUnavailableError("the records server lists no patients")
        rows = [entry.get("resource") or {} for entry in found.entries]
        bodies = [row for row in rows if row.get("resourceType") == "Patient"]
        people = [(self._canonical(body), body) for body in bodies]
        known = tuple(ChartPatient(key, body) for key, body in people if key)
        return AllPatients(known, is_complete=not found.truncated and len(known) == len(bodies))

    def named(self, token: str) -> PatientId | None:
        """Return None: which identifiers lead to a chart, only the server knows."""
        return None

    def start(self) -> None:
        """Nothing is read before somebody asks."""

    def close(self) -> None:
        """End the processes that read documents."""
        self._reader.close()

    def _canonical(self, body: Mapping[str, Any]) -> PatientId | None:
        today = self._clock.now().date()
        return canonical_id(body, systems=self._systems, fits=self._fits, today=today)

    async def _fetch(self, patient_id: PatientId) -> PatientRecord:
        try:
            async with asyncio.timeout(self._limits.load_seconds):
                key, patient = await self._lookup.find(patient_id)
                received = await self._everything(key)
                await fetch_attachments(
                    self._client, received.entries, limit=self._limits.attachments
                )
        except TimeoutError:
            raise RecordsUnavailableError("loading the record took too long") from None
        record = await asyncio.to_thread(self._record, patient_id, key, patient, received)
        _log.info("records_loaded", patient=hashed(patient_id), resources=len(record.resources))
        return record

    def _record(
        self, patient_id: PatientId, key: str, patient: dict[str, Any], received: _Received
    ) -> PatientRecord:
        entry = {"fullUrl": str(self._client.base_url / "Patient" / key), "resource": patient}
        return record_from_resources(
            patient_id,
            with_texts([*received.entries, entry], self._reader),
            patient_ref=f"Patient/{key}",
            truncated=received.truncated,
            not_offered=received.not_offered,
        ).prepared()

    async def _everything(self, key: str) -> _Received:
        base = self._client.base_url / "Patient" / key / "$everything"
        pages = await self._client.pages(base.with_query(_count=PAGE_ENTRIES))
        if isinstance(pages, Pages):
            return _Received(pages.entries, pages.truncated)
        if pages.status == 400 or pages.status in _NOT_OFFERED:
            return await self._search_all(key)
        raise unexpected(pages)

    async def _search_all(self, key: str) -> _Received:
        entries: list[dict[str, Any]] = []
        truncated, not_offered = False, list[str]()
        for kind in _SEARCHED:
            pages = await self._client.pages(self._search_url(kind, key))
            if isinstance(pages, Pages):
                entries.extend(pages.entries)
                truncated = truncated or pages.truncated
            elif pages.status in _NOT_OFFERED:
                not_offered.append(kind)
            else:
                raise unexpected(pages)
        return _Received(entries, truncated, tuple(not_offered))

    def _search_url(self, kind: str, key: str) -> URL:
        query = {"patient": f"Patient/{key}", "_count": str(PAGE_ENTRIES)}
        if kind.startswith("Medication"):
            query["_include"] = f"{kind}:medication"
        return (self._client.base_url / kind).with_query(query)


def _size(record: PatientRecord) -> int:
    return len(record.resources) * _BYTES_PER_RESOURCE
