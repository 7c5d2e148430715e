"""Finds the Patient resource of a patient id on a FHIR server."""

import re
from datetime import date
from typing import Any

from data_models import errors
from data_models.clock import Clock
from data_models.identifiers import PatientId
from services.records.fhir.fhir_client import FhirAnswer, FhirClient, bundle_entries
from services.records.resources.canonical import identifiers_of, is_replaced, is_retired

_FHIR_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")


class PatientLookup:
    """By identifier in `system`; where none is given, by any identifier, else by resource id.

    A number that people type is never tried as a resource id where `system` is given: servers
    count resources, so a mistyped record number would open a stranger's chart.
    """

    def __init__(self, *, client: FhirClient, system: str | None, clock: Clock) -> None:
        self._client = client
        self._system = system
        self._clock = clock

    async def find(self, patient_id: PatientId) -> tuple[str, dict[str, Any]]:
        """Return the FHIR id and the Patient; what the server sends is checked to be the one.

        Raises:
            RecordNotFoundError: no patient carries the id.
            RecordAmbiguousError: more than one does.
            RecordReplacedError: who carried it was merged into another.
            RecordsError: as `FhirClient.ask`.
        """
        token = f"{self._system}|{patient_id}" if self._system else patient_id
        url = (self._client.base_url / "Patient").with_query(identifier=token, _count=10)
        answer = await self._client.ask(url)
        if answer.status != 200:
            raise unexpected(answer)
        rows = [entry.get("resource") for entry in bundle_entries(answer.body)]
        today = self._clock.now().date()
        found = [row for row in rows if _carries(row, self._system, patient_id, today)]
        if not found and self._system is None:
            return await self._read(patient_id)
        if not found:
            raise errors.RecordNotFoundError
        if all(is_replaced(row or {}) for row in found):
            raise errors.RecordReplacedError
        found = [row for row in found if not is_replaced(row or {})]
        keys = {str(row["id"]) for row in found if isinstance(row, dict)}
        if len(keys) > 1:
            raise errors.RecordAmbiguousError
        (key,) = keys
        if not is_fhir_id(key):
            raise errors.RecordsUnreadableError("the server's Patient has no usable id")
        return key, dict(found[0] or {})

    async def _read(self, patient_id: PatientId) -> tuple[str, dict[str, Any]]:
        if not is_fhir_id(patient_id):
            raise errors.RecordNotFoundError
        answer = await self._client.ask(self._client.base_url / "Patient" / patient_id)
        if answer.status in (404, 410):
            raise errors.RecordNotFoundError
        body = answer.body or {}
        if answer.status != 200:
            raise unexpected(answer)
        if body.get("resourceType") != "Patient" or body.get("id") != patient_id:
            raise errors.RecordsUnreadableError("the server answered with another resource")
        if is_replaced(body):
            raise errors.RecordReplacedError
        return patient_id, body


def is_fhir_id(text: str) -> bool:
    """Tell whether `text` may stand in a URL as the id of a resource."""
    return _FHIR_ID.fullmatch(text) is not None and bool(text.strip("."))


def unexpected(answer: FhirAnswer) -> errors.RecordsUnreadableError:
    """Return the error of an answer that no rule of ours expects: codes, never texts."""
    codes = ",".join(answer.issue_codes()) or "no code"
    return errors.RecordsUnreadableError(f"the records server answered {answer.status} ({codes})")


def _carries(row: object, system: str | None, patient_id: PatientId, today: date) -> bool:
    """Return whether `row` is a Patient whose identifier it is: some servers ignore a search."""
    if not isinstance(row, dict) or row.get("resourceType") != "Patient" or "id" not in row:
        return False
    return any(
        item["value"] == patient_id
        and system in (None, item.get("system"))
        and not is_retired(item, today)
        for item in identifiers_of(row)
    )
