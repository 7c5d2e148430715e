"""The offline rules of the agent that arranges appointments: one form, asked field by field."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from data_models.errors import ToolInputError
from group_chat.offline.elsewhere import handed_back
from group_chat.offline.errands import Errand, errand_in, run
from group_chat.offline.picks import (
    QUESTIONS,
    WHICH_APPOINTMENT,
    WHICH_DAY,
    WHICH_DOCTOR,
    WHICH_TIME,
    appointment_in,
    chain_of,
    day_in,
    day_line,
    goal_in,
    name_in,
    time_in,
    times_in_part,
    week_in,
)
from group_chat.offline.prompt import Call, OfflineReply, Prompt, ToolAnswer
from group_chat.offline.told import item_line, told_deed
from group_chat.tools.clinic_times import day_of
from services.language.appointment_slots import slots_in
from services.language.clock import says_impossible_clock
from services.language.phrases import says
from services.language.requests import refused_doctors
from services.language.yes_no import is_consent

BOOKING_TOOL = "book_appointment"
_MOVE_TOOL, _CANCEL_TOOL = "move_appointment", "cancel_appointment"
_LIST_TOOL, _SLOTS_TOOL, _DOCTOR_TOOL = "list_appointments", "available_slots", "find_doctor"
_NO_DOCTOR = "that name; ask the user"
_VERBS = {"move": "move_or_change", "cancel": "cancel", "book": "book"}
_TIMES_OF_A_DAY = 6
# The form: each field by the name that tools have for it, the entity that keeps it, its question.
_FORM = (
    ("doctor", "doctor_preference", WHICH_DOCTOR),
    ("day", "date_preference", WHICH_DAY),
    ("time", "time_preference", WHICH_TIME),
)
_LISTS = (
    Errand(_LIST_TOOL, ("list_appointments", "when_is_it")),
    Errand(_LIST_TOOL, ("next_visit",), ("book", "free")),
)


def answer_as_booking(prompt: Prompt) -> OfflineReply:
    """Go one step on: what is known comes from the entities, never from guesses."""
    if (elsewhere := handed_back(prompt, topic="appointment")) is not None:
        return elsewhere
    if _agrees(prompt):
        return _propose_again(prompt)
    if _is_move(prompt):
        return _move(prompt)
    if not prompt.answers and says(prompt.asked, "drops_arrangement"):
        return prompt.say("nothing_arranged")
    errand = errand_in(prompt, (_cancelling(prompt), *_LISTS))
    return _book(prompt) if errand is None else run(prompt, errand)


def _cancelling(prompt: Prompt) -> Errand:
    """Return how one is cancelled: what was said decides, and the last booked one behind that."""
    booked = "" if prompt.recent == "appointment" else str(_found(prompt).get("appointment_id", ""))
    given = {"appointment_id": booked}
    return Errand(_CANCEL_TOOL, ("cancel",), given=lambda _: given, looks_with=_LISTS[0])


def _agrees(prompt: Prompt) -> bool:
    """Whether the user agrees to what was proposed, and asks for nothing else."""
    action = str(_proposal(prompt).get("action", ""))
    other = (verb for verb, said in _VERBS.items() if says(prompt.asked, said))
    says_more = any(not action.startswith(verb) for verb in other)
    says_more = says_more or bool(slots_in(prompt.asked, is_booking=True))
    was_asked = any(prompt.was_asked(one) for one in QUESTIONS)
    return bool(action) and is_consent(prompt.asked) and not says_more and not was_asked


def _propose_again(prompt: Prompt) -> OfflineReply:
    """Ask once more for what the user agrees to after the question was over."""
    if prompt.answers:
        return OfflineReply(text=told_deed(prompt, prompt.answers[-1]))
    proposal = _proposal(prompt)
    tool = str(proposal["action"])
    given = {key: proposal[key] for key in ("appointment_id", "slot_id") if key in proposal}
    return prompt.call(tool, **given, **(_reason(prompt) if tool == BOOKING_TOOL else {}))


def _is_move(prompt: Prompt) -> bool:
    """Whether the user moves an appointment, in this message or in what it answers."""
    is_other = says(prompt.asked, "cancel", "book") and not says(prompt.asked, "move_or_change")
    return not is_other and any(says(text, "move_or_change") for text, _ in chain_of(prompt))


def _move(prompt: Prompt) -> OfflineReply:
    last, booked = prompt.answers[-1:], prompt.given_by(_LIST_TOOL)
    if not booked:
        return prompt.call(_LIST_TOOL)
    if last[0].error or last[0].name == _MOVE_TOOL:
        return _told(prompt, last[0])
    rows = booked[-1].get("appointments") or []
    row = rows[0] if len(rows) == 1 else appointment_in(prompt, rows)
    if row is None:
        lines = [f"{number}. {item_line(prompt, one)}" for number, one in enumerate(rows, 1)]
        asked = [*lines, "", prompt.text(WHICH_APPOINTMENT)]
        return OfflineReply(text="\n".join(asked)) if rows else prompt.say("none_to_move")
    if free := prompt.given_by(_SLOTS_TOOL):
        return _after_slots(prompt, free, _MOVE_TOOL, {"appointment_id": row["appointment_id"]})
    found = _look(prompt, {"doctor": str(row.get("doctor") or ""), **goal_in(prompt, row)})
    asks = OfflineReply(text=f"{item_line(prompt, row)}\n\n{prompt.text(WHICH_DAY)}")
    return OfflineReply(calls=found) if found else asks


def _book(prompt: Prompt) -> OfflineReply:
    wanted, name = _wanted(prompt), name_in(prompt)
    if not prompt.answers:
        if "doctor" not in wanted or name:
            return prompt.call(_DOCTOR_TOOL, name=name)
        day = day_in(prompt)
        picked = {} if day is None else {"date_preference": day}
        return _noting(prompt, picked, _look(prompt, wanted))
    last = prompt.answers[-1]
    if last.name == _DOCTOR_TOOL:
        return _after_doctors(prompt, last, wanted, name)
    if _NO_DOCTOR in last.error:
        return _name_all(prompt)
    if last.name == _SLOTS_TOOL and not last.error:
        return _after_slots(prompt, prompt.given_by(_SLOTS_TOOL), BOOKING_TOOL, _reason(prompt))
    is_noted = last.name == "update_entities"
    return _ask(prompt) if is_noted else _told(prompt, last)


def _told(prompt: Prompt, last: ToolAnswer) -> OfflineReply:
    """Tell what the last tool gave; what was free stands before why it cannot be had."""
    found = [one for one in prompt.given_by(_SLOTS_TOOL) if one.get("wanted_time_is_free")]
    told = [told_deed(prompt, last)]
    if last.error and found:
        doctor, time = found[-1]["doctor"], str(found[-1]["slots"][0]["start"])[-5:]
        free = prompt.text("time_is_free", doctor=doctor, day=found[-1]["day"], time=time)
        told.insert(0, free)
    return OfflineReply(text="\n".join(told))


def _look(prompt: Prompt, wanted: Mapping[str, str]) -> tuple[Call, ...]:
    """Return the calls that look for free times: of a day, or of each day of a week."""
    week = [{"doctor": wanted["doctor"], "day": day} for day in week_in(prompt)]
    asked = week or ([dict(wanted)] if "day" in wanted else [])
    return tuple(call for given in asked for call in prompt.call(_SLOTS_TOOL, **given).calls)


def _noting(prompt: Prompt, picked: Mapping[str, str], calls: tuple[Call, ...]) -> OfflineReply:
    """Note what the user picked, before `calls`; what they said before gives way to it."""
    known = [key for key in picked if key in _wishes(prompt)]
    gone = {"entities_to_remove": known} if known else {}
    noted = prompt.call("update_entities", entities_to_update=dict(picked), **gone).calls
    calls = (*noted, *calls) if picked else calls
    return OfflineReply(calls=calls) if calls else _ask(prompt)


def _after_doctors(
    prompt: Prompt, last: ToolAnswer, wanted: Mapping[str, str], name: str
) -> OfflineReply:
    """Take the doctor whom a bare name means; where it means none, name all."""
    named = [str(row["name"]) for row in last.data.get("doctors", ())]
    if name and len(prompt.given_by(_DOCTOR_TOOL)) == 1:
        if len(named) != 1:
            return _name_all(prompt)
        looked = _look(prompt, {**wanted, "doctor": named[0]})
        return _noting(prompt, {"doctor_preference": named[0]}, looked)
    rows = [one for one in named if not _is_refused(prompt, one)]
    if not rows:
        return prompt.say("no_other_doctor")
    nobody = name if name and not prompt.given_by(_DOCTOR_TOOL)[0].get("doctors") else ""
    if any(_NO_DOCTOR in one.error for one in prompt.answers):
        nobody = wanted.get("doctor", "")
    problem = [prompt.text("no_doctor_called", name=nobody), ""] if nobody else []
    lines = [prompt.text("doctors_here"), *(f"- {one}" for one in rows)]
    return OfflineReply(text="\n".join([*problem, *lines, "", prompt.text(WHICH_DOCTOR)]))


def _name_all(prompt: Prompt) -> OfflineReply:
    """Look for every doctor; drop one whom nobody is called, who would be asked of again."""
    is_kept = "doctor_preference" in _wishes(prompt)
    dropped = prompt.call("update_entities", entities_to_remove=["doctor_preference"]).calls
    looked = prompt.call(_DOCTOR_TOOL, name="")
    return OfflineReply(text=looked.text, calls=(*(dropped if is_kept else ()), *looked.calls))


def _is_refused(prompt: Prompt, doctor: str) -> bool:
    """Whether the user ruled this doctor out, now or earlier in the same arrangement."""
    words = doctor.casefold().split()
    refused = [name for text, _ in chain_of(prompt) for name in refused_doctors(text)]
    return any(name.casefold().split()[-1] in words for name in refused)


def _after_slots(
    prompt: Prompt, free: Sequence[Mapping[str, Any]], tool: str, given: Mapping[str, Any]
) -> OfflineReply:
    """Propose the wanted time where it is free; tell those that are."""
    if len(free) > 1:
        return _week(prompt, free)
    (found,) = free
    if found.get("wanted_time_is_free"):
        return prompt.call(tool, slot_id=found["slots"][0]["slot_id"], **given)
    every = [str(row["start"])[-5:] for row in found.get("slots", ())]
    fitting = [] if found.get("wanted_time_is_free") is False else times_in_part(prompt, every)
    times, said = ", ".join(fitting or every), "free_are" if fitting else "time_is_taken"
    doctor = found.get("doctor") or prompt.text("the_doctor")
    told = prompt.text(
        said if times else "day_is_full", doctor=doctor, day=found.get("day", ""), times=times
    )
    return OfflineReply(text=f"{told}\n{prompt.text(WHICH_TIME if times else WHICH_DAY)}")


def _week(prompt: Prompt, free: Sequence[Mapping[str, Any]]) -> OfflineReply:
    days = sorted((one for one in free if one.get("slots")), key=lambda one: str(one["day"]))
    lines = []
    for one in days:
        times = [str(slot["start"])[-5:] for slot in one["slots"]]
        more = len(times) - _TIMES_OF_A_DAY
        rest = prompt.text("and_more", count=more) if more > 0 else ""
        lines.append(day_line(str(one["day"]), times[:_TIMES_OF_A_DAY], rest))
    named = (str(one["doctor"]) for one in free if one.get("doctor"))
    said = prompt.text(
        "week_is_free" if lines else "week_is_full",
        doctor=next(named, prompt.text("the_doctor")),
    )
    return OfflineReply(text="\n".join([said, *lines, "", prompt.text(WHICH_DAY)]))


def _ask(prompt: Prompt) -> OfflineReply:
    """Ask for the first field that is missing behind the doctor."""
    wishes = _wishes(prompt)
    missing = [question for _, key, question in _FORM[1:] if key not in wishes]
    return prompt.say(missing[0] if missing else "what_about_it")


def _wanted(prompt: Prompt) -> dict[str, str]:
    """Return the fields of the form that are known."""
    wishes = _wishes(prompt)
    wanted = {name: str(wishes[key]) for name, key, _ in _FORM if key in wishes}
    if _is_refused(prompt, wanted.get("doctor", "")):
        wanted.pop("doctor")
    if (hour := time_in(prompt)) is not None:
        wanted["time"] = hour
    if says_impossible_clock(prompt.asked):
        wanted.pop("time", None)  # an earlier one is not meant either
    said_at = prompt.entities.get("said_at", {}).get("date_preference")
    if (day := day_in(prompt)) is not None:
        wanted["day"] = day
    elif "day" in wanted and said_at is not None:
        try:
            wanted["day"] = day_of(wanted["day"], now=datetime.fromisoformat(said_at)).isoformat()
        except ToolInputError:
            return wanted  # the tool says what is wrong with it
    return wanted


def _reason(prompt: Prompt) -> dict[str, str]:
    wishes = _wishes(prompt)
    reason = wishes.get("reason_visit") or wishes.get("procedure_preference")
    return {"reason": str(reason)} if reason else {}


def _wishes(prompt: Prompt) -> Mapping[str, Any]:
    """Return what is noted of the arrangement."""
    return prompt.entities.get("entities") or {}


def _found(prompt: Prompt) -> Mapping[str, Any]:
    return prompt.entities.get("derived_entities") or {}


def _proposal(prompt: Prompt) -> Mapping[str, Any]:
    return _found(prompt).get("appointment_proposal") or {}
