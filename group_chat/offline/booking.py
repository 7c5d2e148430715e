"""The offline rules of the agent that arranges appointments: ask, look, propose."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from data_models.errors import ToolInputError
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.tools.clinic_times import day_of, is_consent

BOOKING_TOOL = "book_appointment"
_CANCEL = re.compile(r"(?i)\bcancel\b")
_MOVE = re.compile(r"(?i)\b(move|re-?schedule|postpone|change)\b")
_HOUR = re.compile(r"\W*(\d{1,2})\W*")
_LIST = re.compile(r"(?i)\b(which|what|list|show|my|our|any)\b[^.?!]{0,30}\bappointments\b")
_FIRST_HOUR = 7
_MISSING = {
    "doctor_preference": "Which doctor would you like to see?",
    "date_preference": "Which day suits?",
    "time_preference": "Which time suits?",
}


def answer_as_booking(prompt: Prompt) -> OfflineReply:
    """Go one step on: what is known comes from the entities, never from guesses."""
    call = _follow_up(prompt) if prompt.answers else _first_call(prompt)
    if call is not None:
        return OfflineReply(calls=(call,))
    return OfflineReply(text=_said(prompt) if prompt.answers else _question(prompt))


def _first_call(prompt: Prompt) -> Call | None:
    found, asked = _found(prompt), prompt.asked
    proposal = found.get("appointment_proposal")
    if isinstance(proposal, Mapping) and is_consent(asked):
        return _propose_again(prompt, proposal)
    if _LIST.search(asked):
        return _call(prompt, "list_appointments", {})
    if _CANCEL.search(asked) and "appointment_id" in found:
        appointment = {"appointment_id": found["appointment_id"]}
        return _call(prompt, "cancel_appointment", appointment)
    wanted = _wanted(prompt)
    if "doctor" not in wanted or "day" not in wanted:
        return None
    return _call(prompt, "available_slots", wanted)


def _propose_again(prompt: Prompt, proposal: Mapping[str, Any]) -> Call | None:
    """Ask once more for what the user agrees to after the question was over."""
    tool = str(proposal.get("action"))
    arguments = {key: proposal[key] for key in ("appointment_id", "slot_id") if key in proposal}
    return _call(prompt, tool, arguments | _reason(prompt, tool))


def _follow_up(prompt: Prompt) -> Call | None:
    """Propose the wanted time as soon as it is known to be free."""
    last = prompt.answers[-1]
    if last.name != "available_slots" or not last.data.get("wanted_time_is_free"):
        return None
    slot = {"slot_id": last.data["slots"][0]["slot_id"]}
    appointment_id = _found(prompt).get("appointment_id")
    if appointment_id is not None and _MOVE.search(prompt.asked):
        return _call(prompt, "move_appointment", {"appointment_id": appointment_id, **slot})
    return _call(prompt, BOOKING_TOOL, slot | _reason(prompt, BOOKING_TOOL))


def _said(prompt: Prompt) -> str:
    lines: list[str] = []
    for answer in prompt.answers:
        lines += _lines(prompt, answer.name, answer.data)
    return "\n".join(lines)


def _lines(prompt: Prompt, tool: str, data: Mapping[str, Any]) -> list[str]:
    if "error" in data:
        return [f"That did not work: {data['error']}."]
    if "proposal" in data:
        # The server asks; what was found free is said already.
        alone = len(prompt.answers) == 1
        return [f"I propose this: {_proposed(data['proposal'])}."] if alone else []
    if tool == "list_appointments":
        rows = [f"- {row['start']} ({row['doctor_id']})" for row in data.get("appointments", ())]
        return rows or ["There are no appointments."]
    return _times(prompt, data)


def _proposed(proposal: Mapping[str, Any]) -> str:
    verb = str(proposal.get("action")).partition("_")[0]
    return " ".join(
        [verb, "the appointment", *([str(proposal["start"])] if "start" in proposal else [])]
    )


def _times(prompt: Prompt, data: Mapping[str, Any]) -> list[str]:
    slots = [str(row["start"])[-5:] for row in data.get("slots", ())]
    head = f"{data.get('doctor', 'The doctor')}, {data.get('day', '')}"
    if data.get("wanted_time_is_free"):
        return [f"{head} at {slots[0]} is free."]
    if not slots:
        return [f"{head}: nothing is free that day.", _MISSING["date_preference"]]
    taken = "time" in _wanted(prompt)
    note = "that time is not free; free are" if taken else "free are"
    return [f"{head}: {note} {', '.join(slots)}.", _MISSING["time_preference"]]


def _question(prompt: Prompt) -> str:
    wishes = _wishes(prompt)
    return next(
        (text for key, text in _MISSING.items() if key not in wishes),
        "What shall I do about the appointment?",
    )


def _wanted(prompt: Prompt) -> dict[str, str]:
    """Return the arguments of `available_slots` that the user's wishes give."""
    wishes = _wishes(prompt)
    named = {"doctor_preference": "doctor", "date_preference": "day", "time_preference": "time"}
    wanted = {name: str(wishes[key]) for key, name in named.items() if key in wishes}
    hour = _HOUR.fullmatch(prompt.asked)
    if hour is not None and "time" not in wanted and _was_asked(prompt, "time_preference"):
        wanted["time"] = _on_the_clock(int(hour[1]))
    said_at = prompt.entities.get("said_at", {}).get("date_preference")
    if "day" in wanted and said_at is not None:
        try:
            wanted["day"] = day_of(wanted["day"], now=datetime.fromisoformat(said_at)).isoformat()
        except ToolInputError:
            return wanted  # the tool says what is wrong with it
    return wanted


def _on_the_clock(hour: int) -> str:
    """Return `15:00` for 3: nobody is seen in the night."""
    return f"{hour + 12 if hour < _FIRST_HOUR else hour:02}:00"


def _was_asked(prompt: Prompt, wish: str) -> bool:
    """Whether the last thing said asks for that wish."""
    return bool(prompt.earlier) and prompt.earlier[-1].text.rstrip().endswith(_MISSING[wish])


def _reason(prompt: Prompt, tool: str) -> dict[str, str]:
    wishes = _wishes(prompt)
    reason = wishes.get("reason_visit") or wishes.get("procedure_preference")
    return {"reason": str(reason)} if reason and tool == BOOKING_TOOL else {}


def _wishes(prompt: Prompt) -> Mapping[str, Any]:
    wishes = prompt.entities.get("entities", {})
    return wishes if isinstance(wishes, Mapping) else {}


def _found(prompt: Prompt) -> Mapping[str, Any]:
    found = prompt.entities.get("derived_entities", {})
    return found if isinstance(found, Mapping) else {}


def _call(prompt: Prompt, name: str, arguments: Mapping[str, Any]) -> Call | None:
    tool = prompt.tool(name)
    return Call(tool.wire_name, arguments) if tool is not None else None
