"""The offline rules for moving an appointment: which one, to which day, at which time."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from group_chat.offline.clinic_days import (
    WHICH_APPOINTMENT,
    WHICH_DAY,
    chain_of,
    hour_in,
    listed_day_in,
    week_in,
)
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from services.language.appointment_slots import slots_in
from services.language.clock import shift_in
from services.language.in_english import in_english
from services.language.phrases import says
from services.language.references import place_in
from services.language.text_words import all_words

MOVE_TOOL = "move_appointment"
_LIST_TOOL, _SLOTS_TOOL = "list_appointments", "available_slots"


def is_move(prompt: Prompt) -> bool:
    """Whether the user moves an appointment, in this message or in what it answers."""
    is_other = says(prompt.asked, "cancel", "book") and not says(prompt.asked, "move_or_change")
    return not is_other and any(says(link.text, "move_or_change") for link in chain_of(prompt))


def next_of_move(prompt: Prompt) -> OfflineReply | None:
    """Return what comes next of a move; None where what the tools gave is to be told."""
    if _answer(prompt, MOVE_TOOL) is not None:
        return None
    booked = _answer(prompt, _LIST_TOOL)
    if booked is None:
        return _calling(prompt, _LIST_TOOL, {})
    rows = booked.get("appointments") or []
    if not rows:
        return OfflineReply(text=prompt.text("none_to_move"))
    row = rows[0] if len(rows) == 1 else _meant(prompt, rows)
    if row is None:
        lines = [f"{number}. {line_of(one)[2:]}" for number, one in enumerate(rows, 1)]
        return OfflineReply(text="\n".join([*lines, "", prompt.text(WHICH_APPOINTMENT)]))
    return _to_a_time(prompt, row)


def line_of(row: Mapping[str, Any]) -> str:
    """Return an appointment as a line of a list."""
    reason = f" ({row['reason']})" if row.get("reason") else ""
    return f"- {row['start']}, {row.get('doctor') or row.get('doctor_id')}{reason}"


def _to_a_time(prompt: Prompt, row: Mapping[str, Any]) -> OfflineReply | None:
    free = _answer(prompt, _SLOTS_TOOL)
    if free is not None:
        if not free.get("wanted_time_is_free"):
            return None
        slot = {"slot_id": free["slots"][0]["slot_id"]}
        return _calling(prompt, MOVE_TOOL, {"appointment_id": row["appointment_id"], **slot})
    doctor = str(row.get("doctor") or "")
    if days := week_in(prompt):
        tool = prompt.tool(_SLOTS_TOOL)
        calls = [Call(tool.wire_name, {"doctor": doctor, "day": day}) for day in days if tool]
        return OfflineReply(calls=tuple(calls))
    wanted = _shifted(prompt, row) or _wanted(prompt)
    if "day" not in wanted:
        return OfflineReply(text=f"{line_of(row)}\n\n{prompt.text(WHICH_DAY)}")
    return _calling(prompt, _SLOTS_TOOL, {"doctor": doctor, **wanted})


def _shifted(prompt: Prompt, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the day and time that "one day later" comes to; empty where nothing says so."""
    shift = shift_in(prompt.asked)
    if shift is None:
        return {}
    goal = datetime.fromisoformat(str(row["start"])) + shift
    return {"day": f"{goal:%Y-%m-%d}", "time": f"{goal:%H:%M}"}


def _wanted(prompt: Prompt) -> dict[str, str]:
    """Return the day and the time that this arrangement has come to."""
    wanted: dict[str, str] = {}
    for link in chain_of(prompt):
        said = {} if link.picks else slots_in(link.text, is_booking=True)
        wanted |= {"day": said["date_preference"]} if "date_preference" in said else {}
        wanted |= {"time": said["time_preference"]} if "time_preference" in said else {}
    if (day := listed_day_in(prompt)) is not None:
        wanted["day"] = day
    if (hour := hour_in(prompt)) is not None:
        wanted["time"] = hour
    return wanted


def _meant(prompt: Prompt, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the one appointment that the user names, None where several may be meant."""
    chain = chain_of(prompt)
    for link in reversed([one for one in chain if one.picks]):
        place = place_in(link.text)
        if place is not None and 0 < place <= len(rows):
            return rows[place - 1]
        if (
            day := _only([row for row in rows if _day_of(row) in in_english(link.text).casefold()])
        ) is not None:
            return day
    said = {word.casefold() for link in chain for word in all_words(link.text)}
    return _only([row for row in rows if _doctor_words(row) & said])


def _only(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return rows[0] if len(rows) == 1 else None


def _day_of(row: Mapping[str, Any]) -> str:
    return f"{date.fromisoformat(str(row['start'])[:10]):%A}".casefold()


def _doctor_words(row: Mapping[str, Any]) -> set[str]:
    return {word.casefold() for word in all_words(str(row.get("doctor"))) if len(word) > 2}


def _answer(prompt: Prompt, tool: str) -> Mapping[str, Any] | None:
    found = [one.data for one in prompt.answers if one.name == tool]
    return found[-1] if found else None


def _calling(prompt: Prompt, name: str, given: Mapping[str, Any]) -> OfflineReply | None:
    tool = prompt.tool(name)
    return None if tool is None else OfflineReply(calls=(Call(tool.wire_name, given),))
