"""What the Assistant's tools gave, written down without a language model."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from group_chat.offline.prompt import ToolAnswer

_LISTS = {
    "list_events": ("events", "Your calendar", "There is nothing in your calendar then."),
    "search_mail": ("messages", "Your mail", "No message fits."),
    "search_contacts": ("contacts", "Your contacts", "No contact fits."),
    "list_tasks": ("tasks", "Your tasks", "No task is open then."),
    "search_documents": ("documents", "Your documents", "No document fits."),
}
_CHANGES = {
    "create_event": ("created", "It is in your calendar"),
    "move_event": ("moved", "Moved"),
    "draft_mail": ("draft", "Drafted, not sent"),
    "add_contact": ("added", "Added"),
    "change_contact": ("changed", "Changed"),
    "add_task": ("added", "Added"),
    "complete_task": ("done", "Done"),
    "move_task": ("moved", "Moved"),
}


def report_of(answer: ToolAnswer) -> str:
    """Return one tool's result as a user reads it."""
    name, data = answer.name.rpartition("-")[2], answer.data
    if "error" in data:
        return _failure(str(data["error"]))
    if "asked" in data:
        return "Please confirm:"
    if name in _LISTS:
        return _list(name, data)
    if name in _CHANGES:
        field, title = _CHANGES[name]
        return "\n".join([f"**{title}**", *(_line(row) for row in data.get(field, ()))])
    return _text(name, data)


def _failure(error: str) -> str:
    if "asked which" in error:
        return "Please choose:"
    # What follows is advice for a model.
    return f"I changed nothing: {error.partition(';')[0]}."


def _list(name: str, data: Mapping[str, Any]) -> str:
    field, title, nothing = _LISTS[name]
    rows = data.get(field) or []
    if not rows:
        return nothing
    more = ["- … and more"] if data.get("more") else []
    return "\n".join([f"**{title}**", *(_line(row) for row in rows), *more])


def _text(name: str, data: Mapping[str, Any]) -> str:
    if name == "find_free_time":
        gaps = [f"- {row['from'][11:16]} to {row['to'][11:16]}" for row in data.get("free", ())]
        return "\n".join(["**You are free**", *gaps]) if gaps else "You are not free then."
    rows = data.get("message") or data.get("document") or [{}]
    row = rows[0] if isinstance(rows, list) else rows
    text = data.get("text") or row.get("body") or data.get("withheld") or "It holds no text."
    quoted = [f"> {line}" for line in str(text).splitlines()]
    return "\n".join([_line(row).removeprefix("- "), "", *quoted])


def _line(row: Mapping[str, Any]) -> str:
    name = row.get("title") or row.get("subject") or row.get("name") or ""
    when = next((_when(row[one], row) for one in ("start", "received", "due") if one in row), "")
    more = [row.get(one) for one in ("sender", "location", "organization", "email", "phone")]
    details = ", ".join(str(one) for one in more if one)
    to = ", ".join(row["to"]) if row.get("folder") == "drafts" and row.get("to") else ""
    parts = [
        when,
        str(name),
        f"({details})" if details and not to else "",
        f"to {to}" if to else "",
    ]
    return f"- {' '.join(part for part in parts if part)}"


def _when(text: str, row: Mapping[str, Any]) -> str:
    if len(text) == len("2026-12-02"):
        return f"{date.fromisoformat(text):%a %-d %b}"
    form = "%a %-d %b" if row.get("is_all_day") else "%a %-d %b %H:%M"
    return f"{datetime.fromisoformat(text):{form}}"
