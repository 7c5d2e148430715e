"""Patient records from a FHIR R4 server."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog

from data_models.clock import Clock
from data_models.errors import RecordsUnavailableError, RecordsUnreadableError
from data_models.identifiers import PatientId, hashed
from services.records.canonical import canonical_id
from services.records.fhir_attachments import fetch_attachments
from services.records.fhir_capability import Capability, capability_of
from services.records.fhir_client import FhirAnswer, FhirClient
from services.records.fhir_search import PAGE_ENTRIES, PatientSearch, Received
from services.records.patient_lookup import PatientLookup
from services.records.ports import AllPatients, ChartPatient
from services.records.readers.attachments import with_texts
from services.records.readers.reading import DocumentReader
from services.records.record import PatientRecord, record_from_resources
from services.records.record_cache import RecordCache

_IDENTITY = "identifier,name,birthDate,gender,active,link,deceased"
KEPT_BYTES = 400_000_000
_BYTES_PER_RESOURCE = 12_000
_PROBLEMS_LOGGED = 50
LOADED_AGAIN = timedelta(minutes=10)
"""A chart is loaded anew after so long, for what was deleted cannot be searched."""
_CLOCKS_DIFFER = timedelta(minutes=1)

_log = structlog.get_logger()


class FhirServerRecords:
    """A `PatientRecords` over one FHIR server.

    A patient is found by identifier in `identifier_system`; where none is given, by any, else by
    resource id. After `cache_seconds` the server is asked whether anything was written since.

    Args:
        everything: Load by `$everything` where the server offers it.
    """

    def __init__(
        self,
        *,
        client: FhirClient,
        clock: Clock,
        identifier_system: str | None = None,
        cache_seconds: float = 60,
        fits: Callable[[str], bool] = lambda _: False,
        everything: bool = False,
        reader: DocumentReader | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._lookup = PatientLookup(client=client, system=identifier_system, clock=clock)
        self._cache = RecordCache(clock=clock, limit_bytes=KEPT_BYTES, seconds=cache_seconds)
        self._reader = reader or DocumentReader()
        self._systems = (identifier_system,) if identifier_system else ()
        self._fits = fits
        self._everything = everything
        self._capability: Capability | None = None
        self._capability_lock = asyncio.Lock()
        self._loaded: dict[PatientId, tuple[str, datetime]] = {}

    async def load(self, patient_id: PatientId) -> PatientRecord:
        """See `PatientRecords.load`."""
        return await self._cache.get(patient_id, self._fetch, size=_size, may_stay=self._may_stay)

    async def _may_stay(self, patient_id: PatientId) -> bool:
        """Tell whether nothing of a loaded chart was written since; deleted ones count later."""
        key, loaded = self._loaded.get(patient_id, ("", self._clock.now()))
        if not key or self._clock.now() - loaded > LOADED_AGAIN:
            return False
        # A little earlier: the server's clock is not ours.
        since = (loaded - _CLOCKS_DIFFER).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            return not await (await self._search()).has_changed(key, since=since)
        except RecordsUnreadableError:
            return False

    async def _search(self) -> PatientSearch:
        async with self._capability_lock:
            if self._capability is None:
                self._capability = await capability_of(self._client)
        return PatientSearch(client=self._client, capability=self._capability)

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
        limits, started = self._client.limits, self._clock.now()
        try:
            async with asyncio.timeout(limits.load_seconds):
                key, patient = await self._lookup.find(patient_id)
                received = await self._received(key)
                await fetch_attachments(self._client, received.entries, limit=limits.attachments)
        except TimeoutError:
            raise RecordsUnavailableError("loading the record took too long") from None
        except RecordsUnreadableError as error:
            _log.warning("records_unreadable", patient=hashed(patient_id), reason=str(error))
            raise
        record = await asyncio.to_thread(self._record, patient_id, key, patient, received)
        self._loaded[patient_id] = (key, started)
        _log.info("records_loaded", patient=hashed(patient_id), resources=len(record.resources))
        for problem in record.left_out.unreadable[:_PROBLEMS_LOGGED]:
            _log.warning("records_skipped", patient=hashed(patient_id), problem=problem)
        return record

    def _record(
        self, patient_id: PatientId, key: str, patient: dict[str, Any], received: Received
    ) -> PatientRecord:
        entry = {"fullUrl": str(self._client.base_url / "Patient" / key), "resource": patient}
        return record_from_resources(
            patient_id,
            with_texts([*received.entries, entry], self._reader),
            patient_ref=f"Patient/{key}",
            truncated=received.truncated,
            not_offered=tuple(received.not_offered),
        ).prepared()

    async def _received(self, key: str) -> Received:
        if self._everything:
            search = PatientSearch(client=self._client, capability=Capability())
            received = await search.everything(key)
            if received is not None:
                return received
        return await (await self._search()).all_types(key)


def _size(record: PatientRecord) -> int:
    return len(record.resources) * _BYTES_PER_RESOURCE
