"""FHIR R4 resources of a clinic's timetable, read and made. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Literal, TypeAlias

from data_models.errors import RecordsUnreadableError
from data_models.identifiers import hashed

# What is read of them.


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
    ends: date | None
    is_active: bool


SlotStatus: TypeAlias = Literal["free", "busy", "busy-tentative"]
ACTIVE = frozenset({"booked", "pending", "proposed", "arrived", "checked-in"})
_NAMESPACE = "https://rounds.example/fhir"
_HOLD = f"{_NAMESPACE}/hold"
_APPOINTMENT = f"{_NAMESPACE}/appointment"
_PERSON = f"{_NAMESPACE}/person"
HOLD_ENDS_AFTER = timedelta(minutes=1)
"""A change that takes longer was left unfinished by a process that died."""


def doctor_of(practitioner: Mapping[str, Any]) -> Doctor:
    """Read a Practitioner."""
    texts = [each.get("code", {}).get("text", "") for each in practitioner.get("qualification", ())]
    specialty = ", ".join(text for text in texts if text)
    return Doctor(str(practitioner["id"]), name_of(practitioner), specialty)


def name_of(resource: Mapping[str, Any]) -> str:
    """Return the name of a Practitioner or Patient as people write it."""
    for name in resource.get("name", ()):
        parts = [*name.get("prefix", ()), *name.get("given", ()), name.get("family", "")]
        text = " ".join(part for part in parts if part) or str(name.get("text", ""))
        if text:
            return text
    return ""


def slot_of(slot: Mapping[str, Any], doctor_id: str, *, zone: tzinfo) -> Slot:
    """Read a Slot.

    Raises:
        RecordsUnreadableError: it has no times.
    """
    start, end = _moment(slot, "start"), _moment(slot, "end")
    return Slot(str(slot["id"]), doctor_id, start.astimezone(zone), end.astimezone(zone))


def schedule_of(slot: Mapping[str, Any]) -> str:
    """Return the id of the Schedule that a Slot belongs to."""
    return _id_of(slot.get("schedule", {}))


def doctor_id_of(schedule: Mapping[str, Any]) -> str:
    """Return the Practitioner whose times a Schedule holds; empty if it names none."""
    actors = [str(each.get("reference", "")) for each in schedule.get("actor", ())]
    return next((each.rpartition("/")[2] for each in actors if "Practitioner/" in each), "")


def held(slot: Mapping[str, Any], mark: str, *, now: datetime) -> dict[str, Any]:
    """Return a Slot that a change is under way with; `mark` says whose."""
    others = [each for each in slot.get("identifier", ()) if each.get("system") != _HOLD]
    mine = {"system": _HOLD, "value": mark, "period": {"start": utc_text(now)}}
    return {**slot, "identifier": [*others, mine], "status": "busy-tentative"}


def settled(slot: Mapping[str, Any], status: SlotStatus) -> dict[str, Any]:
    """Return a Slot that nobody is changing any more.

    A busy one keeps the mark of its change, so that no two processes ever write the same.
    """
    if status == "busy":
        return {**slot, "status": status}
    others = [each for each in slot.get("identifier", ()) if each.get("system") != _HOLD]
    kept = {key: value for key, value in slot.items() if key != "identifier"}
    return {**kept, **({"identifier": others} if others else {}), "status": status}


def is_abandoned(slot: Mapping[str, Any], *, now: datetime) -> bool:
    """Tell whether a change with this Slot was begun by us and never ended."""
    marks = [each for each in slot.get("identifier", ()) if each.get("system") == _HOLD]
    began = [str(each.get("period", {}).get("start", "")) for each in marks]
    if slot.get("status") != "busy-tentative" or not began or not began[-1]:
        return False
    return datetime.fromisoformat(began[-1]) + HOLD_ENDS_AFTER <= now


def appointment_resource(patient_key: str, slot: Slot, reason: str) -> dict[str, Any]:
    """Return a booked time as an Appointment.

    Its identifier stands for patient and start: a patient is at one place at a time.
    """
    start = utc_text(slot.start)
    actors = (f"Patient/{patient_key}", f"Practitioner/{slot.doctor_id}")
    return {
        "resourceType": "Appointment",
        "identifier": [{"system": _APPOINTMENT, "value": hashed(patient_key, start)[:24]}],
        "status": "booked",
        "start": start,
        "end": utc_text(slot.end),
        "slot": [{"reference": f"Slot/{slot.slot_id}"}],
        **({"reasonCode": [{"text": reason}]} if reason else {}),
        "participant": [{"actor": {"reference": actor}, "status": "accepted"} for actor in actors],
    }


def appointment_of(appointment: Mapping[str, Any], *, zone: tzinfo) -> Appointment:
    """Read an Appointment.

    Raises:
        RecordsUnreadableError: it has no time.
    """
    actors = [str(each.get("actor", {}).get("reference", "")) for each in _rows(appointment)]
    doctor = next((each for each in actors if "Practitioner/" in each), "")
    reasons = [each.get("text", "") for each in appointment.get("reasonCode", ())]
    return Appointment(
        appointment_id=str(appointment["id"]),
        slot_id=next((_id_of(each) for each in appointment.get("slot", ())), ""),
        doctor_id=doctor.rpartition("/")[2],
        start=_moment(appointment, "start").astimezone(zone),
        reason=", ".join(text for text in reasons if text),
        status=str(appointment.get("status", "")),
    )


def is_booked_by(appointment: Mapping[str, Any], patient_key: str) -> bool:
    """Tell whether an Appointment holds, and is this patient's."""
    references = [str(each.get("actor", {}).get("reference", "")) for each in _rows(appointment)]
    is_theirs = any(_is(each, "Patient", patient_key) for each in references)
    return is_theirs and is_active(appointment)


def is_active(appointment: Mapping[str, Any]) -> bool:
    """Tell whether an Appointment still keeps its time, and says which."""
    return appointment.get("status") in ACTIVE and "start" in appointment


def overlaps(appointment: Mapping[str, Any], slot: Slot) -> bool:
    """Tell whether an Appointment and a Slot share a moment."""
    start = _moment(appointment, "start")
    end = _moment(appointment, "end") if "end" in appointment else start
    return start < slot.end and slot.start < max(end, start + timedelta(minutes=1))


def coverage_of(coverage: Mapping[str, Any], *, today: date) -> Coverage:
    """Read a Coverage as of `today`."""
    end = coverage.get("period", {}).get("end")
    ends = date.fromisoformat(end[:10]) if end else None
    is_valid = coverage.get("status") == "active" and (ends is None or ends >= today)
    payor = next((str(each.get("display", "")) for each in coverage.get("payor", ())), "")
    return Coverage(payor, ends, is_valid)


def covers(coverage: Mapping[str, Any], patient_key: str) -> bool:
    """Tell whether a Coverage is this patient's."""
    reference = str(coverage.get("beneficiary", {}).get("reference", ""))
    return _is(reference, "Patient", patient_key)


def patient_resource(name: str, birth_date: date) -> dict[str, Any]:
    """Return a new person as a Patient; its identifier stands for name and birth date."""
    given, _, family = " ".join(name.split()).rpartition(" ")
    value = hashed(" ".join(name.casefold().split()), birth_date.isoformat())[:24]
    names = {"family": family, **({"given": given.split()} if given else {})}
    return {
        "resourceType": "Patient",
        "identifier": [{"system": _PERSON, "value": value}],
        "name": [names],
        "birthDate": birth_date.isoformat(),
    }


def may_be_born(patient: Mapping[str, Any], day: date) -> bool:
    """Tell whether a Patient's birth date is `day`, or says only its month or year."""
    born = str(patient.get("birthDate", ""))
    return bool(born) and day.isoformat().startswith(born)


def utc_text(moment: datetime) -> str:
    """Return a moment as all servers write and compare it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _rows(appointment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(appointment.get("participant", ()))


def _moment(resource: Mapping[str, Any], member: str) -> datetime:
    try:
        moment = datetime.fromisoformat(str(resource[member]))
    except (KeyError, ValueError):
        # Not `from error`: it may quote what the resource holds.
        raise RecordsUnreadableError(f"a {resource.get('resourceType')} has no {member}") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _id_of(reference: Mapping[str, Any]) -> str:
    return str(reference.get("reference", "")).partition("/_history/")[0].rpartition("/")[2]


def _is(reference: str, kind: str, key: str) -> bool:
    return reference == f"{kind}/{key}" or reference.endswith(f"/{kind}/{key}")
