"""Hours, days of the month and weeks in short answers about an appointment. Pure."""

from datetime import timedelta
from typing import Any

from services.language.pointing.clock_words import PARTS_OF_DAY
from services.language.pointing.day_words import number_of
from services.language.pointing.vocabulary import WORDS
from services.language.words.folding import words_of
from services.language.words.in_english import in_english
from services.language.words.phrases import found_in, says, without

_FORWARD = ("forward", "forward by")
_LAST_HOUR, _LAST_MINUTE = 24, 59


def hour_alone_in(text: str) -> int | None:
    """Return the hour that the whole of `text` is: "3", "at 15", "um 15 Uhr"."""
    found = WORDS.compiled("hour_alone").fullmatch(in_english(text).casefold())
    return None if found is None else int(found[1])


def hours_told(text: str) -> set[int]:
    """Return the hours that `text` tells of: 8 of "(08:00)" and of "at 8"."""
    said = in_english(text).casefold()
    return {int(one[1]) for one in WORDS.compiled("hour_told").finditer(said)}


def part_of_day_in(text: str) -> range | None:
    """Return the minutes of the day that `text` names a part of: "tomorrow morning"."""
    english = in_english(text)
    named = [one for one in words_of(english) if one in PARTS_OF_DAY]
    named += [one for one in ("morning", "afternoon") if says(english, f"whole_{one}")]  # "wed pm"
    if not named:
        return None
    first, last = PARTS_OF_DAY[named[-1]][0]
    return range(first, last + 1)


def says_impossible_clock(text: str) -> bool:
    """Whether `text` names a time that no day has, such as 25:00."""
    if (found := WORDS.compiled("clock_figures").search(in_english(text).casefold())) is None:
        return False
    return int(found[1] or found[3]) > _LAST_HOUR or int(found[2] or 0) > _LAST_MINUTE


def shift_in(text: str) -> timedelta | None:
    """Return by how much `text` moves something: "one day later", "by a week", "the week after"."""
    said = in_english(text).casefold()
    found = WORDS.compiled("shift_of_time").search(said)
    if found is None or not (found[1] or found[4]):
        return None
    rest = without(said[found.end() :], "same_time").strip(" .,!?")
    if found[2] == "the" and (not found[4] or rest not in ("", "at")):
        return None  # "the day after tomorrow" is a day
    shift = _span(found[2], found[3])
    is_before = found[4] in ("earlier", "before", "sooner") or found[1] in _FORWARD
    return -shift if is_before else shift


def lasting_in(text: str, before: timedelta) -> timedelta | None:
    """Return how long by `text` something lasts that lasted `before`: "half an hour longer"."""
    found = WORDS.compiled("length_of_time").search(in_english(text).casefold())
    if found is None:
        return None
    span, change = _span(found[2], found[3]), found[1] or found[4]
    return span if change is None else before + (-span if change.startswith("short") else span)


def _span(count: str, unit: str) -> timedelta:
    number = 0.5 if count.startswith("half") else number_of(count)
    return number * timedelta(**{f"{'minute' if unit == 'min' else unit}s": 1})


def day_in(text: str) -> str | None:
    """Return the day or week that `text` names, in English words or ISO; None if it names none."""
    return next(iter(found_in(in_english(text), "day")), None)


def is_relative_value(value: Any) -> bool:
    """Whether `value` is text such as "tomorrow", "next Friday" or "in zwei Tagen"."""
    return isinstance(value, str) and says(value, "relative_time")
