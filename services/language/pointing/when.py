"""Reads one day or time as people write it: "tomorrow", "Friday 10:00", "3 December". Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from services.language.pointing.clock_words import read_clock, read_evening
from services.language.pointing.day_words import read_days
from services.language.pointing.draft_text import DraftText, without_marks
from services.language.pointing.folding import plain
from services.language.pointing.times import ClockChoice, DayChoice, TimeFilter
from services.language.pointing.vocabulary import WORDS
from services.language.words.in_english import in_english

_LOOKED_AHEAD_DAYS = 366
_WORKING_DAY = range(7 * 60, 19 * 60)
_DAWN_HOUR = 5
_NIGHT = frozenset({"night", "tonight"})


@dataclass(frozen=True, slots=True)
class When:
    """What a text says of when.

    Attributes:
        first: The day, or the first of several ("this week").
        minute: Of the day; None if only a day was said, or a part of it: "tomorrow morning".
        minutes_long: Of what is then: "for an hour", "from 2 to 3"; 0 if that was not said.
    """

    first: date | None
    last: date | None
    minute: int | None
    minutes_long: int = 0


def when_of(text: str, now: datetime, *, is_ahead: bool = False) -> When | None:
    """Return what `text` says of when, or None if that is nothing; `now` is in the user's zone.

    Where people differ ("next Friday") it is the earlier day, and a bare "at 3" lies in the
    working day.

    Args:
        is_ahead: Something is to be then: "Friday" said on a Friday is the one in a week, and
            "3.12." the next.
    """
    found = TimeFilter()
    text = WORDS.compiled("hour_behind_day").sub(r"\1 at \2", plain(in_english(text)))
    draft = DraftText(text=without_marks(text))
    read_evening(text, found)
    read_days(draft, now, found)
    read_clock(draft, found)
    if found.near:
        at = found.near[0].at
        return When(at.date(), at.date(), at.hour * 60 + at.minute)
    span = _span(found.days[0], now.date(), is_ahead=is_ahead) if found.days else None
    minute = _minute(found.clocks)
    if span is None and (minute is None or found.days):
        return None
    first, last = span if span is not None else (None, None)
    if first is not None and last is not None and _is_past_midnight(found.clocks, minute, now):
        first, last = (one + timedelta(days=1) for one in (first, last))
    length = found.minutes_long or max((one.minutes_long for one in found.clocks), default=0)
    return When(first, last, minute, length)


def _span(choice: DayChoice, today: date, *, is_ahead: bool) -> tuple[date, date] | None:
    if choice.spans:
        least = today + timedelta(days=1 if choice.behind is not None else 0)  # a bare weekday
        ahead = [one for one in choice.spans[: len(choice.spans) * is_ahead] if one[0] >= least]
        first, last = min(ahead, default=choice.spans[0])
        return None if first > last else (first, last)
    days = (today + timedelta(days=ahead) for ahead in range(_LOOKED_AHEAD_DAYS))
    found = next((day for day in days if choice.has(day)), None)
    return None if found is None else (found, found)


def _minute(clocks: Sequence[ClockChoice]) -> int | None:
    """Return the minute of the day: of "tonight at 8" the later 8, of "tonight" alone none."""
    told = [first for one in clocks for first, last in one.windows if first == last]
    parts = [one for one in clocks if any(first < last for first, last in one.windows)]
    starts = [at for at in told if all(one.has(at) for one in parts)] or told
    bounds = (window for one in clocks if not one.word for window in one.windows)
    # "After 3" begins then; "by noon" and "before 5" end then.
    starts = starts or [first or -(-last // 5) * 5 % (24 * 60) for first, last in bounds]
    return next((one for one in starts if one in _WORKING_DAY), starts[0] if starts else None)


def _is_past_midnight(clocks: Sequence[ClockChoice], minute: int | None, now: datetime) -> bool:
    """Whether an hour of a night is of the day behind: "tonight at 1", unless that night it is."""
    is_small = minute is not None and minute < _DAWN_HOUR * 60
    return is_small and now.hour >= _DAWN_HOUR and any(one.word in _NIGHT for one in clocks)
