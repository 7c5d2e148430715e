"""The embedded back end: sample resources from files, bookings as FHIR JSON in the blob store.

The blob of a slot is created only if it is absent: that is the check for collisions, and it
holds for any number of replicas.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

from data_models.blob_store import BlobStore
from data_models.errors import BlobExistsError, ToolInputError
from data_models.identifiers import PatientId, hashed
from services.scheduling.fhir import (
    appointment_of,
    appointment_resource,
    coverage_of,
    doctor_of,
    hours_of,
    is_of,
    parsed_slot,
    person_of,
    resources_of,
    slot_of,
)
from services.scheduling.ports import Appointment, Coverage, Doctor, Person, Slot

_SLOTS = "slots/"
_PEOPLE = "people/"
_FOUND = 10


class LocalClinic:
    """`Appointments` and `People` over `samples/scheduling` and one container of blobs."""

    def __init__(self, *, samples: Path, store: BlobStore) -> None:
        self._samples = samples
        self._store = store

    async def doctors(self, name: str) -> Sequence[Doctor]:
        """See `Appointments.doctors`."""
        wanted = _words(name)
        return [one for one in map(doctor_of, await self._doctors()) if wanted <= _words(one.name)]

    async def free_slots(self, doctor_id: str, day: date, *, now: datetime) -> Sequence[Slot]:
        """See `Appointments.free_slots`."""
        rows = [row for row in await self._doctors() if row["id"] == doctor_id]
        if not rows:
            raise ToolInputError("there is no such doctor; find_doctor gives the ids")
        taken = {each.slot_id for each in await self._appointments(doctor_id)}
        slots = [slot_of(doctor_id, start, end) for start, end in hours_of(rows[0], day)]
        return [slot for slot in slots if slot.slot_id not in taken and slot.start > now]

    async def of_patient(self, patient_id: PatientId) -> Sequence[Appointment]:
        """See `Appointments.of_patient`."""
        rows = [row for row in await self._booked() if is_of(row, patient_id)]
        return sorted(map(appointment_of, rows), key=lambda each: each.start)

    async def book(self, patient_id: PatientId, slot_id: str, reason: str) -> Appointment:
        """See `Appointments.book`."""
        doctor_id, start = parsed_slot(slot_id)
        rows = [row for row in await self._doctors() if row["id"] == doctor_id]
        times = [time for row in rows for time in hours_of(row, start.date()) if time[0] == start]
        if not times:
            raise ToolInputError("there is no such slot; take an id of available_slots")
        own = await self.of_patient(patient_id)
        if any(each.start == start and each.slot_id != slot_id for each in own):
            raise ToolInputError("the patient has another appointment at that time")
        slot = slot_of(doctor_id, *times[0])
        resource = appointment_resource(patient_id, slot, reason, number=0)
        try:
            await self._store.create(_name(slot_id), json.dumps(resource).encode())
        except BlobExistsError:
            return await self._retaken(patient_id, slot_id)
        return appointment_of(resource)

    async def cancel(self, patient_id: PatientId, appointment_id: str) -> Appointment:
        """See `Appointments.cancel`."""
        for each in await self.of_patient(patient_id):
            if each.appointment_id == appointment_id:
                await self._store.delete(_name(each.slot_id))
                return each
        raise ToolInputError("the patient has no such appointment")

    async def find(self, name: str) -> Sequence[Person]:
        """See `People.find`."""
        rows = [*await self._sample("people.json"), *await self._rows(_PEOPLE)]
        wanted = _words(name)
        found = [one for one in map(person_of, rows) if wanted and wanted <= _words(one.name)]
        return found[:_FOUND]

    async def register(self, name: str, birth_date: date) -> Person:
        """See `People.register`."""
        given, _, family = name.strip().rpartition(" ")
        person_id = f"person-{hashed(name.casefold(), birth_date.isoformat())[:12]}"
        resource = {
            "resourceType": "Patient",
            "id": person_id,
            "name": [{"given": given.split(), "family": family}],
            "birthDate": birth_date.isoformat(),
        }
        with suppress(BlobExistsError):  # registered before: the same person
            await self._store.create(f"{_PEOPLE}{person_id}", json.dumps(resource).encode())
        return person_of(resource)

    async def coverage(self, patient_id: PatientId, *, today: date) -> Coverage | None:
        """See `People.coverage`."""
        rows = [row for row in await self._sample("coverage.json") if is_of(row, patient_id)]
        found = [coverage_of(row, today=today) for row in rows]
        return max(found, key=lambda each: each.is_active, default=None)

    async def _retaken(self, patient_id: PatientId, slot_id: str) -> Appointment:
        """Return the patient's own booking of a slot that is taken: asking twice books once."""
        for each in await self.of_patient(patient_id):
            if each.slot_id == slot_id:
                return each
        raise ToolInputError("that time was taken meanwhile; ask for available_slots again")

    async def _appointments(self, doctor_id: str) -> list[Appointment]:
        found = map(appointment_of, await self._booked())
        return [each for each in found if each.doctor_id == doctor_id]

    async def _booked(self) -> list[dict[str, Any]]:
        return await self._rows(_SLOTS)

    async def _rows(self, prefix: str) -> list[dict[str, Any]]:
        names = [row.name async for row in self._store.list(prefix)]
        blobs = [await self._store.read(name) for name in names]
        return [json.loads(blob.data) for blob in blobs if blob is not None]

    async def _doctors(self) -> list[dict[str, Any]]:
        return await self._sample("practitioners.json")

    async def _sample(self, name: str) -> list[dict[str, Any]]:
        return await asyncio.to_thread(resources_of, self._samples / name)


def _name(slot_id: str) -> str:
    return f"{_SLOTS}{slot_id}"


def _words(name: str) -> set[str]:
    return {
        word for word in name.casefold().replace(".", " ").split() if word not in {"dr", "doctor"}
    }
