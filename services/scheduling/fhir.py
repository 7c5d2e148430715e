"""FHIR R4 resources of a clinic's timetable, read and made."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from data_models.errors import RecordsUnreadableError, ToolInputError
from data_models.identifiers import PatientId, hashed
from services.scheduling.ports import Appointment, Coverage, Doctor, Person, Slot

_SLOT_FORM = "%Y%m%dT%H%M"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def resources_of(file: Path) -> list[dict[str, Any]]:
    """Return the resources of a Bundle; none if the clinic has no such file.

    Raises:
        RecordsUnreadableError: it is no Bundle.
    """
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))["entry"]
        return [entry["resource"] for entry in entries]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordsUnreadableError(f"{file.name} is no FHIR bundle") from error


def doctor_of(practitioner: Mapping[str, Any]) -> Doctor:
    """Read a Practitioner."""
    texts = [each["code"]["text"] for each in practitioner.get("qualification", ())]
    return Doctor(practitioner["id"], name_of(practitioner), ", ".join(texts))


def name_of(resource: Mapping[str, Any]) -> str:
    """Return the name of a Practitioner or Patient as people write it."""
    name = resource["name"][0]
    parts = [*name.get("prefix", ()), *name.get("given", ()), name.get("family", "")]
    return " ".join(part for part in parts if part)


def hours_of(practitioner: Mapping[str, Any], day: date) -> Iterator[tuple[datetime, datetime]]:
    """Yield the times at which a doctor sees patients on `day` (PractitionerRole.availableTime)."""
    for row in practitioner.get("availableTime", ()):
        if _DAYS[day.weekday()] not in row["daysOfWeek"]:
            continue
        length = timedelta(minutes=row.get("slotMinutes", 30))
        start = datetime.combine(day, time.fromisoformat(row["availableStartTime"]), UTC)
        end = datetime.combine(day, time.fromisoformat(row["availableEndTime"]), UTC)
        while start + length <= end:
            yield start, start + length
            start += length


def slot_of(doctor_id: str, start: datetime, end: datetime) -> Slot:
    """Return a time as a Slot; its id says whose it is and when."""
    return Slot(f"slot-{doctor_id}-{start.strftime(_SLOT_FORM)}", doctor_id, start, end)


def parsed_slot(slot_id: str) -> tuple[str, datetime]:
    """Return doctor and start of a slot id.

    Raises:
        ToolInputError: it is none.
    """
    doctor_id, _, start = slot_id.removeprefix("slot-").rpartition("-")
    try:
        return doctor_id, datetime.strptime(start, _SLOT_FORM).replace(tzinfo=UTC)
    except ValueError:
        raise ToolInputError("there is no such slot; take an id of available_slots") from None


def appointment_resource(
    patient_id: PatientId, slot: Slot, reason: str, *, number: int
) -> dict[str, Any]:
    """Return a booked time as an Appointment."""
    return {
        "resourceType": "Appointment",
        "id": f"appointment-{hashed(slot.slot_id, patient_id, str(number))[:12]}",
        "status": "booked",
        "start": slot.start.isoformat(),
        "end": slot.end.isoformat(),
        "slot": [{"reference": f"Slot/{slot.slot_id}"}],
        "reasonCode": [{"text": reason}] if reason else [],
        "participant": [
            {"actor": {"reference": f"Patient/{patient_id}"}, "status": "accepted"},
            {"actor": {"reference": f"Practitioner/{slot.doctor_id}"}, "status": "accepted"},
        ],
    }


def appointment_of(resource: Mapping[str, Any]) -> Appointment:
    """Read an Appointment."""
    slot_id = resource["slot"][0]["reference"].removeprefix("Slot/")
    doctor = resource["participant"][1]["actor"]["reference"].removeprefix("Practitioner/")
    reasons = [each["text"] for each in resource.get("reasonCode", ())]
    return Appointment(
        appointment_id=resource["id"],
        slot_id=slot_id,
        doctor_id=doctor,
        start=datetime.fromisoformat(resource["start"]),
        reason=", ".join(reasons),
        status=resource["status"],
    )


def is_of(resource: Mapping[str, Any], patient_id: PatientId) -> bool:
    """Tell whether an Appointment or a Coverage is this patient's."""
    reference = f"Patient/{patient_id}"
    if resource["resourceType"] == "Coverage":
        return bool(resource["beneficiary"]["reference"] == reference)
    return any(each["actor"]["reference"] == reference for each in resource["participant"])


def coverage_of(resource: Mapping[str, Any], *, today: date) -> Coverage:
    """Read a Coverage as of `today`."""
    end = resource.get("period", {}).get("end")
    ends = date.fromisoformat(end) if end else None
    is_active = resource["status"] == "active" and (ends is None or ends >= today)
    payor = resource["payor"][0]["display"]
    return Coverage(payor, resource.get("subscriberId", ""), ends, is_active)


def person_of(resource: Mapping[str, Any]) -> Person:
    """Read a Patient."""
    born = resource.get("birthDate")
    return Person(resource["id"], name_of(resource), date.fromisoformat(born) if born else None)
