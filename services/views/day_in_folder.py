"""Who is seen on a day, from the index of a folder and the sample clinic beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, tzinfo

from services.identity.directory import Directory, Sought
from services.identity.index import PersonIndex
from services.identity.person import Person
from services.records.canonical import is_replaced
from services.records.entry import Entry, many, one, text
from services.records.folder.index import FolderIndex, OwnedVisit
from services.records.folder.records import FolderRecords
from services.records.local_resources import LocalResources
from services.records.visits import is_on
from services.views.day_seen import DaySeen, Seen


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
