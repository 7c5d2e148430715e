"""The clinic: finds, books, moves and cancels over any `ResourceStore`.

A Slot is the lock on its time. Whoever books first marks it `busy-tentative` on the version that
was read, then files the Appointment, then marks it `busy`: of any number of rivals one gets past
the first write. A mark that is older than a minute was left by a process that died; the slot is
then what its appointments say.
"""

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta, tzinfo

from data_models.clock import Clock, IdSource
from data_models.errors import RecordChangedError, RecordNotFoundError, ToolInputError
from data_models.identifiers import PatientId
from data_models.resource import Resource, ResourceStore
from services.scheduling import fhir
from services.scheduling.fhir import Person, name_of

_TAKEN = "that time was taken meanwhile; ask for available_slots again"
_NO_SLOT = "there is no such slot; take an id of available_slots"
_ELSEWHERE = "the patient has another appointment at that time"
_NOT_THEIRS = "the patient has no such appointment; list_appointments gives the ids"


class Clinic:
    """Finds times, books them once whatever replica asks, and registers persons.

    Works over FHIR resources and holds nothing of any turn. Every method raises `RecordsError` or
    `StoreError` when the back end does not answer.
    """

    def __init__(
        self, *, records: ResourceStore, clock: Clock, ids: IdSource, zone: tzinfo
    ) -> None:
        self._records = records
        self._clock = clock
        self._ids = ids
        self._zone = zone

    async def doctors(self) -> Sequence[fhir.Doctor]:
        """Return the doctors who have a name."""
        found = await self._records.search("Practitioner", [])
        return [one for each in found if (one := fhir.doctor_of(each.body)).name]

    async def doctor_name(self, doctor_id: str) -> str:
        """Return how people call a doctor; the id where nobody has it any more."""
        found = await self._records.read("Practitioner", doctor_id)
        return doctor_id if found is None else fhir.name_of(found.body) or doctor_id

    async def free_slots(self, doctor_id: str, day: date) -> Sequence[fhir.Slot]:
        """Return what is still free on that day of the clinic, in order.

        Raises:
            ToolInputError: there is no such doctor.
        """
        schedules = await self._schedules(doctor_id)
        days = (day, day + timedelta(days=1))
        begins, ends = (fhir.utc_text(datetime.combine(one, time(), self._zone)) for one in days)
        span = [("start", f"ge{begins}"), ("start", f"lt{ends}")]
        slots: list[fhir.Slot] = []
        for schedule in schedules:
            query = [("schedule", f"Schedule/{schedule}"), *span]
            found = await self._records.search("Slot", query)
            own = [each for each in found if fhir.schedule_of(each.body) == schedule]
            free = [each for each in own if await self._is_free(each)]
            slots += [fhir.slot_of(each.body, doctor_id, zone=self._zone) for each in free]
        now = self._clock.now()
        ahead = [slot for slot in slots if slot.start.date() == day and slot.start > now]
        return sorted(ahead, key=lambda slot: slot.start)

    async def bookable(
        self, patient_id: PatientId, slot_id: str, *, instead_of: str | None = None
    ) -> fhir.Slot:
        """Return a slot that the patient can have.

        Args:
            instead_of: The appointment that would be given up for it.

        Raises:
            ToolInputError: there is no such slot, it is taken, or the patient is elsewhere then.
        """
        patient = await self._records.patient_key(patient_id)
        kept, slot = await self._slot(slot_id)
        await self._refuse_taken(kept)
        booked = await self._find_booked(patient)
        _refuse_overlap([each for each in booked if each.body["id"] != instead_of], slot)
        return slot

    async def list_booked(self, patient_id: PatientId) -> Sequence[fhir.Appointment]:
        """Return the patient's booked appointments by time."""
        rows = await self._find_booked(await self._records.patient_key(patient_id))
        return sorted(map(self._appointment, rows), key=lambda each: each.start)

    async def book(self, patient_id: PatientId, slot_id: str, reason: str) -> fhir.Appointment:
        """Book a slot; asked twice, it is booked once.

        Raises:
            ToolInputError: as `bookable`.
        """
        patient = await self._records.patient_key(patient_id)
        kept, slot = await self._slot(slot_id)
        booked = await self._find_booked(patient)
        own = [each for each in booked if self._appointment(each).slot_id == slot_id]
        if own:
            if kept.body.get("status") != "busy":
                await self._settle(kept, is_free=False)
            return self._appointment(own[0])
        await self._refuse_taken(kept)
        _refuse_overlap(booked, slot)
        mine = await self._hold(kept)
        filed = await self._file(patient, mine, slot, reason)
        await self._keep(mine, filed)
        return self._appointment(filed)

    async def move(
        self, patient_id: PatientId, appointment_id: str, slot_id: str
    ) -> fhir.Appointment:
        """Move the patient's appointment to another slot; whoever loses it keeps the old one.

        Raises:
            ToolInputError: as `bookable`, or the patient has no such appointment.
        """
        patient = await self._records.patient_key(patient_id)
        booked = await self._find_booked(patient)
        old = self._own(booked, appointment_id)
        kept, slot = await self._slot(slot_id)
        await self._refuse_taken(kept)
        _refuse_overlap([each for each in booked if each is not old], slot)
        before = self._appointment(old)
        new = fhir.appointment_resource(patient, slot, before.reason)
        mine = await self._hold(kept)
        left = await self._hold_of(before)
        moved = await self._change(old, {**old.body, **new})
        await self._keep(mine, moved)
        if left is not None:
            await self._settle(left, is_free=True)
        return self._appointment(moved)

    async def cancel(self, patient_id: PatientId, appointment_id: str) -> fhir.Appointment:
        """Cancel the patient's appointment and free its time.

        Raises:
            ToolInputError: the patient has no such appointment.
        """
        booked = await self._find_booked(await self._records.patient_key(patient_id))
        mine = self._own(booked, appointment_id)
        left = await self._hold_of(self._appointment(mine))
        gone = await self._change(mine, {**mine.body, "status": "cancelled"})
        if left is not None:
            await self._settle(left, is_free=True)
        return self._appointment(gone)

    async def find_known(
        self, name: str, birth_date: date, *, patient_id: PatientId | None
    ) -> fhir.Known:
        """Tell whether a person of that full name and birth date is registered.

        Nothing that the clinic holds of anybody is returned: it may be another patient's.
        """
        if not (wanted := _words(name)):
            return "nobody"
        found = await self._records.search("Patient", [("name", max(wanted, key=len))])
        fitting = [each.body for each in found if fhir.may_be_born(each.body, birth_date)]
        ids = {str(each["id"]) for each in fitting if wanted <= _words(fhir.name_of(each))}
        if len(ids) != 1:
            return "several" if ids else "nobody"
        return "this_patient" if ids == await self._keys(patient_id) else "another_person"

    async def register(self, name: str, birth_date: date) -> fhir.Person:
        """Register a person once; the same name and birth date again is the same person."""
        patient = (await self._records.create_once(fhir.patient_resource(name, birth_date))).body
        born = str(patient.get("birthDate", ""))
        known = date.fromisoformat(born) if len(born) == len("2000-01-01") else None
        return Person(str(patient["id"]), name_of(patient), known)

    async def coverage(self, patient_id: PatientId, *, today: date) -> fhir.Coverage | None:
        """Return the patient's insurance; None if the clinic knows of none."""
        patient = await self._records.patient_key(patient_id)
        found = await self._records.search("Coverage", [("beneficiary", f"Patient/{patient}")])
        rows = [
            fhir.coverage_of(each.body, today=today)
            for each in found
            if fhir.covers(each.body, patient)
        ]
        return max(rows, key=lambda each: each.is_active, default=None)

    # -- reading ------------------------------------------------------------------------------

    async def _keys(self, patient_id: PatientId | None) -> set[str]:
        if patient_id is None:
            return set()
        try:
            return {await self._records.patient_key(patient_id)}
        except RecordNotFoundError:
            return set()

    async def _schedules(self, doctor_id: str) -> list[str]:
        actor = f"Practitioner/{doctor_id}"
        found = await self._records.search("Schedule", [("actor", actor)])
        ids = [str(each.body["id"]) for each in found if fhir.doctor_id_of(each.body) == doctor_id]
        if not ids:
            raise ToolInputError("there is no such doctor; available_slots names those there are")
        return ids

    async def _slot(self, slot_id: str) -> tuple[Resource, fhir.Slot]:
        kept = await self._records.read("Slot", slot_id)
        schedule = None
        if kept is not None:
            schedule = await self._records.read("Schedule", fhir.schedule_of(kept.body))
        if kept is None or schedule is None:
            raise ToolInputError(_NO_SLOT)
        slot = fhir.slot_of(kept.body, fhir.doctor_id_of(schedule.body), zone=self._zone)
        if slot.start <= self._clock.now():
            raise ToolInputError("that time has passed")
        return kept, slot

    async def _is_free(self, kept: Resource) -> bool:
        if not fhir.is_abandoned(kept.body, now=self._clock.now()):
            return bool(kept.body.get("status") == "free")
        reference = f"Slot/{kept.body['id']}"
        found = await self._records.search("Appointment", [("slot", reference)])
        rows = [self._appointment(each) for each in found if fhir.is_active(each.body)]
        return all(each.slot_id != kept.body["id"] for each in rows)

    async def _find_booked(self, patient: str) -> list[Resource]:
        found = await self._records.search("Appointment", [("patient", f"Patient/{patient}")])
        return [each for each in found if fhir.is_booked_by(each.body, patient)]

    def _own(self, booked: Sequence[Resource], appointment_id: str) -> Resource:
        for each in booked:
            if each.body["id"] == appointment_id:
                return each
        raise ToolInputError(_NOT_THEIRS)

    def _appointment(self, kept: Resource) -> fhir.Appointment:
        return fhir.appointment_of(kept.body, zone=self._zone)

    # -- writing ------------------------------------------------------------------------------

    async def _refuse_taken(self, kept: Resource) -> None:
        if not await self._is_free(kept):
            raise ToolInputError(_TAKEN)

    async def _hold(self, kept: Resource) -> Resource:
        """Mark a slot as ours on the version that was read: the one write that decides."""
        mark = fhir.held(kept.body, self._ids.new_id("hold"), now=self._clock.now())
        try:
            return await self._records.update(kept, mark)
        except RecordChangedError:
            raise ToolInputError(_TAKEN) from None  # said in the agent's words

    async def _hold_of(self, appointment: fhir.Appointment) -> Resource | None:
        """Mark the slot that an appointment will leave; None if it has none of its own."""
        if not appointment.slot_id:
            return None
        kept = await self._records.read("Slot", appointment.slot_id)
        return None if kept is None else await self._hold(kept)

    async def _settle(self, mine: Resource, *, is_free: bool) -> None:
        """Say what a slot is now; somebody who wrote since knew better."""
        with suppress(RecordChangedError):
            await self._records.update(mine, fhir.settled(mine.body, "free" if is_free else "busy"))

    async def _keep(self, mine: Resource, filed: Resource) -> None:
        """Make the hold lasting; a process that slept through its end takes the booking back."""
        try:
            await self._records.update(mine, fhir.settled(mine.body, "busy"))
        except RecordChangedError:
            await self._change(filed, {**filed.body, "status": "cancelled"})
            raise ToolInputError(_TAKEN) from None  # said in the agent's words

    async def _file(self, patient: str, mine: Resource, slot: fhir.Slot, reason: str) -> Resource:
        wanted = fhir.appointment_resource(patient, slot, reason)
        filed = await self._records.create_once(wanted)
        if not fhir.is_active(filed.body):  # cancelled before, and booked again
            return await self._change(filed, {**filed.body, **wanted})
        if self._appointment(filed).slot_id != slot.slot_id:
            await self._settle(mine, is_free=True)
            raise ToolInputError(_ELSEWHERE)
        return filed

    async def _change(self, before: Resource, body: dict[str, object]) -> Resource:
        try:
            return await self._records.update(before, body)
        except RecordChangedError:
            problem = "the appointment was changed meanwhile; use list_appointments"
            raise ToolInputError(problem) from None  # said in the agent's words


def _refuse_overlap(booked: Sequence[Resource], slot: fhir.Slot) -> None:
    if any(fhir.overlaps(each.body, slot) for each in booked):
        raise ToolInputError(_ELSEWHERE)


def _words(name: str) -> set[str]:
    apart = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(each for each in apart if not unicodedata.combining(each))
    plain = letters.replace(".", " ").replace(",", " ")
    return {word for word in plain.split() if word not in {"dr", "doctor"}}
