"""Patient records from a folder of FHIR bundles, one file per patient."""

import asyncio
from pathlib import Path
from typing import Any

import structlog
from pydantic_core import from_json

from data_models.clock import Clock
from data_models.errors import (
    InvalidIdentifierError,
    RecordNotFoundError,
    RecordsUnavailableError,
    RecordsUnreadableError,
)
from data_models.identifiers import PatientId, hashed, storable_patient_id
from services.records.record import PatientRecord, record_from_resources
from services.records.record_cache import RecordCache

FILE_LIMIT_BYTES = 50_000_000

_log = structlog.get_logger()


class BundleRecords:
    """A `PatientRecords` over `{folder}/{patient_id}.json`.

    A file is parsed once and kept until it is among the least recently used; a changed file is
    seen after `cache_seconds`.
    """

    def __init__(
        self, *, folder: Path, clock: Clock, cache_records: int = 64, cache_seconds: float = 300
    ) -> None:
        self._folder = folder
        self._cache = RecordCache(clock=clock, limit=cache_records, seconds=cache_seconds)

    async def load(self, patient_id: PatientId) -> PatientRecord:
        """See `PatientRecords.load`."""
        return await self._cache.get(patient_id, self._read)

    async def _read(self, patient_id: PatientId) -> PatientRecord:
        record = await asyncio.to_thread(_record_in, self._folder, patient_id)
        _log.info("records_loaded", patient=hashed(patient_id), resources=len(record.resources))
        return record


def _record_in(folder: Path, patient_id: PatientId) -> PatientRecord:
    try:
        path = folder / f"{storable_patient_id(patient_id)}.json"
    except InvalidIdentifierError:
        raise RecordNotFoundError from None
    try:
        if path.stat().st_size > FILE_LIMIT_BYTES:
            raise RecordsUnreadableError(f"the bundle is over {FILE_LIMIT_BYTES} bytes")
        data = path.read_bytes()
    except FileNotFoundError:
        if not folder.is_dir():  # then nothing is known of any patient
            raise RecordsUnavailableError("the folder of the bundles is gone") from None
        raise RecordNotFoundError from None
    except OSError as error:
        raise RecordsUnavailableError("the bundle could not be read") from error
    record = record_from_resources(patient_id, entries_of(data))
    if patient_id not in {identifier.value for identifier in record.patient.identifier}:
        raise RecordsUnreadableError("the bundle's Patient does not carry the id of its file")
    return record.prepared()


def entries_of(data: bytes) -> list[dict[str, Any]]:
    """Return the entries of a Bundle.

    Raises:
        RecordsUnreadableError: `data` is not a FHIR Bundle in JSON.
    """
    try:
        bundle = from_json(data, allow_inf_nan=False)
    except ValueError:
        # Not `from error`: the parser's message may quote the record.
        raise RecordsUnreadableError("the bundle is not JSON") from None
    return bundle_entries(bundle)


def bundle_entries(bundle: Any) -> list[dict[str, Any]]:
    """Return the entries of parsed JSON that should be a Bundle.

    Raises:
        RecordsUnreadableError: it is not one.
    """
    if not isinstance(bundle, dict) or bundle.get("resourceType") != "Bundle":
        raise RecordsUnreadableError("the answer is not a FHIR Bundle")
    entries = bundle.get("entry", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RecordsUnreadableError("the Bundle's entries are not a list of objects")
    return entries
