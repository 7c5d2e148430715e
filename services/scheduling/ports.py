"""What the booking and registration agents need."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias


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
