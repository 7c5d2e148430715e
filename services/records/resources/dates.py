"""FHIR dates, which may be partial: `2023`, `2023-05`, `2023-05-09`, or a full instant."""

import calendar
import re
from datetime import date

_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T.{1,40})?)?)?")


def day_text(recorded: str | None) -> str | None:
    """Return the date part as recorded (the place's own day, no time zone shift), or None."""
    return recorded[:10] if recorded and first_day(recorded) else None


def first_day(recorded: str) -> date | None:
    """Return the earliest day that `recorded` can mean, or None if it is no FHIR date."""
    return _day(recorded, last=False)


def last_day(recorded: str) -> date | None:
    """Return the latest day that `recorded` can mean, or None if it is no FHIR date."""
    return _day(recorded, last=True)


def is_within(
    begun: str, since: date | None, until: date | None = None, *, ended: str = ""
) -> bool:
    """Tell whether something may have been between two days, both included.

    What has no date is inside only where neither day is named.

    Args:
        ended: When it ended; "" for what is of one day.
    """
    if since is None and until is None:
        return True
    first, last = first_day(begun[:10]), last_day((ended or begun)[:10]) if begun else None
    is_late = since is None or (last is not None and last >= since)
    return is_late and (until is None or (first is not None and first <= until))


def years_between(birth: date, day: date) -> int:
    """Return the completed years from `birth` to `day`."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def _day(recorded: str, *, last: bool) -> date | None:
    if (found := _DATE.fullmatch(recorded)) is None:
        return None
    year, month, day = found.groups()
    try:
        if day:
            return date(int(year), int(month), int(day))
        number = int(month or ("12" if last else "01"))
        return date(int(year), number, calendar.monthrange(int(year), number)[1] if last else 1)
    except ValueError:
        return None
