"""Who is seen on a day: of a server by two searches, of a folder by its index or its charts."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import Any, Literal, Protocol, TypeAlias

from data_models.clock import Clock
from data_models.errors import (
    RecordAmbiguousError,
    RecordNotFoundError,
    RecordReplacedError,
    RecordsError,
    RecordsUnreadableError,
)
from data_models.identifiers import PatientId
from services.basis import Basis
from services.identity.directory import Directory, Sought
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person
from services.records.fhir.fhir_chosen import fhir_client_for
from services.records.fhir.fhir_client import FhirAnswer, FhirClient
from services.records.folder.index import FolderIndex, OwnedVisit
from services.records.folder.records import FolderRecords
from services.records.local_resources import LocalResources
from services.records.records_factory import Records, local_resources
from services.records.resources.canonical import is_replaced
from services.records.resources.entry import Entry, many, one, text
from services.records.resources.ports import EVERYTHING
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
    """Every visit and appointment of a day, or why nobody can list them: a part is no list.

    Attributes:
        unread: Whose charts cannot be read now, so that nobody can tell whether they were seen.
    """

    seen: Sequence[Seen] = ()
    state: DayState = "listed"
    unread: Sequence[Person] = ()


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
_LOADED_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOnServer:
    """Finds patients by their visits and appointments."""

    client: FhirClient
    directory: Directory

    async def visits_on(self, day: date, zone: tzinfo | None = None) -> DaySeen:
        found = [await self._visits(kind, day, zone) for kind in VISITS]
        if "too_many" in found:
            return DaySeen(state="too_many")
        listed = [one for one in found if not isinstance(one, str)]
        if not listed:
            return DaySeen(state="not_searchable")
        visits = [(key, entry) for each in listed for key, entry in each]
        if not (keys := sorted({key for key, _ in visits})):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DayInFolder:
    """A `VisitsByDay` by the folder's index, which opens no chart and knows no day that is over.

    For such a day the charts are read.
    """

    records: FolderRecords
    clinic: LocalResources
    directory: Directory
    clock: Clock

    async def visits_on(self, day: date, zone: tzinfo | None = None) -> DaySeen:
        people = await self.directory.people_for(Sought())
        booked = await self.clinic.search("Appointment", [])
        rows = [Entry(f"Appointment/{one.body['id']}", "Appointment", one.body) for one in booked]
        found, unread = list(_in_clinic(rows, people, day, zone)), list[Person]()
        if day < self.clock.now().date() - timedelta(days=1):
            for person, entries in await self._read_charts(people):
                found += [Seen(person, one) for one in entries or () if is_on(one, day, zone)]
                unread += [person] if entries is None else []
        else:
            found += _in_charts(await self.records.index(), people, day, zone)
        # A resource that stands in two files is one visit.
        once = {(each.patient_id, each.entry.ref): each for each in found}
        return DaySeen(tuple(once.values()), unread=unread)

    async def _read_charts(self, people: PersonIndex) -> list[tuple[Person, list[Entry] | None]]:
        free = asyncio.Semaphore(_LOADED_AT_ONCE)
        known = [(one, one.patient_id) for one in people.people if one.patient_id is not None]
        found = await asyncio.gather(*(self._read_chart(each, free) for _, each in known))
        return [(person, entries) for (person, _), entries in zip(known, found, strict=True)]

    async def _read_chart(
        self, patient_id: PatientId, free: asyncio.Semaphore
    ) -> list[Entry] | None:
        """Return the visits of a chart; None where it cannot be read now."""
        async with free:
            try:
                record = await self.records.load(patient_id, EVERYTHING)
            except (RecordAmbiguousError, RecordNotFoundError, RecordReplacedError):
                return []
            except RecordsError:
                return None
        return list(record.entries_of(*VISITS))


def _in_charts(
    index: FolderIndex, people: PersonIndex, day: date, zone: tzinfo | None
) -> Iterator[Seen]:
    on_day: dict[object, list[OwnedVisit]] = {}
    for path, facts in index.facts.items():
        if visits := [each for each in facts.visits if is_on(each.entry, day, zone)]:
            on_day[path] = visits
    for chart in index.charts.values():
        person = people.with_id(chart.patient_id)
        if person is None or chart.is_ambiguous or is_replaced(chart.body):
            continue
        for path in chart.files:
            for each in on_day.get(path, ()):
                if each.owners & chart.names:
                    yield Seen(person, each.entry)


def _in_clinic(
    rows: list[Entry], people: PersonIndex, day: date, zone: tzinfo | None
) -> Iterator[Seen]:
    by_key: dict[str, list[Person]] = {}
    for person in people.people:
        by_key.setdefault(f"Patient/{person.key}", []).append(person)
    for row in rows:
        if not is_on(row, day, zone):
            continue
        for each in many(row.raw, "participant"):
            named = by_key.get(text(one(each, "actor"), "reference"), [])
            # A reference that means two people is nobody's.
            if len(named) == 1 and named[0].patient_id is not None:
                yield Seen(named[0], row)


def visits_by_day_for(basis: Basis, *, records: Records, directory: Directory) -> VisitsByDay:
    """Return what knows who is seen on a day."""
    if isinstance(records, FolderRecords):
        clinic = local_resources(basis, patients=records)
        return DayInFolder(records=records, clinic=clinic, directory=directory, clock=basis.clock)
    return DayOnServer(client=fhir_client_for(basis), directory=directory)
