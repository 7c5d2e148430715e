"""Who somebody is, for the records in use (spec page 10.1)."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal, Protocol

from data_models.clock import Clock
from data_models.errors import RecordsError
from data_models.identifiers import PatientId
from services.identity.names.index import PersonIndex
from services.identity.names.person import id_among, person_from
from services.records.records_factory import Records
from services.records.resources.ports import ChartPatient

DirectoryState = Literal["ok", "slow", "down"]


@dataclass(frozen=True, slots=True)
class NameSought:
    """A name to look for on a server; an empty `given` looks for the family name alone."""

    family: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class Sought:
    """What of a message is to be looked up.

    Attributes:
        ids: Patients whom the conversation knows.
        numbers: Tokens that may be identifiers.
        names: Full names, or family names with a title or a possessive.
        birth_dates: Days that the message calls birth dates, or that stand beside a name.
        keys: Ids of Patient resources, of the server that is asked itself.
    """

    ids: Collection[PatientId] = ()
    numbers: Collection[str] = ()
    names: Collection[NameSought] = ()
    birth_dates: Collection[date] = ()
    keys: Collection[str] = ()


class Directory(Protocol):
    """Knows the people of the records."""

    @property
    def state(self) -> DirectoryState:
        """How it answered last."""
        ...

    async def people_for(self, sought: Sought) -> PersonIndex:
        """Return an index that holds at least whoever `sought` finds.

        Raises:
            RecordsError: it could not be asked; nobody may conclude anything then.
        """
        ...

    async def check(self) -> None:
        """Return if it answers.

        Raises:
            RecordsError: it does not.
        """
        ...


class NoDirectory:
    """A `Directory` without people, where no records say who the patients are."""

    @property
    def state(self) -> DirectoryState:
        return "ok"

    async def people_for(self, sought: Sought) -> PersonIndex:
        return PersonIndex(people=())

    async def check(self) -> None:
        return


@dataclass(kw_only=True, eq=False)
class FileDirectory:
    """A `Directory` over the index of a folder: all its Patients, indexed anew on a change.

    Attributes:
        records: Knows all Patients and the ids of their charts.
        fits: Whether a text has the form of our ids.
        more: Patients that were registered without a file.
    """

    records: Records
    fits: Callable[[str], bool]
    clock: Clock
    systems: tuple[str, ...] = ()
    more: Callable[[], Awaitable[Sequence[Mapping[str, Any]]]] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _of: object = field(default=(), init=False)
    _key: object = field(default=None, init=False)
    _index: PersonIndex = field(default_factory=lambda: PersonIndex(people=()), init=False)
    state: DirectoryState = field(default="ok", init=False)

    async def people_for(self, sought: Sought) -> PersonIndex:
        async with self._lock:
            try:
                found = (await self.records.all_patients()).patients
                registered = [] if self.more is None else list(await self.more())
                today = self.clock.now().date()
                # The bodies are kept below, so an address is one body's as long as the key is.
                key = (tuple(id(one.body) for one in found), tuple(map(id, registered)), today)
                if key != self._key:
                    self._index = await asyncio.to_thread(self._indexed, found, registered, today)
                    self._of, self._key = (found, registered), key
            except RecordsError:
                self.state = "down"
                raise
            self.state = "ok"
            return self._index

    async def check(self) -> None:
        await self.people_for(Sought())

    def _indexed(
        self, found: Sequence[ChartPatient], registered: Sequence[Mapping[str, Any]], today: date
    ) -> PersonIndex:
        people = [
            person
            for one in found
            if (person := person_from(one.body, patient_id=one.patient_id, today=today))
        ]
        known = {one.patient_id for one in people}
        for body in registered:
            if (draft := person_from(body, patient_id=None, today=today)) is None:
                continue
            own = id_among(draft.numbers, systems=self.systems, fits=self.fits)
            if own not in known:
                people.append(replace(draft, patient_id=own))
        return PersonIndex(people=people, systems=self.systems)
