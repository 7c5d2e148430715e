"""What the Assistant does only after a yes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal, TypeAlias, cast

from data_models.errors import AssistantError
from data_models.tool_memory import EntityType
from services.assistant.back_end import AssistantBackEnd, AssistantServices

Action: TypeAlias = Literal[
    "cancel_event", "send_mail", "delete_contact", "delete_task", "delete_document"
]


@dataclass(frozen=True, slots=True)
class Deed:
    """One kind of action that needs a yes.

    Attributes:
        verb: As the question begins: `Cancel`.
        done: As the report begins: `Cancelled`.
        removes: Whether the item is gone afterwards.
    """

    kind: EntityType
    verb: str
    done: str
    removes: bool = True


DEEDS: Mapping[Action, Deed] = {
    "cancel_event": Deed("calendar_event", "Cancel", "Cancelled"),
    "send_mail": Deed("email", "Send", "Sent", removes=False),
    "delete_contact": Deed("contact", "Delete", "Deleted"),
    "delete_task": Deed("task", "Delete", "Deleted"),
    "delete_document": Deed("document", "Delete", "Deleted"),
}


def action_of(name: object) -> Action:
    """Return a stored name as an action.

    Raises:
        AssistantError: there is none of that name.
    """
    if name not in DEEDS:
        raise AssistantError("that request is unknown")
    return cast(Action, name)


def question_of(action: Action, name: str) -> str:
    """Return what the user is asked: it names the one item that a yes is bound to."""
    return f"{DEEDS[action].verb} {name}? yes / no"


class AssistantService:
    """Carries out confirmed actions. Holds no state of any turn."""

    def __init__(self, *, back_end: AssistantBackEnd) -> None:
        self._back_end = back_end

    async def perform(
        self, action: Action, item_id: str, *, principal_id: str, zone: tzinfo
    ) -> bool:
        """Do what was confirmed; False if the item was gone already.

        Raises:
            AssistantError: it could not be done; nothing was changed.
        """
        services = self._back_end.of(principal_id, zone=zone)
        return await _done(services, action, item_id)


async def _done(services: AssistantServices, action: Action, item_id: str) -> bool:
    match action:
        case "cancel_event":
            return await services.calendar.cancel(item_id)
        case "send_mail":
            return await services.mail.send(item_id)
        case "delete_contact":
            return await services.contacts.delete(item_id)
        case "delete_task":
            return await services.tasks.delete(item_id)
        case "delete_document":
            return await services.documents.delete(item_id)
