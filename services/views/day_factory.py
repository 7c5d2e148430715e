"""Who is seen on a day, by the records that the settings name."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, tzinfo

import aiohttp

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from services.identity.directory import Directory, Sought
from services.identity.index import PersonIndex
from services.identity.person import Person
from services.records.canonical import is_replaced
from services.records.entry import Entry, many, one, text
from services.records.fhir_chosen import fhir_client_for
from services.records.folder.index import FolderIndex, OwnedVisit
from services.records.folder.records import FolderRecords
from services.records.local_resources import LocalResources
from services.records.records_factory import Records, local_resources
from services.records.visits import is_on
from services.views.day_on_server import DayOnServer, DaySeen, Seen, VisitsByDay
from settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class DayInFolder:
    """A `VisitsByDay` that opens no chart: the folder's index knows who is seen from now on."""

    records: FolderRecords
    clinic: LocalResources
    directory: Directory

    async def visits_on(self, day: date, zone: tzinfo | None = None) -> DaySeen:
        """See `VisitsByDay.visits_on`; days before the folder was read are not known."""
        index = await self.records.index()
        people = await self.directory.people_for(Sought())
        booked = await self.clinic.search("Appointment", [])
        rows = [Entry(f"Appointment/{one.body['id']}", "Appointment", one.body) for one in booked]
        found = [*_in_charts(index, people, day, zone), *_in_clinic(rows, people, day, zone)]
        # A resource that stands in two files is one visit.
        once = {(each.patient_id, each.entry.ref): each for each in found}
        return DaySeen(tuple(once.values()))


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


def visits_by_day_for(
    settings: Settings,
    *,
    records: Records,
    directory: Directory,
    store: BlobStore,
    session: aiohttp.ClientSession,
    clock: Clock,
) -> VisitsByDay:
    """Return what knows who is seen on a day.

    Args:
        store: Where the sample clinic keeps what is booked.
    """
    if isinstance(records, FolderRecords):
        clinic = local_resources(settings, patients=records, store=store, clock=clock)
        return DayInFolder(records=records, clinic=clinic, directory=directory)
    return _on_server(settings, directory, session, clock)


def day_on_server_for(
    settings: Settings, directory: Directory, session: aiohttp.ClientSession, clock: Clock
) -> DayOnServer | None:
    """Return who is seen on a day by the FHIR server of the settings; None where there is none."""
    if settings.fhir_base_url is None:
        return None
    return _on_server(settings, directory, session, clock)


def _on_server(
    settings: Settings, directory: Directory, session: aiohttp.ClientSession, clock: Clock
) -> DayOnServer:
    client = fhir_client_for(settings, session=session, clock=clock)
    return DayOnServer(client=client, directory=directory)
