"""What the booking and registration agents need, and what the clinic needs of the records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Protocol, TypeAlias

from data_models.identifiers import PatientId
from data_models.resource import Resource


@dataclass(frozen=True, slots=True)
class Doctor:
    """A Practitioner who takes appointments."""

    doctor_id: str
    name: str
    specialty: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A time that a doctor offers; `start` and `end` in the clinic's time zone."""

    slot_id: str
    doctor_id: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Appointment:
    """A booked time, in the clinic's time zone."""

    appointment_id: str
    slot_id: str
    doctor_id: str
    start: datetime
    reason: str
    status: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody the clinic knows."""

    person_id: str
    name: str
    birth_date: date | None


Known: TypeAlias = Literal["nobody", "this_patient", "another_person", "several"]
"""Whether somebody is registered; who it is leaves the clinic only as that."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """An insurance and whether it covers today."""

    payor: str
    member_id: str
    ends: date | None
    is_active: bool


class ClinicRecords(Protocol):
    """Reads and writes FHIR R4 resources; one for sample data, one for a FHIR server.

    Every method raises `RecordsError` or `StoreError` when the back end does not answer; a
    failure is never an empty answer.
    """

    async def patient_key(self, patient_id: PatientId) -> str:
        """Return the id of the Patient resource that carries `patient_id`.

        Raises:
            RecordNotFoundError: there is none.
            RecordAmbiguousError: there are several.
        """
        ...

    async def read(self, kind: str, resource_id: str) -> Resource | None:
        """Return one resource; None if and only if there is none."""
        ...

    async def search(self, kind: str, query: Sequence[tuple[str, str]]) -> Sequence[Resource]:
        """Return what fits `query`, FHIR search parameters; it may return more, never less."""
        ...

    async def create_once(self, body: Mapping[str, Any]) -> Resource:
        """Store a new resource, or return the one that carries its first identifier already.

        Race-safe where the back end keeps conditional creates apart.
        """
        ...

    async def update(self, before: Resource, body: Mapping[str, Any]) -> Resource:
        """Put `body` in place of `before`.

        Raises:
            RecordChangedError: somebody else wrote it since; nothing was written.
        """
        ...
