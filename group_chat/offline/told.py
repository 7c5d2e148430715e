"""What tools gave, as the built-in rules write it down; adds nothing to what rows say."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from group_chat.offline.prompt import Prompt, ToolAnswer
from services.language.own_texts import in_own_language
from services.language.talk_texts import day_text

_LISTING = ("list_", "search_", "find_", "recall")
_OF_ONE_TEXT = frozenset({"read_mail", "read_own_document"})
# Of results that are no views: what tells a reader nothing.
_SILENT = ("patient_id", "media_type", "artifact_id", "size_bytes", "generated_at", "shortened")


def told_deed(prompt: Prompt, answer: ToolAnswer) -> str:
    """Return the result of a tool that lists or changes something, as a user reads it."""
    data, rows = answer.data, items_in(answer)
    if "asked which" in answer.error:
        return prompt.text("please_choose")
    if answer.error:
        # What a tool says behind what went wrong is advice for a model.
        said, is_order, _ = answer.error.partition("; nothing is prepared")
        problem = (said if is_order else said.partition(";")[0]).rstrip(".")
        return prompt.text("changed_nothing", problem=in_own_language(problem, prompt.language))
    told = str(data.get("told", "")) or ("asked" in data and prompt.text("please_confirm"))
    if told:
        return told
    if answer.name in _OF_ONE_TEXT:
        text = next((str(data[one]) for one in ("text", "withheld") if data.get(one)), "")
        text = text or next((row["body"] for row in rows if row.get("body")), "")
        quoted = (text or prompt.text("holds_no_text")).splitlines()
        return "\n".join([*_lines(prompt, rows), "", *(f"> {line}" for line in quoted)])
    if not rows and answer.name.startswith(_LISTING):
        return prompt.text(f"none_{answer.name}", count=data.get("turns_searched", 0))
    more = [prompt.text("and_more_rows")] if data.get("more") else []
    title = f"**{prompt.text(f'title_{answer.name}')}**"
    return "\n".join([title, *(f"- {line}" for line in _lines(prompt, rows)), *more])


def items_in(answer: ToolAnswer) -> list[Any]:
    """Return what a tool listed or changed: the first list of its result."""
    return next((one for one in answer.data.values() if isinstance(one, list)), [])


def _lines(prompt: Prompt, rows: list[Any]) -> list[str]:
    return [row if isinstance(row, str) else _item_line(prompt, row) for row in rows]


def _item_line(prompt: Prompt, row: Mapping[str, Any]) -> str:
    """Return an appointment, a mail, a task and the like as a line."""
    called = ("title", "subject", "name", "doctor")
    name = next((str(row[one]) for one in called if row.get(one)), "")
    when = next((str(row[one]) for one in ("start", "received", "due") if row.get(one)), "")
    listed = ("sender", "location", "organization", "email", "phone", "reason")
    details = ", ".join(str(row[one]) for one in listed if row.get(one))
    to = ", ".join(row["to"]) if row.get("folder") == "drafts" and row.get("to") else ""
    rest = prompt.text("to_somebody", names=to) if to else f"({details})" if details else ""
    has_time = ":" in when and not row.get("is_all_day")
    at = datetime.fromisoformat(when) if when else None
    # A task may be due in a year, and a mail be of the last: it would read as one of this week.
    has_year = bool(row.get("due")) or (at is not None and prompt.year not in (0, at.year))
    day = ""
    if at is not None:
        day = day_text(prompt.language, at, has_time=has_time, has_year=has_year)
    return " ".join(filter(None, (day, name, rest)))


def plain_rows(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a tool gave that gives no rows of the chart, a field each."""
    for key, value in data.items():
        told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if key not in _SILENT and told:
            yield f"- {key.replace('_', ' ').capitalize()}: {told}"
