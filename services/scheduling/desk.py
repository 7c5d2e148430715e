"""What the clinic does only after the user's yes."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from data_models.identifiers import PatientId
from services.scheduling.ports import Appointment, Appointments

ClinicAction: TypeAlias = Literal["book_appointment", "move_appointment", "cancel_appointment"]
YES_WORDS: Mapping[ClinicAction, Set[str]] = {
    "book_appointment": {"book it", "book that"},
    "move_appointment": {"move it", "move that"},
    "cancel_appointment": {"cancel it", "cancel that"},
}
"""What besides a yes agrees to each."""


@dataclass(frozen=True, slots=True)
class Request:
    """One thing that the user is asked to confirm.

    Attributes:
        agent: Who asked for it, and is told what became of it.
        name: What it is about, as the question names it.
    """

    action: ClinicAction
    agent: str
    name: str
    appointment_id: str = ""
    slot_id: str = ""
    reason: str = ""

    @property
    def question(self) -> str:
        """What the user is asked: it names the one appointment that a yes is bound to."""
        return f"{self.action.partition('_')[0].capitalize()} {self.name}? yes / no"

    @property
    def declined(self) -> str:
        """What the user is told after a no."""
        if self.action == "book_appointment":
            return f"Nothing was booked: {self.name}."
        return "Nothing was changed; the appointment stays as it was."

    def payload(self) -> dict[str, Any]:
        """Return it as an open question keeps it."""
        return {
            "action": self.action,
            "agent": self.agent,
            "name": self.name,
            "appointment_id": self.appointment_id,
            "slot_id": self.slot_id,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a request."""

    text: str
    appointment: Appointment


def request_of(payload: Mapping[str, Any]) -> Request | None:
    """Return what an open question asks about; None if that is nothing of the clinic's."""
    if payload.get("action") not in YES_WORDS:
        return None
    texts = {name: str(payload.get(name, "")) for name in ("appointment_id", "slot_id", "reason")}
    action = cast(ClinicAction, payload["action"])
    return Request(action, str(payload["agent"]), str(payload["name"]), **texts)


class ClinicDesk:
    """Carries out confirmed requests. Holds no state of any turn."""

    def __init__(self, *, appointments: Appointments) -> None:
        self._appointments = appointments

    async def perform(self, request: Request, *, patient_id: PatientId) -> Done:
        """Do what was confirmed, once, however often it is asked.

        Raises:
            ToolInputError: the time or the appointment is no longer there; nothing was changed.
            RecordsError: the records do not answer; it may or may not have been done.
        """
        match request.action:
            case "book_appointment":
                booked = await self._appointments.book(patient_id, request.slot_id, request.reason)
                return Done(f"Booked: {request.name}.", booked)
            case "move_appointment":
                moved = await self._appointments.move(
                    patient_id, request.appointment_id, request.slot_id
                )
                return Done(f"Moved: {request.name}.", moved)
            case "cancel_appointment":
                gone = await self._appointments.cancel(patient_id, request.appointment_id)
                return Done(f"Cancelled: {request.name}.", gone)
