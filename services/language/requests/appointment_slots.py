"""What a message wishes of an appointment: doctor, day, time and what for. Rules over words; pure.

What is refused, and what is told of the past, is no wish.
"""

import re
from itertools import pairwise
from typing import Any

from services.language.charts.chart_words import lexicon
from services.language.people.strange_words import is_strange
from services.language.replies.yes_no import behind_yes_or_no
from services.language.requests.requests import refused_doctors
from services.language.words.expressions import expressions
from services.language.words.folding import fold
from services.language.words.in_english import in_english
from services.language.words.phrases import found_in, says, without, words_for
from services.language.words.vocabulary import LANGUAGES

_END_CHARS = 1_000
_ANSWER_CHARS = 40
_AFTERNOON_UNTIL = 7
_FIELD_CHARS = 6
"""By so many letters the name of a field and of who works in it are alike, in any language."""
_WORDS = expressions("appointments")
_HOUR_SAID = re.compile(r"(\d{1,2})(?:[.:h ]([0-5]\d)|(?<=\d\d)([0-5]\d))?(?: ?h)?(?:ish)?")
_SENTENCE = re.compile(r"[^.,;!?\n]+(?:\.(?=\w)[^.,;!?\n]*)*")
_ABBREVIATED = re.compile(r"\b([Dd]r|[Pp]rof|[Dd]ra|[ap]\.m)\.(?=\s|$)")


def slots_in(text: str, *, is_booking: bool) -> dict[str, Any]:
    """Return what `text` asks for, by entity key; nothing where it is not about an appointment.

    Days are English words or ISO, times `15:00`. Of a long text, such as a pasted letter, only its
    beginning and its end are read.

    Args:
        is_booking: Whether an appointment is being arranged already, so that "actually 4" counts.
    """
    if len(text) > 2 * _END_CHARS:
        text = f"{text[:_END_CHARS]}\n{text[-_END_CHARS:]}"
    is_booking = is_booking or names_a_time(text)
    is_topic = says(text, "arranges_appointment")
    pieces = pairwise(lexicon("en").pieces(fold(text)[0]))
    is_value = any(
        of.words[0][:1].isdecimal() and any(name.tool == "results" for name in one.of("name"))
        for one, of in pieces
    )
    is_else = (
        not is_booking or is_value or says(text, "tells_value")
    )  # "BP 104/60 at 9" tells when that was
    if not is_topic and (is_else or says(text, "calendar_event", "email", "task")):
        return {}
    english = _wished(in_english(text)).casefold()
    is_short = is_booking and bool(english) and len(text) <= _ANSWER_CHARS
    if is_short and _day(english, text) is None is _time(english):
        english = _hour_alone(text) or _in_any_language(text) or english
    found = {
        "doctor_preference": _doctor(text) or field_in(_wished(text)),
        "date_preference": _day(english, text),
        "time_preference": _time(english),
        "procedure_preference": _last(english, "procedure"),
        "reason_visit": _of(_WORDS.compiled("reason"), text),
        "urgency_preference": None if says(english, "not_urgent") else _last(english, "urgency"),
        "user_name": _of(_WORDS.compiled("name"), text),
    }
    return {key: value for key, value in found.items() if value}


def names_a_time(text: str) -> bool:
    """Whether `text` names a doctor, a day and a time, and so asks for that: "smith fri 2pm"."""
    wished = slots_in(text, is_booking=True) if any(map(str.isdigit, text)) else {}
    return {"doctor_preference", "date_preference", "time_preference"} <= {*wished}


def field_in(text: str) -> str:
    """Return the last field of medicine that `text` names, as written: "cardiologist"; else ""."""
    return _last(text, "medical_field") or ""


def is_of_field(specialty: str, field: str) -> bool:
    """Whether a field that somebody named is the specialty: a "Kardiologe" is of "Cardiology"."""
    return _field_key(field) in {_field_key(word) for word in specialty.split()}


def _field_key(word: str) -> str:
    return fold(word)[0].replace("k", "c")[:_FIELD_CHARS]


def _in_any_language(text: str) -> str:
    """Return in English a day or a time that is said alone: too few words to tell the language."""
    for language in LANGUAGES[1:]:
        english = _wished(in_english(text, language)).casefold()
        if _day(english) is not None or _time(english) is not None:
            return english
    return ""


def _hour_alone(text: str) -> str:
    """Return in English the hour that is all one says: "no, 11", "9.30 if poss"; else ""."""
    said = without(behind_yes_or_no(text), "around_hour").strip(" ,.!?").casefold()
    found = _HOUR_SAID.fullmatch(said)
    return "" if found is None else f"at {found[1]}:{found[2] or found[3] or '00'}"


def _wished(english: str) -> str:
    """Return the clauses that wish something, without what they refuse."""
    kept = [one for one in _clauses(english) if not says(one, "does_not_suit", "tells_of_past")]
    return " , ".join(without(one, "refused_part") for one in kept)


def _clauses(text: str) -> list[str]:
    return _SENTENCE.findall(_ABBREVIATED.sub(r"\1", text))


def _doctor(text: str) -> str | None:
    refused = refused_doctors(text)
    clauses = _clauses(text)  # in English: "hat er was frei" tells of no past
    told = ", ".join(one for one in clauses if not says(in_english(one), "tells_of_past"))
    for match in reversed(list(_WORDS.compiled("doctor").finditer(told))):
        first, family = match["name"], match["family"]
        if family and fold(family)[0] in words_for("weekday"):
            family = None
        name, plain = " ".join(filter(None, (first, family))), fold(first)[0]
        is_short = match[0][:2].casefold() == "dr"
        is_name = first[0].isupper() or (is_short and plain not in words_for("small_after_doctor"))
        is_name = is_strange(plain) if match["untitled"] else is_name  # "with her daughter"
        if name not in refused and first not in refused and is_name:
            return f"Dr. {name if name[0].isupper() else name.title()}"
    # "smith fri 2pm", "monday 9 smith", "jones instead": who stands beside a time.
    beside = [one[one.lastgroup or 0] for one in _WORDS.compiled("doctor_beside").finditer(told)]
    names = [one for one in beside if is_strange(fold(one)[0]) and _day(one.casefold()) is None]
    return next((f"Dr. {one.title()}" for one in names if one not in refused), None)


def _day(english: str, text: str = "") -> str | None:
    figures = [one[0] for one in _WORDS.compiled("day_in_figures").finditer(text or english)]
    if figures and figures[-1].rstrip(".").casefold() in english:
        return figures[-1].casefold()
    found = [" ".join(one.replace(",", " ").split()) for one in found_in(english, "day")]
    if not found:
        return None
    said = found[-1]
    named = [one for one in found if fold(one)[0] in words_for("weekday")]
    if named and (weeks := [one for one in found if says(one, "of_a_week")]):
        return f"{named[-1]} {weeks[-1]}"  # "Wednesday next week", "in 2 weeks, Monday": one day
    for lead in ("on ", "this ", "the "):
        said = said if said == "this week" else said.removeprefix(lead)
    return said


def _last(english: str, name: str) -> str | None:
    return next(reversed(found_in(english, name)), None)


def _of(pattern: re.Pattern[str], text: str) -> str | None:
    found = list(pattern.finditer(text))
    return found[-1][1].strip() if found else None


def _time(english: str) -> str | None:
    """Return the last time: people correct themselves towards the end."""
    times = map(_clock, _WORDS.compiled("time").finditer(english))
    return next(reversed([one for one in times if one is not None]), None)


def _clock(match: re.Match[str]) -> str | None:
    """Return `15:00` for "at 3": nobody sees patients at three in the night."""
    hour = int(match[1] or match[4] or match[7])
    minute = int(match[2] or match[5] or match[8] or "0")
    half = match[3] or match[6] or ""
    is_bare = half not in {"am", "pm"} and not (match[7] or "").startswith("0")
    if (is_bare and 0 < hour < _AFTERNOON_UNTIL) or (half == "pm" and hour < 12):
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None
