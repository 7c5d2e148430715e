"""The directory of the records that the settings name."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from data_models.clock import Clock
from data_models.errors import RecordsError, RecordsUnreadableError
from data_models.values import Newest
from services.basis import Basis
from services.identity.directory import Directory, DirectoryState, FileDirectory, Sought
from services.identity.linking import SubjectLinker
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person, id_among, person_from
from services.records.fhir.fhir_chosen import fhir_client_for
from services.records.fhir.fhir_client import FhirClient
from services.records.folder.records import FolderRecords
from services.records.local_resources import LocalResources
from services.records.records_factory import Records, Resources
from settings import Settings


def directory_for(
    basis: Basis, fits: Callable[[str], bool], patients: Records, resources: Resources
) -> Directory:
    """Return who the people are of the records that the settings name.

    Args:
        fits: Whether a text has the form of our ids.
        patients: The records themselves.
        resources: The same back end's, with whom the sample clinic registered.
    """
    systems, clock = basis.settings.identifier_systems, basis.clock
    if isinstance(patients, FolderRecords):
        return FileDirectory(
            records=patients,
            fits=fits,
            clock=clock,
            systems=systems,
            more=resources.list_registered if isinstance(resources, LocalResources) else None,
        )
    return ServerDirectory(client=fhir_client_for(basis), fits=fits, clock=clock, systems=systems)


def linker_for(
    settings: Settings, *, directory: Directory, fits: Callable[[str], bool]
) -> SubjectLinker:
    """Return what links messages to their subject."""
    return SubjectLinker(directory=directory, fits=fits, seconds=settings.directory_seconds)


KEPT_SECONDS = 60.0
KEPT_SEARCHES = 4_096
HITS = 20
SEARCHES_AT_ONCE = 8
_ELEMENTS = "id,identifier,name,birthDate,gender,active,link,contact,generalPractitioner"
_Query = tuple[tuple[str, str], ...]


@dataclass(kw_only=True, eq=False)
class ServerDirectory:
    """A `Directory` that asks a server for what one message may mean, and for nothing else.

    A chart opens by an identifier in use under `systems` (without any: under all) that has our
    form. A resource id opens nothing.
    """

    client: FhirClient
    fits: Callable[[str], bool]
    clock: Clock
    systems: tuple[str, ...] = ()
    state: DirectoryState = field(default="ok", init=False)

    def __post_init__(self) -> None:
        self._kept = Newest[_Query, tuple[float, Sequence[Person]]](limit=KEPT_SEARCHES)
        self._gate = asyncio.Semaphore(SEARCHES_AT_ONCE)

    async def people_for(self, sought: Sought) -> PersonIndex:
        queries = list(dict.fromkeys(self._queries(sought)))
        self.state = "slow"  # until they have answered: a caller may stop waiting
        try:
            found = await asyncio.gather(*(self._search(query) for query in queries))
        except RecordsError:
            self.state = "down"
            raise
        self.state = "ok"
        people = {one.key: one for people in found for one in people}
        people |= await self._survivors(people)
        return PersonIndex(people=people.values(), systems=self.systems)

    async def check(self) -> None:
        """See `Directory.check`: one search that finds nobody, past what is kept."""
        try:
            await self._ask((("identifier", "0"),))
        except RecordsError:
            self.state = "down"
            raise
        self.state = "ok"

    def _queries(self, sought: Sought) -> Iterable[_Query]:
        for number in dict.fromkeys([*sought.ids, *sought.numbers]):
            token = [f"{system}|{number}" for system in self.systems] or [number]
            yield (("identifier", ",".join(token)),)
        for name in sought.names:
            yield (("family", name.family), *((("given", name.given),) if name.given else ()))
        for day in sought.birth_dates:
            yield (("birthdate", day.isoformat()),)
        keys = list(sought.keys)
        for place in range(0, len(keys), HITS):
            yield (("_id", ",".join(keys[place : place + HITS])),)

    async def _survivors(self, people: Mapping[str, Person]) -> Mapping[str, Person]:
        """Return those whom merged charts point to; one that is gone costs itself."""
        wanted = {one.replaced_by for one in people.values() if one.replaced_by} - set(people)
        found: dict[str, Person] = {}
        for key in sorted(wanted)[:SEARCHES_AT_ONCE]:
            with suppress(RecordsError):
                found |= {one.key: one for one in await self._search((("_id", key),))}
        return found

    async def _search(self, query: _Query) -> Sequence[Person]:
        kept = self._kept.get(query)
        now = self.clock.monotonic()
        if kept is not None and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        async with self._gate:
            people = await self._ask(query)
        self._kept[query] = (now, people)
        return people

    async def _ask(self, query: _Query) -> Sequence[Person]:
        url = (self.client.base_url / "Patient").with_query(
            [*query, ("_elements", _ELEMENTS), ("_count", str(HITS))]
        )
        answer = await self.client.ask(url)
        if answer.status != 200:
            raise RecordsUnreadableError(f"the server answered a search with {answer.status}")
        rows = (answer.body or {}).get("entry", [])
        bodies = [row.get("resource") for row in rows if isinstance(row, dict)]
        people = [self._person(one) for one in bodies if isinstance(one, dict)]
        return [one for one in people if one is not None and _fits_query(one, query)]

    def _person(self, body: Mapping[str, Any]) -> Person | None:
        today = self.clock.now().date()
        draft = person_from(body, patient_id=None, today=today)
        if draft is None or not draft.key:
            return None
        opened_by = id_among(draft.numbers, systems=self.systems, fits=self.fits)
        return replace(draft, patient_id=opened_by)


def _fits_query(person: Person, query: _Query) -> bool:
    """Whether a hit carries the identifier or key that was searched for: some servers ignore it."""
    asked = dict(query)
    if "_id" in asked:
        return person.key in asked["_id"].split(",")
    if "identifier" not in asked:
        return True
    wanted = {each.rpartition("|")[2] for each in asked["identifier"].split(",")}
    return any(one.value in wanted for one in person.numbers)
