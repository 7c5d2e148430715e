"""Whether somebody is seen on a day, at what time and what for. Pure."""

from datetime import date, datetime, tzinfo

from services.records.resources.dates import first_day, last_day
from services.records.resources.entry import Entry, end_of, label, labels, one, text

VISITS = ("Encounter", "Appointment")
NOT_MEANT = frozenset({"cancelled", "entered-in-error", "noshow", "proposed"})
_GOES_ON = frozenset({"in-progress", "arrived", "triaged", "onleave"})
REASON_LIMIT_CHARS = 80


def is_on(entry: Entry, day: date, zone: tzinfo | None = None) -> bool:
    """Whether a visit or an appointment, if it is meant, is on `day` or goes on then.

    Args:
        zone: Whose day it is; None: each moment's own offset decides.
    """
    days = days_of(entry, zone)
    return days is not None and days[0] <= day <= days[1]


def days_of(entry: Entry, zone: tzinfo | None = None) -> tuple[date, date] | None:
    """Return the first and the last day, `date.max` while it goes on; None: it is on no day."""
    if entry.status in NOT_MEANT:
        return None
    if entry.kind == "Appointment" and not text(entry.raw, "start"):
        return None  # its date is the day on which it was written
    begun = _local(entry.date, zone)
    if (first := first_day(begun)) is None:
        return None
    ended = end_of(entry.raw, "period") or text(entry.raw, "end")
    last = last_day(_local(ended, zone)) if ended else None
    if last is None:
        last = date.max if goes_on(entry.kind, entry.status) else last_day(begun)
    return None if last is None else (first, last)


def goes_on(kind: str, status: str) -> bool:
    """Whether it is a visit that has begun and not ended."""
    return kind == "Encounter" and status in _GOES_ON


def time_of(entry: Entry, zone: tzinfo) -> str:
    """Return when on its first day it begins, such as `09:30`; "" where no time is recorded."""
    moment = _moment(entry.date, zone)
    return "" if moment is None else moment.strftime("%H:%M")


def reason_of(entry: Entry) -> str:
    """Return in a few words what it is for; "" where that is not recorded."""
    raw = entry.raw
    found = ", ".join(labels(raw, "reasonCode")) or text(raw, "description")
    found = found or ", ".join(labels(raw, "serviceType") or labels(raw, "type"))
    found = " ".join((found or label(one(raw, "appointmentType"))).split())
    is_long = len(found) > REASON_LIMIT_CHARS
    return f"{found[: REASON_LIMIT_CHARS - 1]}…" if is_long else found


def _local(recorded: str, zone: tzinfo | None) -> str:
    """Return the day of a moment in `zone`, or as recorded."""
    moment = None if zone is None else _moment(recorded, zone)
    return recorded[:10] if moment is None else moment.date().isoformat()


def _moment(recorded: str, zone: tzinfo) -> datetime | None:
    """Return a moment in `zone`; None where no offset is recorded with it."""
    try:
        found = datetime.fromisoformat(recorded)
        return None if found.tzinfo is None else found.astimezone(zone)
    except (ValueError, OverflowError):
        return None
