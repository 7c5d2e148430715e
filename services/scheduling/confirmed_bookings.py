"""What the clinic does only after the user's yes."""

from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any, Literal, TypeAlias, cast

from data_models.identifiers import PatientId
from services.scheduling.clinic import Clinic
from services.scheduling.fhir import Appointment

ClinicAction: TypeAlias = Literal[
    "book_appointment", "move_appointment", "cancel_appointment", "register_person"
]
YES_WORDS: Mapping[ClinicAction, Set[str]] = {
    "book_appointment": {"book it", "book that"},
    "move_appointment": {"move it", "move that"},
    "cancel_appointment": {"cancel it", "cancel that"},
    "register_person": {"register them", "register her", "register him"},
}
"""What besides a yes agrees to each."""


@dataclass(frozen=True, slots=True)
class Request:
    """One thing that the user is asked to confirm.

    Attributes:
        agent: Who asked for it, and is told what became of it.
        name: What it is about, as the question names it.
        person: Full name of who is registered.
        birth_date: Theirs, in ISO.
    """

    action: ClinicAction
    agent: str
    name: str
    appointment_id: str = ""
    slot_id: str = ""
    reason: str = ""
    person: str = ""
    birth_date: str = ""

    @property
    def question(self) -> str:
        """What the user is asked: it names the one thing that a yes is bound to."""
        return f"{self.action.partition('_')[0].capitalize()} {self.name}? yes / no"

    @property
    def declined(self) -> str:
        """What the user is told after a no."""
        if self.action == "book_appointment":
            return f"Nothing was booked: {self.name}."
        if self.action == "register_person":
            return f"Nobody was registered: {self.name}."
        return "Nothing was changed; the appointment stays as it was."

    def payload(self) -> dict[str, Any]:
        """Return it as an open question keeps it."""
        return {"action": self.action, "agent": self.agent, "name": self.name, **self.details()}

    def details(self) -> dict[str, str]:
        """Return what it is done with."""
        return {name: value for name, value in asdict(self).items() if value and name in _DETAILS}


_DETAILS = ("appointment_id", "slot_id", "reason", "person", "birth_date")


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a request.

    Attributes:
        key: Under which the agent that asked is told of it: a derived entity.
        value: The id of the appointment or of the person.
        appointment: What stands in the timetable now, as its list shows it; empty if nothing does.
    """

    text: str
    key: Literal["appointment_id", "patient_id_retrieved"]
    value: str
    appointment: Mapping[str, str] = field(default_factory=dict)


def request_of(payload: Mapping[str, Any]) -> Request | None:
    """Return what an open question asks about; None if that is nothing of the clinic's."""
    if payload.get("action") not in YES_WORDS:
        return None
    texts = {name: str(payload.get(name, "")) for name in _DETAILS}
    action = cast(ClinicAction, payload["action"])
    return Request(action, str(payload["agent"]), str(payload["name"]), **texts)


async def perform(clinic: Clinic, request: Request, *, patient_id: PatientId) -> Done:
    """Do what was confirmed, once, however often it is asked.

    Raises:
        ToolInputError: the time or the appointment is no longer there; nothing was changed.
        RecordsError: the records do not answer; it may or may not have been done.
    """
    match request.action:
        case "book_appointment":
            booked = await clinic.book(patient_id, request.slot_id, request.reason)
            return await _stands(clinic, f"Booked: {request.name}.", booked)
        case "move_appointment":
            moved = await clinic.move(patient_id, request.appointment_id, request.slot_id)
            return await _stands(clinic, f"Moved: {request.name}.", moved)
        case "cancel_appointment":
            gone = await clinic.cancel(patient_id, request.appointment_id)
            return Done(f"Cancelled: {request.name}.", "appointment_id", gone.appointment_id)
        case "register_person":
            born = date.fromisoformat(request.birth_date)
            person = await clinic.register(request.person, born)
            return Done(f"Registered: {request.name}.", "patient_id_retrieved", person.person_id)


async def _stands(clinic: Clinic, text: str, each: Appointment) -> Done:
    row = {
        "appointment_id": each.appointment_id,
        "start": f"{each.start:%Y-%m-%d %H:%M}",
        "doctor": await clinic.doctor_name(each.doctor_id),
    }
    return Done(text, "appointment_id", each.appointment_id, row)
