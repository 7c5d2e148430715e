"""Who is seen on a day, asked of a FHIR server: two searches, then the Patients by their keys."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import Any, Literal, Protocol, TypeAlias

from data_models.errors import RecordsUnreadableError, RoundsListError
from data_models.identifiers import PatientId
from services.identity.directory import Directory, Sought
from services.identity.person import Person
from services.records.entry import Entry, many, one, text
from services.records.fhir_client import FhirAnswer, FhirClient
from services.records.visits import VISITS, is_on

# Who is seen on a day, whatever the records are.

DayState: TypeAlias = Literal["listed", "not_searchable", "too_many"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A patient with a visit or an appointment."""

    person: Person
    entry: Entry

    @property
    def patient_id(self) -> PatientId:
        """Whose chart it is; a person without one is not seen."""
        return PatientId(self.person.patient_id or "")


@dataclass(frozen=True, slots=True)
class DaySeen:
    """Every visit and appointment of a day, or why nobody can list them: a part is no list."""

    seen: Sequence[Seen] = ()
    state: DayState = "listed"


class VisitsByDay(Protocol):
    """Records that can be asked for a day."""

    async def visits_on(self, day: date, zone: tzinfo | None = None) -> DaySeen:
        """Return who has a visit or an appointment on `day`, or has a visit that goes on then.

        Args:
            zone: Whose day it is; None: each moment's own offset decides.

        Raises:
            RecordsError: they have no answer.
        """
        ...


_PAGE = 200
_PAGES = 5
_NO_SEARCH = frozenset({400, 404, 405, 501})
_REFUSALS = {
    "not_searchable": "These records cannot be searched by day. Please name the patients.",
    "too_many": "More visits are on that day than a list takes. Please name the patients.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOnServer:
    """Finds patients by their visits and appointments."""

    client: FhirClient
    directory: Directory

    async def find_seen_on(self, day: date) -> list[PatientId]:
        """Return who has a visit or an appointment on `day`, by id; who has no id of ours is none.

        Raises:
            RoundsListError: more than a list could ever take, or the server searches neither.
            RecordsError: the server has no answer.
        """
        found = await self.visits_on(day)
        if found.state != "listed":
            raise RoundsListError(_REFUSALS[found.state])
        return sorted({one.patient_id for one in found.seen})

    async def visits_on(self, day: date, zone: tzinfo | None = None) -> DaySeen:
        found = [await self._visits(kind, day, zone) for kind in VISITS]
        if "too_many" in found:
            return DaySeen(state="too_many")
        listed = [one for one in found if not isinstance(one, str)]
        if not listed:
            return DaySeen(state="not_searchable")
        visits = [(key, entry) for each in listed for key, entry in each]
        keys = sorted({key for key, _ in visits})
        if not keys:
            return DaySeen()
        people = (await self.directory.people_for(Sought(keys=keys))).people
        known = {one.key: one for one in people if one.patient_id and one.is_active}
        return DaySeen(tuple(Seen(known[key], each) for key, each in visits if key in known))

    async def _visits(
        self, kind: str, day: date, zone: tzinfo | None
    ) -> list[tuple[str, Entry]] | Literal["not_searchable", "too_many"]:
        """Return the visits with the ids of their Patients."""
        # A day wider at each end: the record's own offset, or the zone, decides which day it is.
        span = [("date", f"ge{day - timedelta(days=1)}"), ("date", f"le{day + timedelta(days=1)}")]
        url = (self.client.base_url / kind).with_query([*span, ("_count", str(_PAGE))])
        answer = await self.client.pages(url, pages=_PAGES)
        if isinstance(answer, FhirAnswer):
            if answer.status in _NO_SEARCH:
                return "not_searchable"
            raise RecordsUnreadableError(f"the server answered a search with {answer.status}")
        if answer.truncated:
            return "too_many"
        rows = [entry.get("resource") for entry in answer.entries]
        visits = [
            Entry(f"{kind}/{row.get('id')}", kind, row)
            for row in rows
            if isinstance(row, dict) and row.get("resourceType") == kind
        ]
        on_day = [one for one in visits if is_on(one, day, zone)]
        return [(key, one) for one in on_day for key in self._patients_of(one.raw)]

    def _patients_of(self, row: Mapping[str, Any]) -> Iterator[str]:
        """Yield ids of Patients of this server; another server's `Patient/7` is somebody else."""
        own = f"{str(self.client.base_url).rstrip('/')}/"
        pointers = [one(row, "subject"), *(one(each, "actor") for each in many(row, "participant"))]
        for pointer in pointers:
            said = text(pointer, "reference").partition("/_history/")[0].removeprefix(own)
            kind, _, key = said.partition("/")
            if kind == "Patient" and key and "/" not in key:
                yield key
