"""What the Assistant's tools gave, written down without a language model."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from group_chat.offline.prompt import Prompt, ToolAnswer
from services.language.own_texts import in_own_language
from services.language.talk_texts import day_text

# Where the results of tools hold their rows; our texts about each have the tool's name.
_LISTS = {
    "list_events": "events",
    "search_mail": "messages",
    "search_contacts": "contacts",
    "list_tasks": "tasks",
    "search_documents": "documents",
}
_CHANGES = {
    "create_event": "created",
    "move_event": "moved",
    "draft_mail": "draft",
    "add_contact": "added",
    "change_contact": "changed",
    "add_task": "added",
    "complete_task": "done",
    "move_task": "moved",
}


def report_of(prompt: Prompt, answer: ToolAnswer) -> str:
    """Return one tool's result as a user reads it."""
    name, data = answer.name.rpartition("-")[2], answer.data
    if "error" in data:
        return _failure(prompt, str(data["error"]))
    if "asked" in data:
        return prompt.text("please_confirm")
    if name in _LISTS:
        return _list(prompt, name, data)
    if name in _CHANGES:
        rows = [_line(prompt, row) for row in data.get(_CHANGES[name], ())]
        return "\n".join([f"**{prompt.text(f'did_{name}')}**", *rows])
    return _text(prompt, name, data)


def _failure(prompt: Prompt, error: str) -> str:
    if "asked which" in error:
        return prompt.text("please_choose")
    # What follows is advice for a model.
    problem = in_own_language(error.partition(";")[0], prompt.language)
    return prompt.text("changed_nothing", problem=problem)


def _list(prompt: Prompt, name: str, data: Mapping[str, Any]) -> str:
    rows = data.get(_LISTS[name]) or []
    if not rows:
        return prompt.text(f"none_{name}")
    more = [prompt.text("and_more_rows")] if data.get("more") else []
    title = prompt.text(f"title_{name}")
    return "\n".join([f"**{title}**", *(_line(prompt, row) for row in rows), *more])


def _text(prompt: Prompt, name: str, data: Mapping[str, Any]) -> str:
    if name == "find_free_time":
        gaps = [
            prompt.text("gap", since=row["from"][11:16], until=row["to"][11:16])
            for row in data.get("free", ())
        ]
        return "\n".join([prompt.text("free_times"), *gaps]) if gaps else prompt.text("not_free")
    rows = data.get("message") or data.get("document") or [{}]
    row = rows[0] if isinstance(rows, list) else rows
    text = (
        data.get("text") or row.get("body") or data.get("withheld") or prompt.text("holds_no_text")
    )
    quoted = [f"> {line}" for line in str(text).splitlines()]
    return "\n".join([_line(prompt, row).removeprefix("- "), "", *quoted])


def _line(prompt: Prompt, row: Mapping[str, Any]) -> str:
    name = row.get("title") or row.get("subject") or row.get("name") or ""
    when = next(
        (_when(prompt, row[one], row) for one in ("start", "received", "due") if one in row), ""
    )
    more = [row.get(one) for one in ("sender", "location", "organization", "email", "phone")]
    details = ", ".join(str(one) for one in more if one)
    to = ", ".join(row["to"]) if row.get("folder") == "drafts" and row.get("to") else ""
    parts = [
        when,
        str(name),
        f"({details})" if details and not to else "",
        prompt.text("to_somebody", names=to) if to else "",
    ]
    return f"- {' '.join(part for part in parts if part)}"


def _when(prompt: Prompt, text: str, row: Mapping[str, Any]) -> str:
    if len(text) == len("2026-12-02"):
        return day_text(prompt.language, date.fromisoformat(text))
    has_time = not row.get("is_all_day")
    return day_text(prompt.language, datetime.fromisoformat(text), has_time=has_time)
