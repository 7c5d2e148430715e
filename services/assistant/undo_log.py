"""What a user's own tools changed, so that "undo" takes the newest back.

What was deleted is made again, as a new item. It lies beside the user's own services, in no
patient's document and in no conversation: a move is its user's wherever it was asked for. Only how
the item was before is kept, for ten minutes.
"""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from data_models.blob_changes import change_blob
from data_models.blob_store import BlobStore
from data_models.effects import Effect
from data_models.errors import AssistantError
from data_models.identifiers import PatientId, hashed
from data_models.values import Value
from services.assistant.back_end import AssistantServices
from services.assistant.calendar import CalendarEvent, NewEvent
from services.assistant.contacts import Contact, ContactChange, NewContact
from services.assistant.shown import Item
from services.assistant.tasks import NewTask, Task

UNDO_FOR = timedelta(minutes=10)
KEPT_ACTIONS = 10
Undoable: TypeAlias = Literal[
    "create_event",
    "move_event",
    "add_task",
    "complete_task",
    "move_task",
    "add_contact",
    "change_contact",
    "cancel_event",
    "delete_task",
    "delete_contact",
]
DELETES = ("cancel_event", "delete_task", "delete_contact")
_FIELDS = ("name", "email", "phone", "organization")


class UndoableAction(Value):
    """One change, and what brings it back.

    Attributes:
        patient: One-way name of the patient whose chart was open; "" if none was.
        conversation: The conversation's id; "" of one that an earlier server noted.
        before: What was so of the item; which fields, the tool says.
        after: The same after the change; where it is not so any more, nothing is undone.
    """

    tool: Undoable
    item_id: str
    patient: str
    conversation: str = ""
    at: datetime
    before: dict[str, str]
    after: dict[str, str]


_ACTIONS = TypeAdapter(list[UndoableAction])


class UndoLog:
    """Each user's newest actions. Holds nothing of anybody."""

    def __init__(self, *, store: BlobStore) -> None:
        self._store = store

    async def note(self, action: UndoableAction, *, principal_id: str) -> None:
        """Remember an action; the newest ten stay.

        Raises:
            StoreError: it could not be stored.
        """

        def noted(before: bytes | None) -> bytes:
            kept = [one for one in _actions(before) if action.at - one.at <= UNDO_FOR]
            return _ACTIONS.dump_json([*kept, action][-KEPT_ACTIONS:])

        await change_blob(self._store, _name(principal_id), noted, what="what can be undone")

    async def newest(self, principal_id: str, *, now: datetime) -> UndoableAction | None:
        """Return the newest action of the last ten minutes; None if there is none."""
        blob = await self._store.read(_name(principal_id))
        actions = _actions(None if blob is None else blob.data)
        return actions[-1] if actions and now - actions[-1].at <= UNDO_FOR else None

    async def forget(self, action: UndoableAction, *, principal_id: str) -> None:
        """Take an action out, once it is undone or cannot be."""

        def left(before: bytes | None) -> bytes:
            return _ACTIONS.dump_json([one for one in _actions(before) if one != action])

        await change_blob(self._store, _name(principal_id), left, what="what can be undone")


def _name(principal_id: str) -> str:
    return f"assistant/{hashed('assistant', principal_id)}/undo.json"


def undoable_action(
    tool: Undoable,
    before: Item,
    after: Item,
    *,
    patient_id: PatientId | None,
    conversation_id: str,
    at: datetime,
) -> UndoableAction:
    """Return the action that made `after` of `before` while the chart of a patient was open."""
    return UndoableAction(
        tool=tool,
        item_id=after.id,
        patient=patient_name(patient_id),
        conversation=conversation_id,
        at=at,
        before=_state(tool, before),
        after=_state(tool, after),
    )


def patient_name(patient_id: PatientId | None) -> str:
    """Return the one-way name by which an action knows a patient."""
    return "" if patient_id is None else hashed("undo", patient_id)


async def undo_action(action: UndoableAction, services: AssistantServices) -> Item | None:
    """Bring the item back to what it was, and return it; None if it is gone or changed since.

    Raises:
        AssistantError: it could not be done; nothing was changed.
    """
    if action.tool in DELETES:
        return await _make_again(action, services)
    item = await item_of(action, services)
    if item is None or _state(action.tool, item) != action.after:
        return None
    return await _bring_back(action, item, services)


async def item_of(action: UndoableAction, services: AssistantServices) -> Item | None:
    """Return the item as it is now; one that was deleted as it was."""
    match action.tool:
        case "cancel_event" | "delete_task" | "delete_contact":
            return _deleted(action)
        case "create_event" | "move_event":
            return await services.calendar.get(action.item_id)
        case "add_task" | "complete_task" | "move_task":
            return await services.tasks.get(action.item_id)
        case "add_contact" | "change_contact":
            return await services.contacts.get(action.item_id)


def may_make_again(item: Item | None) -> bool:
    """Whether a new item would be the same: nobody is invited anew, nor a whole day made."""
    match item:
        case CalendarEvent(is_all_day=is_all_day, attendees=attendees):
            return not is_all_day and not attendees
        case Task(is_done=is_done):
            return not is_done
        case _:
            return isinstance(item, Contact)


def _deleted(action: UndoableAction) -> CalendarEvent | Task | Contact:
    was = action.before
    match action.tool:
        case "cancel_event":
            start, end = (datetime.fromisoformat(was[one]) for one in ("start", "end"))
            place = was["location"]
            return CalendarEvent(
                id=action.item_id, title=was["title"], start=start, end=end, location=place
            )
        case "delete_task":
            return Task(
                id=action.item_id, title=was["title"], due=_day(was["due"]), notes=was["notes"]
            )
        case _:
            return Contact(id=action.item_id, **was)


async def _make_again(action: UndoableAction, services: AssistantServices) -> Item:
    effect = Effect(f"{action.item_id} {action.at.isoformat()}")
    match _deleted(action):
        case CalendarEvent(title=title, start=start, end=end, location=location):
            return await services.calendar.create(NewEvent(title, start, end, location), effect)
        case Task(title=title, due=due, notes=notes):
            return await services.tasks.add(NewTask(title=title, due=due, notes=notes), effect)
        case Contact():
            return await services.contacts.add(NewContact(**action.before), effect)


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None


async def _bring_back(action: UndoableAction, item: Item, services: AssistantServices) -> Item:
    was = action.before
    match action.tool:
        case "create_event":
            await services.calendar.cancel(action.item_id)
            return item
        case "add_task":
            await services.tasks.delete(action.item_id)
            return item
        case "move_event":
            start = datetime.fromisoformat(was["start"])
            return await services.calendar.move(action.item_id, start=start)
        case "complete_task":
            return await services.tasks.reopen(action.item_id)
        case "move_task":
            due, title = _day(was["due"]), was.get("title", "")
            return await services.tasks.move(action.item_id, due=due, title=title)
        case "add_contact":
            await services.contacts.delete(action.item_id)
            return item
        case "change_contact":
            change = replace(ContactChange(), **was)
            return await services.contacts.change(action.item_id, change)
        case _:
            return await _make_again(action, services)


def _state(tool: Undoable, item: Item) -> dict[str, str]:
    match item:
        case CalendarEvent() if tool == "cancel_event":
            start, end = (one.astimezone(UTC).isoformat() for one in (item.start, item.end))
            return {"title": item.title, "start": start, "end": end, "location": item.location}
        case CalendarEvent():
            return {"start": item.start.astimezone(UTC).isoformat()}
        case Task() if tool == "complete_task":
            return {"is_done": str(item.is_done)}
        case Task():
            due = "" if item.due is None else item.due.isoformat()
            notes = {"notes": item.notes} if tool == "delete_task" else {}
            return {"due": due, "title": item.title, **notes}
        case Contact(name=name, email=email, phone=phone, organization=organization):
            return dict(zip(_FIELDS, (name, email, phone, organization), strict=True))
        case _:
            raise AssistantError("that kind of change cannot be undone")


def _actions(data: bytes | None) -> list[UndoableAction]:
    try:
        return [] if data is None else _ACTIONS.validate_json(data)
    except ValidationError:
        return []  # what cannot be read is undone by nobody; the items are as they are
