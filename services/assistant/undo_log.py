"""What a user's own tools changed without a yes, so that "undo" takes the newest back.

It lies beside the user's own services, in no patient's document and in no conversation: a move is
its user's wherever it was asked for. Only how the item was before is kept, for ten minutes.
"""

from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import Value
from services.assistant.back_end import AssistantServices
from services.assistant.calendar import CalendarEvent, Task
from services.assistant.contacts import Contact, ContactChange
from services.assistant.shown import kind_of

UNDO_FOR = timedelta(minutes=10)
KEPT_ACTIONS = 10
Undoable: TypeAlias = Literal[
    "create_event", "move_event", "add_task", "complete_task", "move_task", "add_contact",
    "change_contact",
]  # fmt: skip
OwnItem: TypeAlias = CalendarEvent | Task | Contact


class UndoableAction(Value):
    """One change, and what brings it back.

    Attributes:
        patient: One-way name of the patient whose chart was open; "" if none was.
        before: The item before the change; None if it was made.
        after: The item after it; where it is not so any more, nothing is undone.
    """

    tool: Undoable
    patient: str
    conversation: str
    at: datetime
    before: OwnItem | None
    after: OwnItem


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

    async def newest(
        self, principal_id: str, *, now: datetime, deed: str = ""
    ) -> UndoableAction | None:
        """Return the newest action of ten minutes, or the one at `deed`; None if there is none."""
        blob = await self._store.read(_name(principal_id))
        kept = _actions(None if blob is None else blob.data)
        actions = [one for one in kept if deed in ("", str(one.at))]
        return actions[-1] if actions and now - actions[-1].at <= UNDO_FOR else None

    async def forget(self, action: UndoableAction, *, principal_id: str) -> None:
        """Take an action out, once it is undone or cannot be."""

        def left(before: bytes | None) -> bytes:
            return _ACTIONS.dump_json([one for one in _actions(before) if one != action])

        await change_blob(self._store, _name(principal_id), left, what="what can be undone")


def _name(principal_id: str) -> str:
    return f"assistant/{hashed('assistant', principal_id)}/undo.json"


def patient_name(patient_id: PatientId | None) -> str:
    """Return the one-way name by which an action knows a patient."""
    return "" if patient_id is None else hashed("undo", patient_id)


async def undo_action(action: UndoableAction, services: AssistantServices) -> OwnItem | None:
    """Bring the item back to what it was, and return it; None if it is gone or changed since.

    Raises:
        AssistantError: it could not be done; nothing was changed.
    """
    item, before = await item_of(action, services), action.before
    if item is None or item != action.after:
        return None
    if before is not None:
        return await _restore(before, item, services)
    await services.things(kind_of(item)).delete(item.id)
    return item


async def item_of(action: UndoableAction, services: AssistantServices) -> OwnItem | None:
    """Return the item as it is now; None if it is gone."""
    found: OwnItem | None = await services.things(kind_of(action.after)).get(action.after.id)
    return found


async def _restore(before: OwnItem, now: OwnItem, services: AssistantServices) -> OwnItem:
    match before:
        case CalendarEvent():
            length = before.end - before.start
            return await services.calendar.move(before.id, start=before.start, length=length)
        case Task() if isinstance(now, Task) and now.is_done != before.is_done:
            return await services.tasks.reopen(before.id)
        case Task():
            return await services.tasks.move(before.id, due=before.due, title=before.title)
        case Contact(name=name, email=email, phone=phone, organization=organization):
            was = ContactChange(name=name, email=email, phone=phone, organization=organization)
            return await services.contacts.change(before.id, was)


def _actions(data: bytes | None) -> list[UndoableAction]:
    try:
        return [] if data is None else _ACTIONS.validate_json(data)
    except ValidationError:
        return []  # what cannot be read is undone by nobody; the items are as they are
