"""Whether somebody is seen on a day. Pure."""

from datetime import date

from services.records.dates import first_day, last_day
from services.records.entry import Entry, end_of, text

_NOT_MEANT = frozenset({"cancelled", "entered-in-error", "noshow", "proposed"})
_GOES_ON = frozenset({"in-progress", "arrived", "triaged", "onleave"})


def is_on(entry: Entry, day: date) -> bool:
    """Whether a visit or an appointment, if it is meant, is on `day` or goes on then."""
    if entry.status in _NOT_MEANT:
        return False
    first = first_day(entry.date[:10])
    if first is None or first > day:
        return False
    ended = end_of(entry.raw, "period") or text(entry.raw, "end")
    last = last_day(ended[:10]) if ended else None
    if last is None:
        last = day if goes_on(entry.kind, entry.status) else last_day(entry.date[:10])
    return last is not None and day <= last


def goes_on(kind: str, status: str) -> bool:
    """Whether it is a visit that has begun and not ended."""
    return kind == "Encounter" and status in _GOES_ON
