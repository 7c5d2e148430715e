"""Tools of the booking and registration agents. Nothing is booked that the user did not confirm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data_models.errors import ToolInputError
from group_chat.tools.clinic_times import day_of, is_consent
from group_chat.tools.tool import NoArguments, Tool, ToolOutput
from group_chat.turn_context import TurnContext
from services.scheduling.ports import Appointment, Appointments, Doctor, People, Slot

PROPOSAL = "appointment_proposal"
SCHEDULING_TOOLS = (
    "find_doctor",
    "available_slots",
    "list_appointments",
    "book_appointment",
    "move_appointment",
    "cancel_appointment",
    "find_person",
    "register_person",
    "insurance_eligibility",
)
_SHOWN = 16


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DoctorArguments(_Arguments):
    """Whom to look for."""

    name: str = Field(default="", max_length=100, description="Name or part of it; empty: all.")


class SlotArguments(_Arguments):
    """Whose times, and when."""

    doctor: str = Field(max_length=100, description="Name of the doctor.")
    day: str = Field(max_length=40, description="today, tomorrow, a weekday or YYYY-MM-DD.")
    time: str = Field(default="", max_length=20, description="HH:MM, if one is wanted.")


class BookArguments(_Arguments):
    """What to book."""

    slot_id: str = Field(max_length=100, description="An id of available_slots.")
    reason: str = Field(default="", max_length=200, description="Why, in the user's words.")


class MoveArguments(_Arguments):
    """What to move where."""

    appointment_id: str = Field(max_length=100)
    slot_id: str = Field(max_length=100, description="An id of available_slots.")


class AppointmentArguments(_Arguments):
    """Which appointment."""

    appointment_id: str = Field(max_length=100)


class PersonArguments(_Arguments):
    """Whom to look for."""

    name: str = Field(min_length=2, max_length=100)


class RegisterArguments(_Arguments):
    """Who is new."""

    name: str = Field(min_length=2, max_length=100)
    birth_date: date


@dataclass(frozen=True, slots=True)
class SchedulingTools:
    """The tools over a clinic's back end."""

    appointments: Appointments
    people: People

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of this file."""
        return (
            Tool("find_doctor", "Doctors by name.", DoctorArguments, self._find_doctor),
            Tool("available_slots", "Free times of a doctor on a day.", SlotArguments, self._slots),
            Tool("list_appointments", "The patient's appointments.", NoArguments, self._list),
            Tool(
                "book_appointment",
                "Proposes a time; books it once the user has confirmed it in a later message.",
                BookArguments,
                self._book,
            ),
            Tool(
                "move_appointment",
                "Proposes another time; moves once the user has confirmed it.",
                MoveArguments,
                self._move,
            ),
            Tool(
                "cancel_appointment",
                "Proposes to cancel; cancels once the user has confirmed it.",
                AppointmentArguments,
                self._cancel,
            ),
            Tool("find_person", "Persons by name.", PersonArguments, self._find_person),
            Tool("register_person", "Registers a person.", RegisterArguments, self._register),
            Tool(
                "insurance_eligibility",
                "Whether the patient's insurance covers today.",
                NoArguments,
                self._eligibility,
            ),
        )

    async def _find_doctor(self, _: TurnContext, asked: DoctorArguments) -> ToolOutput:
        found = await self.appointments.doctors(asked.name)
        rows = [{"doctor_id": d.doctor_id, "name": d.name, "specialty": d.specialty} for d in found]
        return {"doctors": rows} | ({"doctor_uuid": found[0].doctor_id} if len(found) == 1 else {})

    async def _slots(self, turn: TurnContext, asked: SlotArguments) -> ToolOutput:
        doctor = await self._doctor(asked.doctor)
        now = turn.request.now
        day = day_of(asked.day, now=now)
        free = await self.appointments.free_slots(doctor.doctor_id, day, now=now)
        wanted = [slot for slot in free if slot.start.strftime("%H:%M") == asked.time]
        shown = wanted or free[:_SHOWN]
        return {
            "doctor": doctor.name,
            "doctor_uuid": doctor.doctor_id,
            "day": day.isoformat(),
            "wanted_time_is_free": bool(wanted) if asked.time else None,
            "slots": [_slot_row(slot) for slot in shown],
        }

    async def _list(self, turn: TurnContext, _: NoArguments) -> ToolOutput:
        found = await self.appointments.of_patient(turn.patient_id)
        return {"appointments": [_appointment_row(each) for each in found]}

    async def _book(self, turn: TurnContext, asked: BookArguments) -> ToolOutput:
        plan = {"action": "book", "slot_id": asked.slot_id}
        if not _agreed(turn, plan):
            return _proposed(turn, plan, "Shall I book this appointment (yes / no)?")
        booked = await self.appointments.book(turn.patient_id, asked.slot_id, asked.reason)
        _settle(turn)
        return {"appointment_id": booked.appointment_id, "booked": _appointment_row(booked)}

    async def _move(self, turn: TurnContext, asked: MoveArguments) -> ToolOutput:
        plan = {
            "action": "move", "appointment_id": asked.appointment_id, "slot_id": asked.slot_id
        }  # fmt: skip
        old = await self._own(turn, asked.appointment_id)
        if not _agreed(turn, plan):
            return _proposed(turn, plan, "Shall I move the appointment (yes / no)?")
        # The new time first: whoever loses it keeps the old one.
        booked = await self.appointments.book(turn.patient_id, asked.slot_id, old.reason)
        await self.appointments.cancel(turn.patient_id, old.appointment_id)
        _settle(turn)
        return {"appointment_id": booked.appointment_id, "booked": _appointment_row(booked)}

    async def _cancel(self, turn: TurnContext, asked: AppointmentArguments) -> ToolOutput:
        plan = {"action": "cancel", "appointment_id": asked.appointment_id}
        await self._own(turn, asked.appointment_id)
        if not _agreed(turn, plan):
            return _proposed(turn, plan, "Shall I cancel this appointment (yes / no)?")
        gone = await self.appointments.cancel(turn.patient_id, asked.appointment_id)
        _settle(turn, "appointment_id")
        return {"cancelled": _appointment_row(gone)}

    async def _find_person(self, _: TurnContext, asked: PersonArguments) -> ToolOutput:
        found = await self.people.find(asked.name)
        rows = [
            {
                "person_id": one.person_id,
                "name": one.name,
                "birth_date": one.birth_date.isoformat() if one.birth_date else None,
            }
            for one in found
        ]
        return {"persons": rows} | (
            {"patient_id_retrieved": found[0].person_id} if len(found) == 1 else {}
        )

    async def _register(self, turn: TurnContext, asked: RegisterArguments) -> ToolOutput:
        if asked.birth_date > turn.request.now.date():
            raise ToolInputError("birth_date lies in the future")
        person = await self.people.register(asked.name, asked.birth_date)
        return {"registered": person.name, "patient_id_retrieved": person.person_id}

    async def _eligibility(self, turn: TurnContext, _: NoArguments) -> ToolOutput:
        found = await self.people.coverage(turn.patient_id, today=turn.request.now.date())
        if found is None:
            return {"eligible": False, "coverage": "none on file"}
        ends = found.ends.isoformat() if found.ends else "open"
        return {"eligible": found.is_active, "coverage": f"{found.payor}, until {ends}"}

    async def _doctor(self, name: str) -> Doctor:
        found = await self.appointments.doctors(name)
        if len(found) != 1:
            problem = "no doctor has that name" if not found else "several doctors have that name"
            raise ToolInputError(f"{problem}; ask the user, or use find_doctor")
        return found[0]

    async def _own(self, turn: TurnContext, appointment_id: str) -> Appointment:
        for each in await self.appointments.of_patient(turn.patient_id):
            if each.appointment_id == appointment_id:
                return each
        raise ToolInputError("the patient has no such appointment; list_appointments gives the ids")


def _agreed(turn: TurnContext, plan: Mapping[str, Any]) -> bool:
    """Tell whether exactly `plan` was proposed in an earlier turn and the user agrees to it now."""
    entities = turn.request.entities
    if entities is None or not is_consent(turn.request.text):
        return False
    held = entities.value_of(PROPOSAL, agent_name=turn.agent)
    return (
        held is not None and held.get("run") != turn.request.run_id and plan.items() <= held.items()
    )


def _proposed(turn: TurnContext, plan: Mapping[str, Any], question: str) -> ToolOutput:
    return {"proposal": {**plan, "run": turn.request.run_id}, "ask_the_user": question}


def _settle(turn: TurnContext, *more: str) -> None:
    """Forget a proposal that was carried out: one yes books once."""
    if turn.request.entities is not None:
        gone = {"entities_to_remove": [PROPOSAL, *more]}
        turn.request.entities.replied(gone, agent_name=turn.agent)


def _slot_row(slot: Slot) -> Mapping[str, str]:
    return {"slot_id": slot.slot_id, "start": slot.start.strftime("%Y-%m-%d %H:%M")}


def _appointment_row(each: Appointment) -> Mapping[str, str]:
    return {
        "appointment_id": each.appointment_id,
        "start": each.start.strftime("%Y-%m-%d %H:%M"),
        "doctor_id": each.doctor_id,
        "reason": each.reason,
    }


def no_clinic_tools() -> Sequence[Tool]:
    """Return the same tools for a server that no clinic is connected to."""

    async def refused(_: TurnContext, __: BaseModel) -> ToolOutput:
        raise ToolInputError("the clinic's timetable is not connected; tell the user")

    return [Tool(name, "Not connected.", NoArguments, refused) for name in SCHEDULING_TOOLS]
