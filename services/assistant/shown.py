"""Items of the Assistant as tools give them to models, and as questions name them. Pure."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime, tzinfo
from typing import Any, TypeAlias

from data_models.chart_view import in_written_order
from data_models.tool_memory import EntityType
from services.assistant.calendar import CalendarEvent, Task
from services.assistant.contacts import Contact
from services.assistant.documents import PersonalDocument
from services.assistant.mail import MAIL_TEXT_LIMIT_CHARS, Email
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
