"""The offline rules of the agent that arranges appointments: what is known goes into one form."""

from collections.abc import Mapping
from typing import Any

from group_chat.offline.errands import TIMES_TOOL, Errand, errand_in, run
from group_chat.offline.prompt import OfflineReply, Prompt, ends_with
from services.language.appointment_slots import slots_in
from services.language.clock import (
    hour_alone_in,
    part_of_day_in,
    says_impossible_clock,
    shift_in,
)
from services.language.in_english import in_english
from services.language.own_texts import is_own_choice
from services.language.phrases import says
from services.language.references import number_alone_in, references_in
from services.language.talk_texts import told_in
from services.language.text_words import all_words
from services.language.yes_no import is_consent

BOOKING_TOOL, _MOVE_TOOL = "book_appointment", "move_appointment"
# The fields of the form: the entity that keeps each, and the question for it.
_FORM = {
    "doctor": ("doctor_preference", "which_doctor"),
    "day": ("date_preference", "which_day"),
    "time": ("time_preference", "which_time"),
}
_LISTS = (
    Errand("list_appointments", ("list_appointments", "when_is_it")),
    Errand("list_appointments", ("next_visit",), ("book", "free")),
)
_NAME_WORDS, _TELLING_CHARS = 4, 3


def answer_as_booking(prompt: Prompt) -> OfflineReply:
    """Go one step on: what is known comes from the entities, never from guesses."""
    if not prompt.answers and says(prompt.asked, "drops_arrangement"):
        return prompt.say("nothing_arranged")
    is_move = _is_move(prompt)
    errand = None if is_move else errand_in(prompt, (_cancelling(prompt), *_LISTS))
    return _arrange(prompt, is_move=is_move) if errand is None else run(prompt, errand)


def _cancelling(prompt: Prompt) -> Errand:
    """Return how one is cancelled: what was said decides, and the last booked one behind that."""
    found = prompt.entities.get("derived_entities") or {}
    booked = "" if prompt.recent == "appointment" else str(found.get("appointment_id", ""))
    given = {"appointment_id": booked}
    return Errand("cancel_appointment", ("cancel",), given=lambda _: given, looks_with=_LISTS[0])


def _is_move(prompt: Prompt) -> bool:
    """Whether the user moves an appointment, in this message or in what it answers."""
    is_other = says(prompt.asked, "cancel", "book") and not says(prompt.asked, "move_or_change")
    return not is_other and any(says(text, "move_or_change") for text in _said(prompt))


def _said(prompt: Prompt) -> list[str]:
    """Return the user's messages that one arrangement goes on in, the newest first."""
    said = [prompt.asked]
    for each in reversed(prompt.past):
        is_asked = any(ends_with(each.answered, question) for _, question in _FORM.values())
        lines = each.answered.splitlines()
        if not is_asked and not any(is_own_choice(line, "Move {name}?") for line in lines):
            break
        said.append(each.asked)
    return said


def _arrange(prompt: Prompt, *, is_move: bool) -> OfflineReply:
    """Look with what is known; propose the wanted time where it is free."""
    picked = _picked(prompt)
    given = {**_known(prompt, is_move=is_move), **picked}
    last, times = prompt.answers[-1:], prompt.given_by(TIMES_TOOL)
    if not last and picked:
        kept = {_FORM[field][0]: value for field, value in picked.items()}
        noted = prompt.call("update_entities", entities_to_update=kept, words=prompt.asked)
        return OfflineReply(calls=(*noted.calls, *prompt.call(TIMES_TOOL, **given).calls))
    found = times[-1] if times else {}
    if last and last[0].name == TIMES_TOOL and found.get("wanted_time_is_free"):
        slot_id = found["slots"][0]["slot_id"]
        if not is_move:
            return prompt.call(BOOKING_TOOL, slot_id=slot_id, **_reason(prompt))
        moved = found["moved"]["appointment_id"]
        return prompt.call(_MOVE_TOOL, appointment_id=moved, slot_id=slot_id)
    looks = _LISTS[0] if is_move else None
    reply = run(prompt, Errand(TIMES_TOOL, given=lambda _: given, looks_with=looks))
    if last and last[0].error and found.get("wanted_time_is_free"):
        # What is free stands before why it cannot be had.
        start, told = str(found["slots"][0]["start"]), (found["doctor"], found["day"])
        free = prompt.text("time_is_free", doctor=told[0], day=told[1], time=start[-5:])
        return OfflineReply(text=f"{free}\n{reply.text}")
    return reply


def _known(prompt: Prompt, *, is_move: bool) -> dict[str, str]:
    """Return what is known of the form: of a move what was said in it, else what is noted."""
    said, wishes = _said(prompt), _wishes(prompt)
    if is_move:
        told = [slots_in(text, is_booking=True) for text in reversed(said)]
        wishes = {key: value for one in told for key, value in one.items()}
    known = {field: str(wishes[key]) for field, (key, _) in _FORM.items() if key in wishes}
    if says_impossible_clock(prompt.asked):
        known.pop("time", None)  # an earlier one is not meant either
    part = next((text for text in said if part_of_day_in(text)), "")
    known |= {"time": part} if part and "time" not in known else {}
    if prompt.was_asked("which_time") and hour_alone_in(prompt.asked) is not None:
        known["time"] = prompt.asked
    if is_move:
        known["instead_of"] = prompt.recent_appointment or "it"
        known |= {"day": prompt.asked} if shift_in(prompt.asked) is not None else {}
        known.pop("doctor", None)
    elif prompt.was_asked("which_doctor") and _may_be_name(prompt.asked):
        known["doctor"] = prompt.asked
    return known


def _may_be_name(text: str) -> bool:
    says_when = slots_in(text, is_booking=True).keys() - {"doctor_preference"}
    return 0 < len(all_words(text)) <= _NAME_WORDS and not is_consent(text) and not says_when


def _picked(prompt: Prompt) -> dict[str, str]:
    """Return which row of the list that was shown last the message names: "tuesday", "the last"."""
    asked = [field for field, (_, question) in _FORM.items() if prompt.was_asked(question)]
    if not asked or prompt.answers:
        return {}
    lines = prompt.earlier[-1].text.splitlines()
    rows = [line[2:].partition(": ")[0] for line in lines if line.startswith("- ")]
    if asked == ["time"]:
        told = (told_in(name, line) for line in lines for name in ("free_are", "time_is_taken"))
        rows = next((one["times"].split(", ") for one in told if one is not None), [])
    places = [place for one in references_in(prompt.asked) for place in one.places]
    if len(places) == 1 and number_alone_in(prompt.asked) is None:
        at = places[0] - 1 if places[0] > 0 else places[0]
        return {asked[0]: rows[at]} if -len(rows) <= at < len(rows) else {}
    said = [word.strip(".,;!?") for word in in_english(prompt.asked).casefold().split()]
    named = [row for row in rows if _is_named(row, rows, said)]
    return {asked[0]: named[0]} if len(named) == 1 else {}


def _is_named(row: str, rows: list[str], said: list[str]) -> bool:
    """Whether somebody says a word that this row alone has: "tuesday" for Tue 24 Nov 2026."""
    words = [set(one.casefold().split()) for one in rows if one != row]
    own = set(row.casefold().split()).difference(*words)
    telling = tuple(one for one in own if len(one) >= _TELLING_CHARS and one.isalpha())
    numbers = {word.rstrip("stndrh") for word in said}
    return not own.isdisjoint(numbers) or any(word.startswith(telling) for word in said)


def _reason(prompt: Prompt) -> dict[str, str]:
    wishes = _wishes(prompt)
    reason = wishes.get("reason_visit") or wishes.get("procedure_preference")
    return {"reason": str(reason)} if reason else {}


def _wishes(prompt: Prompt) -> Mapping[str, Any]:
    """Return what is noted of the arrangement."""
    return prompt.entities.get("entities") or {}
