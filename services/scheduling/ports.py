"""What the booking and registration agents need, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from data_models.identifiers import PatientId


@dataclass(frozen=True, slots=True)
class Doctor:
    """A Practitioner who takes appointments."""

    doctor_id: str
    name: str
    specialty: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A free time, in the clinic's own hours."""

    slot_id: str
    doctor_id: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Appointment:
    """A booked time."""

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


@dataclass(frozen=True, slots=True)
class Coverage:
    """An insurance and whether it covers today."""

    payor: str
    member_id: str
    ends: date | None
    is_active: bool


class Appointments(Protocol):
    """Finds times and books them; a time is booked once, whatever replica asks.

    Every method raises `StoreUnavailableError` when the back end does not answer.
    """

    async def doctors(self, name: str) -> Sequence[Doctor]:
        """Return the doctors whose name fits; all of them for an empty one."""
        ...

    async def free_slots(self, doctor_id: str, day: date, *, now: datetime) -> Sequence[Slot]:
        """Return what is still free that day, in order.

        Raises:
            ToolInputError: there is no such doctor.
        """
        ...

    async def of_patient(self, patient_id: PatientId) -> Sequence[Appointment]:
        """Return the patient's booked appointments by time."""
        ...

    async def book(self, patient_id: PatientId, slot_id: str, reason: str) -> Appointment:
        """Book a slot.

        Raises:
            ToolInputError: there is no such slot, it is taken, or the patient is elsewhere then.
        """
        ...

    async def cancel(self, patient_id: PatientId, appointment_id: str) -> Appointment:
        """Cancel the patient's appointment and free its time.

        Raises:
            ToolInputError: the patient has no such appointment.
        """
        ...


class People(Protocol):
    """Finds and registers persons, and asks their insurance."""

    async def find(self, name: str) -> Sequence[Person]:
        """Return those whose name fits, at most ten."""
        ...

    async def register(self, name: str, birth_date: date) -> Person:
        """Register a person once; the same name and birth date again is the same person."""
        ...

    async def coverage(self, patient_id: PatientId, *, today: date) -> Coverage | None:
        """Return the patient's insurance; None if the clinic knows of none."""
        ...
