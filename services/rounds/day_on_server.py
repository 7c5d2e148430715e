"""Who is seen on a day, asked of a FHIR server: two searches, then the Patients by their keys."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from data_models.errors import RecordsUnreadableError, RoundsListError
from data_models.identifiers import PatientId
from services.identity.directory import Directory, Sought
from services.records.entry import Entry, many, one, text
from services.records.fhir_client import FhirAnswer, FhirClient
from services.rounds.visits import is_on

_KINDS = ("Encounter", "Appointment")
_PAGE = 200
_PAGES = 5
_NO_SEARCH = frozenset({400, 404, 405, 501})


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOnServer:
    """Finds patients by their visits and appointments."""

    client: FhirClient
    directory: Directory

    async def seen_on(self, day: date) -> list[PatientId]:
        """Return who has a visit or an appointment on `day`, by id; who has no id of ours is none.

        Raises:
            RoundsListError: more than a list could ever take, or the server searches neither.
            RecordsError: the server has no answer.
        """
        found = [await self._keys(kind, day) for kind in _KINDS]
        if all(one is None for one in found):
            raise RoundsListError(
                "These records cannot be searched by day. Please name the patients."
            )
        keys = sorted({key for each in found for key in each or ()})
        if not keys:
            return []
        people = (await self.directory.people_for(Sought(keys=keys))).people
        wanted = set(keys)
        return sorted(
            person.patient_id
            for person in people
            if person.patient_id and person.is_active and person.key in wanted
        )

    async def _keys(self, kind: str, day: date) -> set[str] | None:
        """Return the ids of Patients; None where the server does not search this type by date."""
        # A day wider at each end: the record's own offset decides which day it is.
        span = [("date", f"ge{day - timedelta(days=1)}"), ("date", f"le{day + timedelta(days=1)}")]
        url = (self.client.base_url / kind).with_query([*span, ("_count", str(_PAGE))])
        answer = await self.client.pages(url, pages=_PAGES)
        if isinstance(answer, FhirAnswer):
            if answer.status in _NO_SEARCH:
                return None
            raise RecordsUnreadableError(f"the server answered a search with {answer.status}")
        if answer.truncated:
            raise RoundsListError(
                "More visits are on that day than a list takes. Please name the patients."
            )
        rows = [entry.get("resource") for entry in answer.entries]
        return {
            key
            for row in rows
            if isinstance(row, dict) and row.get("resourceType") == kind
            if is_on(Entry(f"{kind}/{row.get('id')}", kind, row), day)
            for key in self._patients_of(row)
        }

    def _patients_of(self, row: Mapping[str, Any]) -> Iterator[str]:
        """Yield ids of Patients of this server; another server's `Patient/7` is somebody else."""
        own = f"{str(self.client.base_url).rstrip('/')}/"
        pointers = [one(row, "subject"), *(one(each, "actor") for each in many(row, "participant"))]
        for pointer in pointers:
            said = text(pointer, "reference").partition("/_history/")[0].removeprefix(own)
            kind, _, key = said.partition("/")
            if kind == "Patient" and key and "/" not in key:
                yield key
