"""Which of the patient's appointments the user means; where that is not plain, they are asked."""

from collections.abc import Sequence

from data_models.clock import IdSource
from data_models.errors import ToolInputError
from group_chat.turn_context import TurnContext
from services.group_chat_port import QuestionAsked
from services.scheduling.ports import Appointment
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.resolution import NotFound, ids_of
from services.tool_memory.session import ToolMemorySession

_WHICH = "several may be meant; the user is asked which; say no more"
_UNCLEAR = (
    "it is not clear which of the patient's appointments is meant; use list_appointments first, "
    "then ask the user to name it"
)


def own_appointment(
    turn: TurnContext, given: str, booked: Sequence[Appointment], *, ids: IdSource
) -> Appointment:
    """Return the one of `booked` that is meant; a model's id is a hint, the user's words decide.

    Raises:
        ToolInputError: none is meant, or several may be; then the user is asked which.
    """
    own = {each.appointment_id: each for each in booked}
    hint = own.get(given.removeprefix(CLINIC_PREFIX))
    memory = turn.request.tool_memory
    said = [] if memory is None else _meant(memory, hint)
    fitting = [own[one] for one in said if one in own]
    if len(fitting) == 1:
        return fitting[0]
    if memory is not None and fitting:
        _ask_which(turn, memory, fitting, ids)
        raise ToolInputError(_WHICH)
    if hint is None:
        raise ToolInputError(_UNCLEAR)
    return hint


def _meant(memory: ToolMemorySession, hint: Appointment | None) -> list[str]:
    """Return the ids that the user's words may mean, none where they say nothing of it."""
    given = {} if hint is None else {"id": f"{CLINIC_PREFIX}{hint.appointment_id}"}
    found = memory.resolve("calendar_event", given, at_clinic=True, asks_first=True)
    if isinstance(found, NotFound):
        return []
    return [one.removeprefix(CLINIC_PREFIX) for one in ids_of(found)]


def _ask_which(
    turn: TurnContext, memory: ToolMemorySession, fitting: Sequence[Appointment], ids: IdSource
) -> None:
    candidates = [f"{CLINIC_PREFIX}{each.appointment_id}" for each in fitting]
    lines = [f"{number}. {memory.name_of(one)}" for number, one in enumerate(candidates, 1)]
    payload = {"candidates": candidates, "asked": memory.request, "agent": turn.agent}
    text = "\n".join(["Which appointment do you mean?", *lines])
    turn.ask(QuestionAsked(ids.new_id("question"), "which_entity", text, payload))
    memory.listed(candidates)
