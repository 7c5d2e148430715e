"""Days, months and years of the calendar, and steps back from a day. Pure."""

from dataclasses import dataclass
from datetime import date, timedelta

_DAYS_OF = {"day": 1, "week": 7}
_MONTHS_OF = {"month": 1, "year": 12, "decade": 120}


@dataclass(frozen=True, slots=True)
class Days:
    """A day, a month or a year, as its first and last day."""

    first: date
    last: date


def days_of(year: int, month: int | None, day: int | None) -> Days | None:
    """Return a day, month or year; None where there is no such one."""
    try:
        if day is not None and month is not None:
            return Days(date(year, month, day), date(year, month, day))
        if month is not None:
            return Days(date(year, month, 1), before_next_month(year, month))
        return Days(date(year, 1, 1), date(year, 12, 31))
    except ValueError:
        return None


def before_next_month(year: int, month: int) -> date:
    """Return the last day of a month."""
    after = date(year + month // 12, month % 12 + 1, 1)
    return after - timedelta(days=1)


def steps_back(today: date, unit: str, count: int) -> date:
    """Return the day `count` units before `today`."""
    if unit in _DAYS_OF:
        return today - timedelta(days=_DAYS_OF[unit] * count)
    months = max(12, today.year * 12 + today.month - 1 - _MONTHS_OF[unit] * count)
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(today.day, before_next_month(year, month).day))


def around(day: date, unit: str) -> Days:
    """Return the week, month, year or decade of the calendar that holds `day`."""
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return Days(monday, monday + timedelta(days=6))
    if unit == "decade":
        first = day.year - day.year % 10
        return Days(date(first, 1, 1), date(first + 9, 12, 31))
    month = day.month if unit in ("month", "day") else None
    found = days_of(day.year, month, day.day if unit == "day" else None)
    return found or Days(day, day)


def whole_year(year: int) -> int:
    """Return a year that may be written with two figures."""
    return year + (2000 if year < 50 else 1900 if year < 100 else 0)
