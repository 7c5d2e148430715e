"""What the Assistant does only after a yes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from data_models.errors import AssistantError
from data_models.tool_memory import EntityType
from services.assistant.back_end import AssistantBackEnd, AssistantServices
from services.assistant.made_for import MadeFor
from services.assistant.undo_log import UndoLog

Action: TypeAlias = Literal[
    "cancel_event", "send_mail", "delete_contact", "delete_task", "delete_document", "complete_task"
]


@dataclass(frozen=True, slots=True)
class ActionWords:
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


ACTION_WORDS: Mapping[Action, ActionWords] = {
    "cancel_event": ActionWords("calendar_event", "Cancel", "Cancelled"),
    "send_mail": ActionWords("email", "Send", "Sent", removes=False),
    "delete_contact": ActionWords("contact", "Delete", "Deleted"),
    "delete_task": ActionWords("task", "Delete", "Deleted"),
    "delete_document": ActionWords("document", "Delete", "Deleted"),
    "complete_task": ActionWords("task", "Complete", "Done", removes=False),
}


def action_of(name: object) -> Action:
    """Return a stored name as an action.

    Raises:
        AssistantError: there is none of that name.
    """
    if name not in ACTION_WORDS:
        raise AssistantError("that request is unknown")
    return cast(Action, name)


def question_of(action: Action, names: Sequence[str]) -> str:
    """Return what the user is asked: it names every item that a yes is bound to."""
    if len(names) == 1:
        return f"{ACTION_WORDS[action].verb} {names[0]}? yes / no"
    lines = [f"{number}. {name}" for number, name in enumerate(names, 1)]
    return "\n".join([f"{ACTION_WORDS[action].verb} these {len(names)}? yes / no", *lines])


def items_of(payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return id and name of each item that a stored question is about."""
    rows = payload.get("items") or [payload]
    return [(str(row["entity_id"]), str(row["name"])) for row in rows]


@dataclass(frozen=True, kw_only=True)
class AssistantService:
    """What confirmed actions are carried out with. Holds no state of any turn."""

    back_end: AssistantBackEnd
    undo_log: UndoLog
    made_for: MadeFor


async def carry_out(services: AssistantServices, action: Action, item_id: str) -> bool:
    """Do what was confirmed; False if the item was gone already.

    Raises:
        AssistantError: it could not be done; nothing was changed.
    """
    if action == "send_mail":
        return await services.mail.send(item_id)
    if action == "complete_task":
        found = await services.tasks.get(item_id)
        return found is not None and (await services.tasks.complete(item_id)).is_done
    return await services.things(ACTION_WORDS[action].kind).delete(item_id)
