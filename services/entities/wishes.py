"""What a user wants, read from their own words by rules; a model's extractor may know more."""

import re
from typing import Any

from services.language.requests import refused_doctors

_TOPIC = re.compile(
    r"(?i)\b(appointments?|book(?:ing)?|re-?schedul\w*|schedule|slots?|available|availability"
    r"|see (?:a |the )?(?:dr|doctor)|(?:want|like|prefer|need|rather) (?:to see )?(?:a |an )?"
    r"(?:dr\b|doctor|check-?up|cleaning|consultation|follow-?up))"
)
_DOCTOR = re.compile(r"\b(?:[Dd]r\.?|[Dd]octor)\s+([A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)?)")
_DATE = re.compile(
    r"(?i)\b(today|tomorrow|day after tomorrow|(?:next |on |this )?(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day|[0-9]{4}-[0-9]{2}-[0-9]{2})\b"
)
_TIME = re.compile(
    r"(?i)(?:\b(?:at|actually|make it|rather|about|around)\s+)([0-9]{1,2})(?::([0-9]{2}))?\s*"
    r"(am|pm|o'clock)?\b|\b([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm)\b|\b([0-9]{1,2}):([0-9]{2})\b"
)
_PROCEDURE = re.compile(
    r"(?i)\b(check-?up|cleaning|consultation|follow-?up|x-?ray|blood test|vaccination|scan)\b"
)
_REASON = re.compile(r"(?i)\b(?:because of|because|reason is|due to|for my)\s+([^.,;!?\n]{3,120})")
_URGENCY = re.compile(
    r"(?i)\b(urgent(?:ly)?|as soon as possible|asap|emergency|no (?:hurry|rush))\b"
)
_NAME = re.compile(r"\b(?:[Mm]y name is|I am called)\s+([A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)?)")
_AFTERNOON_UNTIL = 7
_END_CHARS = 1_000


def wishes_in(text: str, *, is_booking: bool) -> dict[str, Any]:
    """Return what `text` asks for, by entity key; nothing where it is not about an appointment.

    Of a long text, such as a pasted letter, only its beginning and its end are read.

    Args:
        is_booking: Whether an appointment is being arranged already, so that "actually 4" counts.
    """
    if len(text) > 2 * _END_CHARS:
        text = f"{text[:_END_CHARS]}\n{text[-_END_CHARS:]}"
    if not is_booking and _TOPIC.search(text) is None:
        return {}
    found: dict[str, Any] = {}
    refused = refused_doctors(text)
    named = [match for match in _DOCTOR.finditer(text) if match[1] not in refused]
    if (doctor := named[-1] if named else None) is not None:
        found["doctor_preference"] = f"Dr. {doctor[1]}"
    if (date := _last(_DATE, text)) is not None:
        found["date_preference"] = re.sub(r"^(on|this) ", "", date[1].lower())
    if (time := _last(_TIME, text)) is not None and (clock := _clock_time(time)) is not None:
        found["time_preference"] = clock
    for key, pattern in (
        ("procedure_preference", _PROCEDURE),
        ("reason_visit", _REASON),
        ("urgency_preference", _URGENCY),
        ("user_name", _NAME),
    ):
        if (match := _last(pattern, text)) is not None:
            found[key] = match[1].strip()
    return found


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match: people correct themselves towards the end."""
    match = None
    for match in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return match


def _clock_time(match: re.Match[str]) -> str | None:
    """Return `15:00` for "at 3": nobody sees patients at three in the night."""
    groups = match.groups()
    hour = int(next(groups[index] for index in (0, 3, 6) if groups[index] is not None))
    minute = int(next((groups[index] for index in (1, 4, 7) if groups[index] is not None), "0"))
    half = (groups[2] or groups[5] or "").lower()
    is_bare = half not in {"am", "pm"} and groups[6] is None and 0 < hour < _AFTERNOON_UNTIL
    if is_bare or (half == "pm" and hour < 12):
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None
