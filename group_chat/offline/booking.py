"""The offline rules of the agent that arranges appointments: ask, look, propose."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from data_models.errors import ToolInputError
from group_chat.offline.clinic_days import (
    WHICH_DAY,
    WHICH_DOCTOR,
    WHICH_TIME,
    asks,
    asks_one,
    chain_of,
    hour_in,
    listed_day_in,
    listed_in,
    names_no_time,
    week_in,
    week_lines,
)
from group_chat.offline.elsewhere import handed_back
from group_chat.offline.moving import MOVE_TOOL, is_move, line_of, next_of_move
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.tools.clinic_times import day_of
from services.language.appointment_slots import slots_in
from services.language.own_texts import in_own_language
from services.language.phrases import says, words_for
from services.language.references import references_in
from services.language.requests import refused_doctors
from services.language.text_words import all_words
from services.language.yes_no import is_consent

BOOKING_TOOL = "book_appointment"
_CANCEL_TOOL, _LIST_TOOL = "cancel_appointment", "list_appointments"
_SLOTS_TOOL, _DOCTOR_TOOL = "available_slots", "find_doctor"
_LOOK_FIRST, _ASKED_WHICH = "use list_appointments first", "asked which"
_NO_DOCTOR = "that name; ask the user"
_NAME_WORDS = 4
_VERBS = {"move": "move_or_change", "cancel": "cancel", "book": "book"}
_MISSING = {
    "doctor_preference": WHICH_DOCTOR,
    "date_preference": WHICH_DAY,
    "time_preference": WHICH_TIME,
}


def answer_as_booking(prompt: Prompt) -> OfflineReply:
    """Go one step on: what is known comes from the entities, never from guesses."""
    if (elsewhere := handed_back(prompt, topic="appointment")) is not None:
        return elsewhere
    if is_move(prompt) and not _agrees(prompt):
        moved = next_of_move(prompt)
        return moved if moved is not None else OfflineReply(text=_said(prompt))
    if not prompt.answers and says(prompt.asked, "drops_arrangement"):
        return OfflineReply(text=prompt.text("nothing_arranged"))
    calls = _follow_up(prompt) if prompt.answers else _first_calls(prompt)
    if calls:
        return OfflineReply(calls=tuple(calls))
    return OfflineReply(text=_said(prompt) if prompt.answers else _question(prompt))


def _first_calls(prompt: Prompt) -> Sequence[Call]:
    found, asked = _found(prompt), prompt.asked
    proposal = found.get("appointment_proposal")
    if isinstance(proposal, Mapping) and _agrees(prompt):
        return _propose_again(prompt, proposal)
    asks_when = says(asked, "next_visit") and not says(asked, "book", "free")
    if asks_when or says(asked, "list_appointments", "when_is_it"):
        return _call(prompt, _LIST_TOOL, {})
    if says(asked, "cancel"):
        # What was said decides; the last one that was booked only where nothing is remembered.
        booked = "" if prompt.recent_is_appointment else str(found.get("appointment_id", ""))
        return _call(prompt, _CANCEL_TOOL, {"appointment_id": booked})
    wanted = _wanted(prompt)
    if "doctor" not in wanted or _name_in(prompt):
        return _call(prompt, _DOCTOR_TOOL, {"name": _name_in(prompt)})
    return _looking(prompt, wanted)


def _agrees(prompt: Prompt) -> bool:
    """Whether the user agrees to what was proposed, and asks for nothing else."""
    action = str((_found(prompt).get("appointment_proposal") or {}).get("action", ""))
    other = (verb for verb, said in _VERBS.items() if says(prompt.asked, said))
    is_other = any(not action.startswith(verb) for verb in other)
    says_more = is_other or slots_in(prompt.asked, is_booking=True)
    return is_consent(prompt.asked) and not says_more and not asks_one(prompt)


def _looking(prompt: Prompt, wanted: Mapping[str, str]) -> Sequence[Call]:
    """Look for free times: of a day, or of each day of a week."""
    day = listed_day_in(prompt)
    picked = _asked_free(prompt) if day is None else {"date_preference": day}
    noted = _note(prompt, picked) if picked else ()
    if days := week_in(prompt):
        doctor = {"doctor": wanted["doctor"]}
        asked = (_call(prompt, _SLOTS_TOOL, doctor | {"day": day}) for day in days)
        return [*noted, *(call for calls in asked for call in calls)]
    if "day" not in wanted:
        return noted
    return [*noted, *_call(prompt, _SLOTS_TOOL, wanted)]


def _propose_again(prompt: Prompt, proposal: Mapping[str, Any]) -> Sequence[Call]:
    """Ask once more for what the user agrees to after the question was over."""
    tool = str(proposal.get("action"))
    arguments = {key: proposal[key] for key in ("appointment_id", "slot_id") if key in proposal}
    return _call(prompt, tool, arguments | _reason(prompt, tool))


def _follow_up(prompt: Prompt) -> Sequence[Call]:
    """Go on from what the last tool gave, if it leads on."""
    last, names = prompt.answers[-1], [answer.name for answer in prompt.answers]
    if says(prompt.asked, "cancel"):
        return _after_cancel(prompt, names)
    if last.name == _DOCTOR_TOOL:
        return _after_doctors(prompt, last.data, names.count(_DOCTOR_TOOL))
    if _is_about_doctor(last.data) and _DOCTOR_TOOL not in names:
        return [*_forget_doctor(prompt), *_call(prompt, _DOCTOR_TOOL, {"name": ""})]
    if last.name != _SLOTS_TOOL or not last.data.get("wanted_time_is_free"):
        return ()
    slot = {"slot_id": last.data["slots"][0]["slot_id"]}
    return _call(prompt, BOOKING_TOOL, slot | _reason(prompt, BOOKING_TOOL))


def _is_about_doctor(data: Mapping[str, Any]) -> bool:
    """Whether a tool did not know which doctor is meant."""
    return _NO_DOCTOR in str(data.get("error", ""))


def _after_cancel(prompt: Prompt, names: Sequence[str]) -> Sequence[Call]:
    """Look the appointments up once where it was not clear which is meant, and try again."""
    last = prompt.answers[-1]
    if names.count(_CANCEL_TOOL) > 1 or names.count(_LIST_TOOL) > 1:
        return ()
    if last.name == _CANCEL_TOOL and _LOOK_FIRST in str(last.data.get("error", "")):
        return _call(prompt, _LIST_TOOL, {})
    if last.name == _LIST_TOOL and last.data.get("appointments"):
        return _call(prompt, _CANCEL_TOOL, {"appointment_id": ""})
    return ()


def _after_doctors(prompt: Prompt, found: Mapping[str, Any], tried: int) -> Sequence[Call]:
    """Take the doctor whom a bare name means; where it means none, name all."""
    if not _name_in(prompt) or tried > 1:
        return ()
    rows = found.get("doctors") or []
    if len(rows) != 1:
        return [*_forget_doctor(prompt), *_call(prompt, _DOCTOR_TOOL, {"name": ""})]
    name = str(rows[0]["name"])
    looked = _looking(prompt, _wanted(prompt) | {"doctor": name})
    return [*_note(prompt, {"doctor_preference": name}), *looked]


def _said(prompt: Prompt) -> str:
    days = [answer.data for answer in prompt.answers if answer.name == _SLOTS_TOOL]
    if len(days) > 1:
        return "\n".join(week_lines(prompt, days))
    if says(prompt.asked, "cancel"):
        return _said_of_cancel(prompt)
    lines: list[str] = []
    for answer in prompt.answers:
        lines += _lines(prompt, answer.name, answer.data)
    return "\n".join(lines) or _question(prompt, known={"doctor_preference"})


def _said_of_cancel(prompt: Prompt) -> str:
    last = prompt.answers[-1]
    problem = str(last.data.get("error", ""))
    if last.name == _LIST_TOOL and not last.data.get("appointments"):
        return prompt.text("no_appointments")
    if _ASKED_WHICH in problem:
        return prompt.text("please_choose")
    if _LOOK_FIRST in problem:
        lists = [one for one in prompt.answers if one.name == _LIST_TOOL]
        rows = [line for one in lists for line in _lines(prompt, one.name, one.data)]
        return "\n".join([prompt.text("these_appointments"), *rows])
    return "\n".join(_lines(prompt, last.name, last.data))


def _lines(prompt: Prompt, tool: str, data: Mapping[str, Any]) -> list[str]:
    if _is_about_doctor(data):
        said = str(data["error"]).partition(";")[0]
        return [f"{said[:1].upper()}{said[1:]}: {_wanted(prompt).get('doctor', '')}.", ""]
    if "error" in data:
        return [
            prompt.text(
                "did_not_work", problem=in_own_language(str(data["error"]), prompt.language)
            )
        ]
    if "proposal" in data:
        # The server asks; what was found free is said already.
        alone = len(prompt.answers) == 1 or tool in (_CANCEL_TOOL, MOVE_TOOL)
        return [_proposed(prompt, data["proposal"])] if alone else []
    if tool == _LIST_TOOL:
        rows = [line_of(row) for row in data.get("appointments", ())]
        return [] if is_move(prompt) else rows or [prompt.text("no_appointments")]
    if tool == _DOCTOR_TOOL:
        return _doctors(prompt, data)
    return _times(prompt, data) if tool == _SLOTS_TOOL else []


def _proposed(prompt: Prompt, proposal: Mapping[str, Any]) -> str:
    verb = str(proposal.get("action")).partition("_")[0]
    done = prompt.text(f"proposed_{verb}", start=proposal.get("start", ""))
    return prompt.text("i_propose", proposed=done)


def _doctors(prompt: Prompt, data: Mapping[str, Any]) -> list[str]:
    named = [str(row["name"]) for row in data.get("doctors", ())]
    rows = [name for name in named if not _is_refused(prompt, name)]
    if named and not rows:
        return [prompt.text("no_other_doctor"), ""]
    if not rows and _name_in(prompt):
        return [prompt.text("no_doctor_called", name=_name_in(prompt)), ""]
    if not rows or (len(rows) == 1 and _name_in(prompt)):
        return []
    return [
        prompt.text("doctors_here"),
        *(f"- {name}" for name in rows),
        "",
        prompt.text(WHICH_DOCTOR),
    ]


def _is_refused(prompt: Prompt, doctor: str) -> bool:
    """Whether the user ruled this doctor out, now or earlier in the same arrangement."""
    words = doctor.casefold().split()
    refused = [name for link in chain_of(prompt) for name in refused_doctors(link.text)]
    return any(name.casefold().split()[-1] in words for name in refused)


def _times(prompt: Prompt, data: Mapping[str, Any]) -> list[str]:
    slots = [str(row["start"])[-5:] for row in data.get("slots", ())]
    doctor, day = data.get("doctor") or prompt.text("the_doctor"), data.get("day", "")
    if data.get("wanted_time_is_free"):
        return [prompt.text("time_is_free", doctor=doctor, day=day, time=slots[0])]
    if not slots:
        return [prompt.text("day_is_full", doctor=doctor, day=day), prompt.text(WHICH_DAY)]
    said = "time_is_taken" if data.get("wanted_time_is_free") is False else "free_are"
    times = ", ".join(slots)
    return [prompt.text(said, doctor=doctor, day=day, times=times), prompt.text(WHICH_TIME)]


def _question(prompt: Prompt, *, known: frozenset[str] | set[str] = frozenset()) -> str:
    missing = [text for key, text in _MISSING.items() if key not in {*_wishes(prompt), *known}]
    return prompt.text(missing[0] if missing else "what_about_it")


def _wanted(prompt: Prompt) -> dict[str, str]:
    """Return the arguments of `available_slots` that the user's wishes give."""
    wishes = _wishes(prompt)
    named = {"doctor_preference": "doctor", "date_preference": "day", "time_preference": "time"}
    wanted = {name: str(wishes[key]) for key, name in named.items() if key in wishes}
    if _is_refused(prompt, wanted.get("doctor", "")):
        wanted.pop("doctor")
    if (hour := hour_in(prompt)) is not None:
        wanted["time"] = hour
    if names_no_time(prompt):
        wanted.pop("time", None)  # an earlier one is not meant either
    if (day := listed_day_in(prompt)) is not None:
        return wanted | {"day": day}
    said_at = prompt.entities.get("said_at", {}).get("date_preference")
    if "day" in wanted and said_at is not None:
        try:
            wanted["day"] = day_of(wanted["day"], now=datetime.fromisoformat(said_at)).isoformat()
        except ToolInputError:
            return wanted  # the tool says what is wrong with it
    return wanted


def _name_in(prompt: Prompt) -> str:
    """Return the name that answers which doctor, as people say it: "Smith, please", "the first"."""
    if references_in(prompt.asked):
        return (listed_in(prompt) or "") if asks(prompt, WHICH_DOCTOR) else ""
    words = all_words(prompt.asked)
    is_name = asks(prompt, WHICH_DOCTOR) and 0 < len(words) <= _NAME_WORDS
    says_when = slots_in(prompt.asked, is_booking=True).keys() - {"doctor_preference"}
    is_name = is_name and not is_consent(prompt.asked) and not says_when
    kept = [word for word in words if word.casefold() not in words_for("before_a_name")]
    return " ".join(kept) if is_name else ""


def _note(prompt: Prompt, wishes: Mapping[str, str]) -> Sequence[Call]:
    """Note what the user picked; what they said before stands against it unless it goes first."""
    known = [key for key in wishes if key in _wishes(prompt)]
    gone = {"entities_to_remove": known} if known else {}
    return _call(prompt, "update_entities", {"entities_to_update": dict(wishes), **gone})


def _forget_doctor(prompt: Prompt) -> Sequence[Call]:
    """Drop a doctor whom nobody is called, so that the next message is not asked of them again."""
    if "doctor_preference" not in _wishes(prompt):
        return ()
    return _call(prompt, "update_entities", {"entities_to_remove": ["doctor_preference"]})


def _reason(prompt: Prompt, tool: str) -> dict[str, str]:
    wishes = _wishes(prompt)
    reason = wishes.get("reason_visit") or wishes.get("procedure_preference")
    return {"reason": str(reason)} if reason and tool == BOOKING_TOOL else {}


def _wishes(prompt: Prompt) -> dict[str, Any]:
    """Return what is noted of the arrangement; a question for free times says it itself."""
    noted = prompt.entities.get("entities", {})
    return {**(noted if isinstance(noted, Mapping) else {}), **_asked_free(prompt)}


def _asked_free(prompt: Prompt) -> dict[str, str]:
    """Return with whom and when, where the message asks for free times."""
    return slots_in(prompt.asked, is_booking=True) if says(prompt.asked, "free") else {}


def _found(prompt: Prompt) -> Mapping[str, Any]:
    found = prompt.entities.get("derived_entities", {})
    return found if isinstance(found, Mapping) else {}


def _call(prompt: Prompt, name: str, arguments: Mapping[str, Any]) -> Sequence[Call]:
    tool = prompt.tool(name)
    return (Call(tool.wire_name, arguments),) if tool is not None else ()
