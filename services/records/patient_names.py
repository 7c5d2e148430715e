"""Who the patients of the records are, so that others' names can be withheld from a model.

No model and no log sees what is here.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from data_models.clock import Clock
from data_models.errors import RecordsUnreadableError
from data_models.identifiers import PatientId
from data_models.values import Newest
from services.language.words.letters import folded
from services.language.words.people_words import of_people
from services.records.local_resources import LocalResources
from services.records.records_factory import Records, Resources
from services.records.resources.fhir_types import HumanName, Patient

KEPT_SECONDS = 300.0
KEPT_ANSWERS = 8
PATIENTS_LIMIT = 5_000
_ID_LEAST_CHARS = 5  # a shorter number would be met in any phone number or room


@dataclass(frozen=True, slots=True)
class Person:
    """One patient: every id that the records know, and every name."""

    ids: frozenset[str]
    names: Sequence[HumanName]


class PatientNames(Protocol):
    """Knows what other patients are called."""

    async def names_of_others(
        self, patient_id: PatientId | None, roster: Collection[str]
    ) -> frozenset[str]:
        """Return the ids of `roster` and ids and names of all patients but `patient_id`.

        Raises:
            RecordsError: the records do not answer; then nothing may be shown.
        """
        ...


class RecordedNames:
    """What other patients are called, by the records that are read at most every five minutes.

    Args:
        clinic: Whom the clinic registered without a record.
    """

    def __init__(
        self, *, records: Records, clock: Clock, clinic: LocalResources | None = None
    ) -> None:
        self._records = records
        self._clock = clock
        self._clinic = clinic
        self._lock = asyncio.Lock()
        self._people: Sequence[Person] = ()
        self._read_at: float | None = None
        self._made = Newest[tuple[PatientId | None, frozenset[str]], frozenset[str]](
            limit=KEPT_ANSWERS
        )
        """The last few answers; for thousands of patients each takes megabytes."""

    async def names_of_others(
        self, patient_id: PatientId | None, roster: Collection[str]
    ) -> frozenset[str]:
        """Return the ids of `roster` and ids and names of all patients but `patient_id`.

        Raises:
            RecordsError: the records do not answer, or are of more than `PATIENTS_LIMIT`; then
                nothing may be shown.
        """
        people = await self._current()
        key = (patient_id, frozenset(roster))
        self._made[key] = self._made.get(key) or frozenset(_others(people, patient_id, roster))
        return self._made[key]

    @property
    def kept(self) -> Collection[frozenset[str]]:
        """The answers that are kept."""
        return self._made.values()

    async def _current(self) -> Sequence[Person]:
        async with self._lock:
            now = self._clock.monotonic()
            if self._read_at is None or now - self._read_at > KEPT_SECONDS:
                self._people, self._read_at = await self._everybody(), now
                self._made.clear()
            return self._people

    async def _everybody(self) -> Sequence[Person]:
        everybody = await self._records.all_patients()
        if not everybody.is_complete:
            raise RecordsUnreadableError("the records may hide a patient")
        _refuse_more_than_fit(len(everybody.patients))
        found = [_person(one.body, one.patient_id) for one in everybody.patients]
        if self._clinic is None:
            return found
        ids = {each for one in found for each in one.ids}
        rows = [_person(row.body) for row in await self._clinic.search("Patient", ())]
        registered = [one for one in rows if not one.ids & ids]
        _refuse_more_than_fit(len(found) + len(registered))
        return [*found, *registered]


def _refuse_more_than_fit(count: int) -> None:
    """Return if every patient's name can be withheld.

    Raises:
        RecordsUnreadableError: some could not, so nobody's calendar is shown at all.
    """
    if count > PATIENTS_LIMIT:
        raise RecordsUnreadableError(f"more than {PATIENTS_LIMIT} patients to keep back")


def forms_of(name: HumanName) -> Iterable[str]:
    """Return how people write a name: in full, either way round, and the family name alone."""
    family, given = name.family or "", list(name.given)
    if name.text:
        yield name.text
    if family and folded(family) not in of_people("words_of_a_calendar"):
        yield family
    for first in [given[:1], given]:
        if family and first:
            yield f"{' '.join(first)} {family}"
            yield f"{family} {' '.join(first)}"
            yield f"{first[0][0]} {family}"


def _others(
    people: Sequence[Person], patient_id: PatientId | None, roster: Collection[str]
) -> Iterable[str]:
    own = [one for one in people if patient_id in one.ids]
    own_ids = {patient_id, *(each for one in own for each in one.ids)}
    own_forms = {form.casefold() for one in own for form in _forms(one)}
    yield from (one for one in roster if one not in own_ids)
    for person in people:
        if patient_id not in person.ids:
            yield from (one for one in person.ids - own_ids if len(one) >= _ID_LEAST_CHARS)
            yield from (form for form in _forms(person) if form.casefold() not in own_forms)


def _forms(person: Person) -> Iterable[str]:
    return (form for name in person.names for form in forms_of(name))


def _person(row: Mapping[str, object], patient_id: str = "") -> Person:
    one = _patient(row)
    ids = {patient_id, one.id or "", *(each.value or "" for each in one.identifier)}
    return Person(frozenset(ids) - {""}, one.name)


def _patient(row: Mapping[str, object]) -> Patient:
    try:
        return Patient.model_validate(row)
    except ValidationError:
        # `from None`: the validator quotes the record.
        raise RecordsUnreadableError("a Patient of the list is malformed") from None


def patient_names_for(patients: Records, resources: Resources, *, clock: Clock) -> RecordedNames:
    """Return who the patients are of the records, and whom the sample clinic registered."""
    clinic = resources if isinstance(resources, LocalResources) else None
    return RecordedNames(records=patients, clock=clock, clinic=clinic)
