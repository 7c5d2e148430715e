"""Patient records from a folder of files."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import structlog

from data_models import errors
from data_models.clock import Clock
from data_models.identifiers import PatientId, hashed
from services.records.big_charts import prepare_later, without_collecting
from services.records.folder.chart import gathered, groups_of
from services.records.folder.files import Stamp, files_in
from services.records.folder.index import Chart, FileFacts, FolderIndex, facts_of, index_of
from services.records.readers.attachments import with_texts
from services.records.readers.reading import DocumentReader
from services.records.resources.canonical import canonical_id, is_replaced
from services.records.resources.ports import EVERYTHING, AllPatients, Need
from services.records.resources.record import PatientRecord, record_from_resources

# A small cache of loaded records, so that the tools of one turn read a record once.


@dataclass(frozen=True, slots=True)
class _Kept:
    version: Hashable
    bytes_: int
    record: PatientRecord


class RecordCache:
    """Keeps the most recently used records, `limit_bytes` together.

    Failures are not kept. The last one is kept whatever its size, or no turn could work on it.
    """

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[PatientId, _Kept] = OrderedDict()
        self._locks: WeakValueDictionary[PatientId, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self,
        patient_id: PatientId,
        load: Callable[[PatientId], Awaitable[PatientRecord]],
        *,
        version: Hashable = None,
        size: Callable[[PatientRecord], int],
    ) -> PatientRecord:
        """Return the record kept in this `version`, else load it; callers wait for one load.

        Args:
            size: About how many bytes of memory a record takes.
        """
        lock = self._locks.setdefault(patient_id, asyncio.Lock())
        async with lock:
            kept = self._kept.get(patient_id)
            if kept is None or kept.version != version:
                record = await load(patient_id)
                kept = _Kept(version, size(record), record)
            self._kept[patient_id] = kept
            self._kept.move_to_end(patient_id)
            total = sum(each.bytes_ for each in self._kept.values())
            while total > self._limit_bytes and len(self._kept) > 1:
                total -= self._kept.popitem(last=False)[1].bytes_
            return kept.record


LOOK_AGAIN_SECONDS = 2.0
KEPT_BYTES = 400_000_000
_BYTES_PER_FILE_BYTE = 12
"""What a chart takes in memory, against its files unpacked; gzip packs to about a tenth."""
_GZIP = 10
_BIG_BYTES = 10_000_000
CHECK = "services.records"
"""The command that names each file, resource and element: a log may not, files carry names."""

_log = structlog.get_logger()


class FolderRecords:
    """A `PatientRecords` over files with any names.

    The folder is read whole once and watched: at most every two seconds, when somebody asks, files
    that changed are read again. Loaded charts are kept, the least recently used let go.

    Args:
        systems: Systems of identifiers whose values are the ids of charts, the first one first.
        fits: Whether a text is an id after `PATIENT_ID_PATTERN`.
        prepare: Makes what views of a big chart keep, in a thread, behind the first answer.
    """

    def __init__(
        self,
        *,
        folder: Path,
        clock: Clock,
        systems: Sequence[str] = (),
        fits: Callable[[str], bool] = lambda _: False,
        kept_bytes: int = KEPT_BYTES,
        reader: DocumentReader | None = None,
        prepare: Callable[[PatientRecord], object] = PatientRecord.prepared,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._systems = tuple(systems)
        self._fits = fits
        self._index: FolderIndex | None = None
        self._looked_at = float("-inf")
        self._looking = threading.Lock()
        self._asking = asyncio.Lock()
        self.document_reader = reader or DocumentReader()
        self._prepare = prepare
        self._preparing: set[asyncio.Task[None]] = set()
        self._cache = RecordCache(limit_bytes=kept_bytes)
        self._groups: tuple[FolderIndex | None, Sequence[Mapping[str, Any]]] = (None, ())

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        """See `PatientRecords.load`; files are read whole."""
        index = await self.index()
        chart = index.charts.get(patient_id)
        if chart is None and index.hiding:
            raise errors.RecordMayBeDamagedError(f"{len(index.hiding)} files may hide a patient")
        if chart is None:
            raise errors.RecordNotFoundError
        if chart.is_ambiguous:
            _log.warning("records_ambiguous", patient=hashed(patient_id))
            raise errors.RecordAmbiguousError
        if is_replaced(chart.body):
            raise errors.RecordReplacedError
        return await self._cache.get(
            patient_id, lambda _: self._read_chart(index, chart),
            version=tuple(chart.files.items()), size=lambda _: _size(chart),
        )  # fmt: skip

    async def _read_chart(self, index: FolderIndex, chart: Chart) -> PatientRecord:
        if _size(chart) < _BIG_BYTES:
            record = await asyncio.to_thread(_record, index, chart, self.document_reader)
            return await asyncio.to_thread(record.prepared)
        record = await asyncio.to_thread(
            without_collecting()(_record), index, chart, self.document_reader
        )
        # The first answer need not wait for what only searches need.
        task = asyncio.create_task(prepare_later(record, views=self._prepare))
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)
        return record

    async def index(self) -> FolderIndex:
        """Return who the patients are now.

        Raises:
            RecordsUnavailableError: the folder cannot be read.
        """
        if self._index is not None and not self._is_old():
            return self._index
        async with self._asking:  # in the order in which they asked
            return await asyncio.to_thread(self.look)

    async def all_patients(self) -> AllPatients:
        """Return the Patient resources of all charts, as they were some seconds ago at most.

        One that breaks R4's shapes is among them, as received.

        Raises:
            RecordsError: as `PatientRecords.load`.
        """
        index = await self.index()
        return AllPatients(index.everybody, is_complete=not index.hiding)

    async def groups_and_names(
        self, patient_id: PatientId
    ) -> tuple[Sequence[Mapping[str, Any]], frozenset[str]]:
        """Return the folder's Groups, and the references by which they may name the patient.

        Raises:
            RecordsUnavailableError: the folder cannot be read.
        """
        index = await self.index()
        chart = index.charts.get(patient_id)
        if self._groups[0] is not index:
            self._groups = (index, await asyncio.to_thread(groups_of, index))
        return self._groups[1], frozenset() if chart is None else chart.names

    def named(self, token: str) -> PatientId | None:
        """Return the chart that an identifier or a resource id leads to, as last looked at."""
        return None if self._index is None else self._index.ids.get(token.lower())

    def start(self) -> None:
        """Read the folder before the first turn needs it; what fails is told in the log.

        Blocking.
        """
        try:
            self.look()
        except errors.RecordsUnavailableError as error:
            _log.warning("records_unavailable", reason=str(error))

    def close(self) -> None:
        """End the processes that read documents."""
        self.document_reader.close()

    def look(self) -> FolderIndex:
        """Read what changed. Blocking; callers at the same time wait for one reading."""
        with self._looking:
            if self._index is None or self._is_old():
                self._index = self._read()
                self._looked_at = self._clock.monotonic()
            return self._index

    def _is_old(self) -> bool:
        return self._clock.monotonic() - self._looked_at >= LOOK_AGAIN_SECONDS

    def _read(self) -> FolderIndex:
        try:
            stamps = files_in(self._folder)
        except OSError as error:
            raise errors.RecordsUnavailableError(
                "the folder of the records cannot be read"
            ) from error
        kept = self._index
        before = {} if kept is None else kept.facts
        if kept is not None and {path: one.stamp for path, one in before.items()} == stamps:
            return kept
        facts = {path: self._facts(path, stamp, before) for path, stamp in stamps.items()}
        found = index_of(facts, canonical=self._canonical, today=self._clock.now().date())
        _log.info("records_found", files=len(found.facts), patients=len(found.charts))
        if count := len(found.problems):
            _log.warning("records_skipped", count=count, tool=CHECK)
        return found

    def _canonical(self, body: Mapping[str, Any]) -> PatientId | None:
        today = self._clock.now().date()
        return canonical_id(body, systems=self._systems, fits=self._fits, today=today)

    def _facts(self, path: Path, stamp: Stamp, before: Mapping[Path, FileFacts]) -> FileFacts:
        kept = before.get(path)
        if kept is not None and kept.stamp == stamp:
            return kept
        name, today = str(path.relative_to(self._folder)), self._clock.now().date()
        return facts_of(path, name=name, stamp=stamp, today=today)


def _record(index: FolderIndex, chart: Chart, reader: DocumentReader) -> PatientRecord:
    found = gathered(index, chart)
    try:
        record = record_from_resources(
            chart.patient_id, with_texts(found.entries, reader), patient_ref=chart.ref,
            damaged=tuple(map(str, found.problems)),
        )  # fmt: skip
    except errors.RecordsUnreadableError:
        _log.warning("records_unreadable", patient=hashed(chart.patient_id), tool=CHECK)
        raise
    patient = hashed(chart.patient_id)
    _log.info("records_loaded", patient=patient, resources=len(record.entries))
    if count := len(record.left_out.unreadable):
        _log.warning("records_skipped", patient=patient, count=count, tool=CHECK)
    return record


def _size(chart: Chart) -> int:
    return sum(
        size * _BYTES_PER_FILE_BYTE * (_GZIP if path.name.endswith(".gz") else 1)
        for path, (_, size) in chart.files.items()
    )
