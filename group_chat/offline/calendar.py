"""The offline rules of the Assistant: call the calendar's tools, then write down what they gave."""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.offline.reply import Call, OfflineReply

CALENDAR_TOOL = "list_events"
_CANCEL_TOOL = "cancel_event"
_CANCEL = re.compile(r"(?i)\b(?:cancel|delete|remove|drop|call off)\b")
_MOVE = re.compile(r"(?i)\b(?:move|reschedule|postpone|create|book|schedule|free)\b")
_DAYS = (("day after tomorrow", 2), ("tomorrow", 1), ("today", 0))
_ONLY = "Offline I can list and cancel events; to move or create one needs a language model."


def answer_as_calendar(prompt: Prompt) -> OfflineReply:
    """Call one tool, or report what it gave."""
    if prompt.answers:
        return OfflineReply(text=_report(prompt.answers[-1]))
    name = _CANCEL_TOOL if _CANCEL.search(prompt.asked) else CALENDAR_TOOL
    tool = prompt.tool(name)
    if tool is None or (name == CALENDAR_TOOL and _MOVE.search(prompt.asked)):
        return OfflineReply(text=_ONLY)
    given = {"event_id": ""} if name == _CANCEL_TOOL else _span(prompt)
    return OfflineReply(calls=(Call(tool.wire_name, given),))


def _span(prompt: Prompt) -> dict[str, str]:
    """Return the day that the user names; none is the tool's own span."""
    ahead = next((days for word, days in _DAYS if word in prompt.asked.casefold()), None)
    made = str(prompt.snapshot.get("generated_at", ""))[:10]
    if ahead is None or not made:
        return {}
    day = (date.fromisoformat(made) + timedelta(days=ahead)).isoformat()
    return {"since": day, "until": day}


def _report(answer: ToolAnswer) -> str:
    data = answer.data
    if "error" in data:
        return f"I changed nothing: {data['error']}."
    if answer.name.endswith(_CANCEL_TOOL):
        return "Please confirm:"
    rows = data.get("events") or []
    if not rows:
        return "There is nothing in your calendar then."
    return "\n".join(["**Your calendar**", *(_line(row) for row in rows)])


def _line(row: Mapping[str, Any]) -> str:
    start = datetime.fromisoformat(str(row["start"]))
    form = "%a %-d %b" if row.get("is_all_day") else "%a %-d %b %H:%M"
    place = f" ({row['location']})" if row.get("location") else ""
    return f"- {start:{form}} {row.get('title', '')}{place}"
