"""Reads one day or time as people write it: "tomorrow", "Friday 10:00", "3 December". Pure."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from services.language.in_english import in_english
from services.language.pointing.clock_words import read_clock, read_evening
from services.language.pointing.day_words import read_days
from services.language.pointing.draft_text import DraftText, without_marks
from services.language.pointing.folding import plain
from services.language.pointing.times import DayChoice, TimeFilter

_LOOKED_AHEAD_DAYS = 366
_WORKING_DAY = range(7 * 60, 19 * 60)


@dataclass(frozen=True, slots=True)
class When:
    """What a text says of when.

    Attributes:
        first: The day, or the first of several ("this week").
        minute: Of the day; None if only a day was said.
    """

    first: date | None
    last: date | None
    minute: int | None


def when_of(text: str, now: datetime, *, is_ahead: bool = False) -> When | None:
    """Return what `text` says of when, or None if that is nothing; `now` is in the user's zone.

    Where people differ ("next Friday") it is the earlier day, and a bare "at 3" lies in the
    working day.

    Args:
        is_ahead: Something is to be then: "Friday" said on a Friday is the one in a week, and
            "3.12." the next.
    """
    found = TimeFilter()
    text = plain(in_english(text))
    draft = DraftText(text=without_marks(text))
    read_evening(text, found)
    read_days(draft, now, found)
    read_clock(draft, found)
    if found.near:
        at = found.near[0].at
        return When(at.date(), at.date(), at.hour * 60 + at.minute)
    span = _span(found.days[0], now.date(), is_ahead=is_ahead) if found.days else None
    minute = _minute([first for one in found.clocks for first, _ in one.windows])
    if span is None and (minute is None or found.days):
        return None
    first, last = span if span is not None else (None, None)
    return When(first, last, minute)


def _span(choice: DayChoice, today: date, *, is_ahead: bool) -> tuple[date, date] | None:
    if choice.spans:
        least = today + timedelta(days=1 if choice.behind is not None else 0)  # a bare weekday
        ahead = [one for one in choice.spans[: len(choice.spans) * is_ahead] if one[0] >= least]
        first, last = min(ahead, default=choice.spans[0])
        return None if first > last else (first, last)
    days = (today + timedelta(days=ahead) for ahead in range(_LOOKED_AHEAD_DAYS))
    found = next((day for day in days if choice.has(day)), None)
    return None if found is None else (found, found)


def _minute(starts: list[int]) -> int | None:
    if not starts:
        return None
    return next((one for one in starts if one in _WORKING_DAY), starts[0])
