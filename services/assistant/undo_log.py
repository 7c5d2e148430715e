"""What the Assistant shows, does after a yes, and takes back at "undo".

What a user's own tools changed without a yes lies beside the user's own services, in no patient's
document and in no conversation: a move is its user's wherever it was asked for. Only how the item
was before is kept, for ten minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

from pydantic import TypeAdapter, ValidationError

from data_models.chart_view import in_written_order
from data_models.errors import AssistantError
from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.tool_memory import EntityType
from data_models.values import Value
from services.assistant.back_end import AssistantBackEnd, AssistantServices, MadeFor
from services.assistant.own_things import (
    MAIL_TEXT_LIMIT_CHARS,
    CalendarEvent,
    Contact,
    ContactChange,
    Email,
    PersonalDocument,
    Task,
)
from services.language.words.talk_texts import day_near
from services.tool_memory.extractors import other_of

NAME_LIMIT_CHARS = 120
Item: TypeAlias = CalendarEvent | Email | Contact | Task | PersonalDocument
_KINDS: Mapping[type[Item], EntityType] = {
    CalendarEvent: "calendar_event",
    Email: "email",
    Contact: "contact",
    Task: "task",
    PersonalDocument: "document",
}
ABOUT_ANOTHER = "about another patient"
"""What is shown of an item that was made while another chart was open."""
_NAMES = frozenset({"title", "subject", "name"})


def kind_of(item: Item) -> EntityType:
    """Return what tool memory calls an item."""
    return _KINDS[type(item)]


def shown(item: Item, zone: tzinfo) -> dict[str, Any]:
    """Return an item as a row of a tool's result: as `whole`, with texts of bounded length."""
    row = whole(item, zone)
    short = {name: row[name][:NAME_LIMIT_CHARS] for name in _NAMES & row.keys()}
    return row | short | ({"body": row["body"][:MAIL_TEXT_LIMIT_CHARS]} if "body" in row else {})


def whole(item: Item, zone: tzinfo) -> dict[str, Any]:
    """Return an item with all its words: no empty fields, times in the user's zone.

    Whether it names another patient is looked up here, never in what was cut short.
    """
    row = {name: _plain(value, zone) for name, value in asdict(item).items()}
    kept = {name: value for name, value in row.items() if value not in ("", [], None, False)}
    if "text" in kept:
        kept["body"] = kept.pop("text")  # which nobody's words are looked for in
    return {"kind": kind_of(item), **kept}


def spoken(item: Item, zone: tzinfo, *, now: datetime, is_private: bool = False) -> str:
    """Return an item as a question names it `now`: *Tumor board*, Wed 2 Dec 15:00."""
    name = other_of(kind_of(item)) if is_private else _name(item)
    name = (
        " ".join(in_written_order(name).split())[:NAME_LIMIT_CHARS]
        .replace("*", "")
        .replace("`", "")
    )
    more = _particulars(item, now.astimezone(zone), is_private=is_private)
    return f"*{name}*, {more}" if more else f"*{name}*"


def _name(item: Item) -> str:
    match item:
        case CalendarEvent() | Task():
            return item.title
        case Email():
            return item.subject or "(no subject)"
        case Contact() | PersonalDocument():
            return item.name


def _particulars(item: Item, now: datetime, *, is_private: bool) -> str:
    zone = now.tzinfo
    match item:
        case CalendarEvent():
            return day_near(item.start.astimezone(zone), now, has_time=not item.is_all_day)
        case Email(folder="drafts"):
            return "" if is_private else f"to {', '.join(item.to)}"
        case Email():
            return day_near(item.received.astimezone(zone), now, has_time=True)
        case Contact():
            return "" if is_private else item.email or item.phone
        case Task():
            return "" if item.due is None else f"due {item.due:%a %-d %b %Y}"
        case PersonalDocument():
            return f"{item.modified.astimezone(zone):%a %-d %b %Y}"


def _plain(value: Any, zone: tzinfo) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(zone).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


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

        await change_blob(self._store, _blob_name(principal_id), noted, what="what can be undone")

    async def newest(
        self, principal_id: str, *, now: datetime, deed: str = ""
    ) -> UndoableAction | None:
        """Return the newest action of ten minutes, or the one at `deed`; None if there is none."""
        blob = await self._store.read(_blob_name(principal_id))
        kept = _actions(None if blob is None else blob.data)
        actions = [one for one in kept if deed in ("", str(one.at))]
        return actions[-1] if actions and now - actions[-1].at <= UNDO_FOR else None

    async def forget(self, action: UndoableAction, *, principal_id: str) -> None:
        """Take an action out, once it is undone or cannot be."""

        def left(before: bytes | None) -> bytes:
            return _ACTIONS.dump_json([one for one in _actions(before) if one != action])

        await change_blob(self._store, _blob_name(principal_id), left, what="what can be undone")


def _blob_name(principal_id: str) -> str:
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
    """Everybody's own services, and what is kept beside them in `store`. Holds no state."""

    back_end: AssistantBackEnd
    store: BlobStore

    @cached_property
    def undo_log(self) -> UndoLog:
        """What their users can take back."""
        return UndoLog(store=self.store)

    @cached_property
    def made_for(self) -> MadeFor:
        """In whose charts items were made."""
        return MadeFor(store=self.store)


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
