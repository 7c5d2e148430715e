"""Who the patients of the records are, so that others' names can be withheld from a model.

No model and no log sees what is here.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import aiohttp
from pydantic import ValidationError
from yarl import URL

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.errors import RecordsUnavailableError, RecordsUnreadableError
from data_models.identifiers import PatientId
from services.language.letters import folded
from services.language.people_words import people_words
from services.records.fhir_chosen import fhir_client_for
from services.records.fhir_client import FhirAnswer, FhirClient
from services.records.fhir_types import HumanName, Patient
from services.records.local_resources import LocalResources
from services.records.records_factory import Records, local_resources
from settings import Settings

KEPT_SECONDS = 300.0
KEPT_ANSWERS = 8
PATIENTS_LIMIT = 5_000
_ID_LEAST_CHARS = 5  # a shorter number would be met in any phone number or room


@dataclass(frozen=True, slots=True)
class Person:
    """One patient: every id that the records know, and every name."""

    ids: frozenset[str]
    names: Sequence[HumanName]


class RosterOnly:
    """A `PatientNames` where no records say who the patients are: ids of the roster only."""

    async def names_of_others(
        self, patient_id: PatientId | None, roster: Collection[str]
    ) -> frozenset[str]:
        """Return the ids of `roster` and ids and names of all patients but `patient_id`.

        Raises:
            RecordsError: the records do not answer; then nothing may be shown.
        """
        return frozenset(one for one in roster if one != patient_id)


class RecordedNames:
    """What other patients are called, from a register that is read at most every five minutes."""

    def __init__(self, *, register: "FolderRegister | FhirRegister", clock: Clock) -> None:
        self._register = register
        self._clock = clock
        self._lock = asyncio.Lock()
        self._people: Sequence[Person] = ()
        self._read_at: float | None = None
        self._made: dict[tuple[PatientId | None, frozenset[str]], frozenset[str]] = {}
        """The last few answers; for thousands of patients each takes megabytes."""

    async def names_of_others(
        self, patient_id: PatientId | None, roster: Collection[str]
    ) -> frozenset[str]:
        """Return the ids of `roster` and ids and names of all patients but `patient_id`.

        Raises:
            RecordsError: the records do not answer; then nothing may be shown.
        """
        people = await self._current()
        key = (patient_id, frozenset(roster))
        found = self._made.pop(key, None) or frozenset(_others(people, patient_id, roster))
        self._made[key] = found
        while len(self._made) > KEPT_ANSWERS:
            del self._made[next(iter(self._made))]
        return found

    @property
    def kept(self) -> Collection[frozenset[str]]:
        """The answers that are kept."""
        return self._made.values()

    async def _current(self) -> Sequence[Person]:
        async with self._lock:
            now = self._clock.monotonic()
            if self._read_at is None or now - self._read_at > KEPT_SECONDS:
                self._people, self._read_at = await self._register.people(), now
                self._made.clear()
            return self._people


PatientNames: TypeAlias = RosterOnly | RecordedNames
"""Knows what other patients are called."""


class FolderRegister:
    """The patients of a folder of files.

    Args:
        clinic: Whom the clinic registered without a record.
    """

    def __init__(self, *, records: Records, clinic: LocalResources | None = None) -> None:
        self._records = records
        self._clinic = clinic

    async def people(self) -> Sequence[Person]:
        """Return all patients.

        Raises:
            RecordsError: they are more than `PATIENTS_LIMIT`, or the records do not answer.
        """
        everybody = await self._records.all_patients()
        if not everybody.is_complete:
            raise RecordsUnreadableError("a file of the records may hide a patient")
        known = everybody.patients
        _refuse_more_than_fit(len(known))
        found = [_person(one.body, one.patient_id) for one in known]
        if self._clinic is None:
            return found
        ids = {each for one in found for each in one.ids}
        rows = [_person(row.body) for row in await self._clinic.search("Patient", ())]
        registered = [one for one in rows if not one.ids & ids]
        _refuse_more_than_fit(len(found) + len(registered))
        return [*found, *registered]


class FhirRegister:
    """The patients of a FHIR server."""

    def __init__(self, *, client: FhirClient) -> None:
        self._client = client

    async def people(self) -> Sequence[Person]:
        """Return all patients.

        Raises:
            RecordsError: they are more than `PATIENTS_LIMIT`, or the records do not answer.
        """
        fields = {"_elements": "identifier,name", "_count": "200"}
        found = await self._client.pages(self._patients().with_query(fields))
        if isinstance(found, FhirAnswer):
            raise RecordsUnavailableError("the records server lists no patients")
        _refuse_more_than_fit(PATIENTS_LIMIT + 1 if found.truncated else len(found.entries))
        rows = [entry.get("resource") or {} for entry in found.entries]
        return [_person(row) for row in rows if row.get("resourceType") == "Patient"]

    def _patients(self) -> URL:
        return self._client.base_url / "Patient"


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
    if family and folded(family) not in people_words().words_of_a_calendar:
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


def patient_names_for(
    settings: Settings,
    *,
    patients: Records,
    store: BlobStore,
    session: aiohttp.ClientSession,
    clock: Clock,
) -> "RecordedNames":
    """Return who the patients are of the records that the settings name.

    Args:
        patients: The records themselves.
        store: Where the sample clinic keeps whom it registered.
    """
    if settings.fhir_base_url is None:
        clinic = local_resources(settings, patients=patients, store=store, clock=clock)
        return RecordedNames(register=FolderRegister(records=patients, clinic=clinic), clock=clock)
    client = fhir_client_for(settings, session=session, clock=clock)
    return RecordedNames(register=FhirRegister(client=client), clock=clock)
