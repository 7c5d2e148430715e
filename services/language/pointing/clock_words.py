"""Reads times of day and lengths out of a message."""

import re
from collections.abc import Callable, Sequence

from services.language.pointing.day_words import number_of
from services.language.pointing.draft_text import DraftText
from services.language.pointing.times import ClockChoice, TimeFilter
from services.language.pointing.vocabulary import WORDS

_FLAGS = re.IGNORECASE
_DAY_MINUTES = 24 * 60
_HALF = r"(?:\s?(?P<half{0}>[ap])\.?m\b\.?)"
_HOURS = WORDS.text("hours")


def _clock(mark: str) -> str:
    """An expression of a time of day whose form leaves no doubt that it is one."""
    half = _HALF.format(mark)
    return (
        rf"(?:(?P<h{mark}>\d{{1,2}})(?:[:.h]|(?<=\b0\d))(?P<m{mark}>[0-5]\d){half}?(?![\d.]\d)"
        rf"|(?P<hh{mark}>{_HOURS}){half.replace('half', 'hhalf')}"
        rf"|(?P<oc{mark}>{_HOURS}) ?o'? ?clock"
        rf"|(?P<word{mark}>noon|midday|midnight))"
    )


_BOUND = re.compile(rf"\b(?P<side>after|past|before|by) {_clock('')}", _FLAGS)
_EXACT = re.compile(rf"\b(?:at |around |from )?{_clock('')}(?:'s)?", _FLAGS)
_AT = re.compile(rf"\bat (?P<hour>{_HOURS})\b(?! ?(?:minute|hour|day|week|\w+ings))", _FLAGS)
PARTS_OF_DAY = {
    "morning": ((5 * 60, 12 * 60 - 1),),
    "afternoon": ((12 * 60, 18 * 60 - 1),),
    "evening": ((17 * 60, _DAY_MINUTES - 1),),
    "night": ((18 * 60, _DAY_MINUTES - 1), (0, 5 * 60 - 1)),
    "tonight": ((17 * 60, _DAY_MINUTES - 1), (0, 5 * 60 - 1)),
}


def read_evening(text: str, found: TimeFilter) -> None:
    """The word tonight is a day and a part of it; call before the days are taken out."""
    if re.search(r"\btonight\b", text, _FLAGS):
        found.clocks.append(ClockChoice(PARTS_OF_DAY["tonight"], "tonight"))


def read_clock(text: DraftText, found: TimeFilter) -> None:
    """Take all times of day and lengths out of `text`."""
    for pattern, read in _READERS:
        found.clocks += [read(match) for match in text.take_all(pattern)]
    for match in text.take_all(WORDS.compiled("length")):
        unit = 60 if match["unit"].casefold().startswith("h") else 1
        found.minutes_long = number_of(match["n"]) * unit
    found.whole_day = text.take(WORDS.compiled("whole_day")) is not None
    if text.take(WORDS.compiled("upcoming")):
        found.after_now = True
    elif text.take(WORDS.compiled("gone_by")):
        found.after_now = False


def _said(match: re.Match[str]) -> ClockChoice:
    if match["word"]:
        minute = 0 if match["word"].casefold() == "midnight" else 12 * 60
        return ClockChoice(((minute, minute),), match["word"].casefold())
    if match["h"]:
        return _at(match["h"], match["m"], match["half"])
    return _at(match["hh"] or match["oc"], None, match["hhalf"])


def _at(hour: str, minutes: str | None, half: str | None) -> ClockChoice:
    """Return a time; without am or pm both are meant, unless only one can be."""
    number = number_of(hour)
    minute = int(minutes or 0)
    if half is not None:
        hours = [number % 12 + (12 if half.casefold() == "p" else 0)] if number <= 12 else [number]
    elif hour.startswith("0") or not 1 <= number <= 12:
        hours = [number]
    else:
        hours = [number % 12, number % 12 + 12]
    return ClockChoice(tuple((one * 60 + minute,) * 2 for one in hours))


def _by_side(said: ClockChoice, side: str) -> ClockChoice:
    # Without am or pm the nearer half of a working day: "after 3" is 15:00, "before 10" is 10:00.
    starts = [first for first, _ in said.windows]
    minute = next((one for one in starts if 7 * 60 <= one < 19 * 60), starts[0])
    if side.casefold() in ("after", "past"):
        return ClockChoice(((minute, _DAY_MINUTES - 1),))
    return ClockChoice(((0, minute - 1 if side.casefold() == "before" else minute),))


def _between(match: re.Match[str]) -> ClockChoice:
    halves = [half.strip()[:1] if half else None for half in (match["ah"], match["bh"])]
    own = halves[0] or halves[1]
    firsts = [one for one, _ in _at(match["a"], None, own).windows]
    lasts = [one for one, _ in _at(match["b"], None, halves[1] or halves[0]).windows]
    return ClockChoice(
        tuple((first, last) for first, last in zip(firsts, lasts, strict=False) if first <= last)
    )


def _until(match: re.Match[str]) -> ClockChoice:
    said = match.groupdict()
    half = said.get("half")
    starts = _at(match["first"], match["minutes"], ((said.get("own") or half) or [None])[0])
    ends = _at(match["last"], match["more"], half)
    lengths = [
        (last - first) % _DAY_MINUTES for first, _ in starts.windows for last, _ in ends.windows
    ]
    return ClockChoice(starts.windows, minutes_long=min(filter(None, lengths), default=0))


def _part_of_day(match: re.Match[str]) -> ClockChoice:
    part = match["part"].casefold()
    return ClockChoice(PARTS_OF_DAY[part], part)


# In this order: what one has taken out no other reads.
_READERS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], ClockChoice]]] = (
    (WORDS.compiled("range"), _until),
    (WORDS.compiled("range_of_hours"), _until),
    (WORDS.compiled("between"), _between),
    (_BOUND, lambda it: _by_side(_said(it), it["side"])),
    (
        WORDS.compiled("bound_by_a_number"),
        lambda it: _by_side(_at(it["hour"], None, None), it["side"]),
    ),
    (_EXACT, _said),
    (_AT, lambda it: _at(it["hour"], None, None)),
    (WORDS.compiled("part_of_day"), _part_of_day),
)
