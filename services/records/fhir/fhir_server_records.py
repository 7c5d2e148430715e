"""Patient records from a FHIR R4 server."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import structlog
from yarl import URL

from data_models.clock import Clock
from data_models.errors import RecordsUnavailableError, RecordsUnreadableError
from data_models.identifiers import PatientId, hashed
from services.records.fhir import fhir_search
from services.records.fhir.fhir_chart import Parts, ServerChart
from services.records.fhir.fhir_client import FhirAnswer, FhirClient
from services.records.fhir.patient_lookup import PatientLookup
from services.records.fhir.reading import ChartReader, ReaderOf
from services.records.readers.attachments import with_texts
from services.records.readers.reading import DocumentReader
from services.records.resources.canonical import canonical_id
from services.records.resources.entry import many
from services.records.resources.ports import EVERYTHING, AllPatients, ChartPatient, Need
from services.records.resources.record import PatientRecord, record_from_resources

# Texts that a FHIR server keeps outside their documents, as Binary resources.

_AT_ONCE = 4


async def fetch_attachments(
    client: FhirClient, entries: list[dict[str, Any]], *, limit: int
) -> None:
    """Put the text of up to `limit` attachments into `entries`, where the server keeps it.

    What is absent, elsewhere or over the limit stays as it is: its document then says that the
    text was not fetched.

    Raises:
        RecordsError: the server failed or refused.
    """
    turns = asyncio.Semaphore(_AT_ONCE)
    wanted = [found for entry in entries for found in _kept_elsewhere(client, entry)]

    async def fetch(attachment: dict[str, Any], url: URL) -> None:
        async with turns:
            answer = await client.ask(url)
        body = (answer.body or {}) if answer.status == 200 else {}
        if isinstance(body.get("data"), str):
            attachment["data"] = body["data"]
            attachment.setdefault("contentType", body.get("contentType"))

    await fhir_search.gather(fetch(attachment, url) for attachment, url in wanted[:limit])


def _kept_elsewhere(
    client: FhirClient, entry: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], URL]]:
    for attachment in _attachments(entry.get("resource")):
        address = attachment.get("url")
        if isinstance(address, str) and "data" not in attachment and _may_be_read(attachment):
            url = _under(client.base_url, address)
            if url is not None and client.serves(url):
                yield attachment, url


def _attachments(resource: object) -> Iterator[dict[str, Any]]:
    if not isinstance(resource, dict):
        return
    rows = [content.get("attachment") for content in many(resource, "content")]
    for row in (*rows, *many(resource, "presentedForm")):
        if isinstance(row, dict):
            yield row


def _may_be_read(attachment: dict[str, Any]) -> bool:
    """Tell whether a text may be in it: pictures, sounds and films are not fetched."""
    kind = str(attachment.get("contentType", "text/plain")).lower()
    return not kind.startswith(("image/", "audio/", "video/"))


def _under(base: URL, address: str) -> URL | None:
    try:
        return URL(f"{base}/").join(URL(address))
    except ValueError:
        return None


_IDENTITY = "identifier,name,birthDate,gender,active,link,deceased"
KEPT_RESOURCES = 33_000
"""Some 400 MB."""
_Key: TypeAlias = tuple[str, PatientId]
"""Who reads whom."""
_log = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class FhirServerRecords:
    """A `PatientRecords` over one FHIR server.

    A patient is found by identifier in `identifier_system`; where none is given, by any, else by
    resource id. After `cache_seconds` the server is asked for what was written since.
    Charts are kept by reader while there is room, the least recently used let go.

    Attributes:
        everything: Load by `$everything` where the server offers it.
        reader_of: Who reads a chart where users do with their own tokens; None: `client` does.
    """

    client: FhirClient
    clock: Clock
    identifier_system: str | None = None
    cache_seconds: float = 60
    kept_resources: int = KEPT_RESOURCES
    fits: Callable[[str], bool] = lambda _: False
    everything: bool = False
    document_reader: DocumentReader = field(default_factory=DocumentReader)
    reader_of: ReaderOf | None = None

    def __post_init__(self) -> None:
        self._fresh = timedelta(seconds=self.cache_seconds)
        self._systems = (self.identifier_system,) if self.identifier_system else ()
        self._capability: fhir_search.Capability | None = None
        self._capability_lock = asyncio.Lock()
        self._charts: OrderedDict[_Key, ServerChart] = OrderedDict()
        self._locks: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        """See `PatientRecords.load`; what is not needed is not fetched."""
        limits = self.client.limits
        try:
            async with asyncio.timeout(limits.load_seconds):
                reader = await (self.reader_of or self._read_itself)(patient_id)
                chart = await self._chart(patient_id, reader)
                found = await self._find(chart, need, reader.client)
        except TimeoutError:
            raise RecordsUnavailableError("loading the record took too long") from None
        except RecordsUnreadableError as error:
            _log.warning("records_unreadable", patient=hashed(patient_id), reason=str(error))
            raise
        key = (found.key, need.has_texts, need.document, need.asides)
        async with chart.making:
            if (kept := chart.records.get(key)) is None:
                kept = await asyncio.to_thread(self._record, patient_id, chart, found, need)
                chart.keep(key, kept)
            return kept

    async def _read_itself(self, _: PatientId) -> ChartReader:
        return ChartReader(name="", client=self.client)

    async def _chart(self, patient_id: PatientId, reader: ChartReader) -> ServerChart:
        """Return the chart; who carries the id is asked again when that is old."""
        of = (reader.name, patient_id)
        async with self._locks.setdefault(of, asyncio.Lock()):
            held, now = self._charts.get(of), self.clock.now()
            if held is None or now - held.looked_at > self._fresh:
                key, patient = await PatientLookup(
                    client=reader.client, system=self.identifier_system, clock=self.clock
                ).find(patient_id)
                if held is None or held.key != key or held.is_over() or held.patient != patient:
                    held = ServerChart(
                        search=await self._first_search(reader.client), clock=self.clock, key=key,
                        patient=patient, fresh=self._fresh, looked_at=now, born=now,
                    )  # fmt: skip
                held.looked_at = now
            self._keep(of, held)
            return held

    async def _find(self, chart: ServerChart, need: Need, client: FhirClient) -> Parts:
        found = await chart.all_of() if self.everything else None
        if found is None:
            if self.everything:
                chart.search = await self._search(client)
            found = await chart.read(need)
        if need.has_texts:
            # One that was asked for by name comes before the limit of the others.
            wanted = [
                entry
                for entry in found.entries
                if fhir_search.ref_of(entry) not in chart.tried
                and need.document in ("", fhir_search.ref_of(entry))
            ]
            await fetch_attachments(client, wanted, limit=client.limits.attachments)
            chart.tried.update(map(fhir_search.ref_of, wanted))
        return found

    def _keep(self, of: _Key, chart: ServerChart) -> None:
        self._charts[of] = chart
        self._charts.move_to_end(of)
        while len(self._charts) > 1 and (
            sum(held.count() for held in self._charts.values()) > self.kept_resources
        ):
            self._charts.popitem(last=False)

    async def _first_search(self, client: FhirClient) -> fhir_search.PatientSearch:
        # What a server says that it can do is not asked for where all comes at once.
        if self.everything:
            return fhir_search.PatientSearch(client=client, capability=fhir_search.Capability())
        return await self._search(client)

    async def _search(self, client: FhirClient) -> fhir_search.PatientSearch:
        async with self._capability_lock:
            if self._capability is None:
                self._capability = await fhir_search.capability_of(client)
        return fhir_search.PatientSearch(client=client, capability=self._capability)

    async def all_patients(self) -> AllPatients:
        """Return the Patient resources of all charts, as they were some seconds ago at most.

        One that breaks R4's shapes is among them, as received.

        Raises:
            RecordsError: as `PatientRecords.load`.
        """
        query = {"_elements": _IDENTITY, "_count": str(fhir_search.PAGE_ENTRIES)}
        found = await self.client.pages((self.client.base_url / "Patient").with_query(query))
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
        self.document_reader.close()

    def _canonical(self, body: Mapping[str, Any]) -> PatientId | None:
        today = self.clock.now().date()
        return canonical_id(body, systems=self._systems, fits=self.fits, today=today)

    def _record(
        self, patient_id: PatientId, chart: ServerChart, found: Parts, need: Need
    ) -> PatientRecord:
        address = str(self.client.base_url / "Patient" / chart.key)
        entries = [*found.entries, {"fullUrl": address, "resource": dict(chart.patient)}]
        texts: Sequence[Mapping[str, Any]] = entries
        if need.has_texts:
            texts = with_texts(entries, self.document_reader, only=need.document)
        record = record_from_resources(
            patient_id,
            texts,
            patient_ref=f"Patient/{chart.key}",
            truncated=found.is_truncated,
            narrowed=found.is_narrowed,
            not_offered=tuple(kind for kind in found.not_offered if kind not in need.asides),
        ).prepared()
        _log.info("records_loaded", patient=hashed(patient_id), resources=len(record.entries))
        if problems := record.left_out.unreadable:
            kinds = sorted({one.partition("/")[0] for one in problems})
            count = len(problems)
            _log.warning("records_skipped", patient=hashed(patient_id), count=count, kind=kinds)
        return record
