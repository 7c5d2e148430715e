"""iCalendar text as events, and changes to it; what we do not know in a file stays. Pure."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from dateutil.rrule import rruleset, rrulestr
from icalendar import Calendar as IcsFile
from icalendar import Event as IcsEvent
from icalendar import vRecur

from data_models.errors import AssistantError, AssistantItemGoneError
from services.assistant.calendar import CalendarEvent, NewEvent

OCCURRENCES_LIMIT = 1_000
_MARK = "@@"


def parsed(data: bytes) -> IcsFile:
    """Return the file.

    Raises:
        AssistantError: it is no iCalendar file.
    """
    try:
        found = IcsFile.from_ical(data)
    except (ValueError, IndexError, KeyError):
        # `from None`: the parser's message quotes the file.
        raise AssistantError("the calendar file is not iCalendar") from None
    if not isinstance(found, IcsFile):
        raise AssistantError("the calendar file is not iCalendar")
    return found


def empty() -> IcsFile:
    """Return a calendar without events."""
    file = IcsFile()
    file.add("prodid", "-//Rounds//Assistant//EN")
    file.add("version", "2.0")
    return file


def events_between(
    file: IcsFile, start: datetime, end: datetime, zone: tzinfo
) -> list[CalendarEvent]:
    """Return occurrences that overlap the span, by start."""
    found = [
        one for one in _occurrences(file, start, end, zone) if one.start < end and one.end > start
    ]
    return sorted(found, key=lambda one: (one.start, one.id))


def event_of(file: IcsFile, event_id: str, zone: tzinfo) -> CalendarEvent | None:
    """Return one event or occurrence by its id."""
    uid, _, moment = event_id.partition(_MARK)
    if not moment:
        rows = [one for one in _rows(file) if _uid(one) == uid and not _is_recurring(one)]
        return _event(rows[0], event_id, _start(rows[0], zone), zone) if rows else None
    at = _moment(moment)
    if at is None:
        return None
    near = timedelta(days=400)
    found = _occurrences(file, at - near, at + near, zone)
    return next((one for one in found if one.id == event_id), None)


def add(file: IcsFile, event: NewEvent, *, uid: str, now: datetime) -> None:
    """Add an event, unless there is one of that `uid`."""
    if any(_uid(one) == uid for one in _rows(file)):
        return
    row = IcsEvent()
    row.add("uid", uid)
    row.add("dtstamp", now.astimezone(UTC))
    row.add("summary", event.title)
    # In UTC: a zone's name would need its whole definition beside it.
    row.add("dtstart", event.start.astimezone(UTC))
    row.add("dtend", event.end.astimezone(UTC))
    if event.location:
        row.add("location", event.location)
    file.add_component(row)


def move(file: IcsFile, event_id: str, start: datetime, *, zone: tzinfo, now: datetime) -> None:
    """Let an event, or one occurrence only, begin at `start`.

    Raises:
        AssistantItemGoneError: it is gone.
    """
    known = event_of(file, event_id, zone)
    if known is None:
        raise AssistantItemGoneError("the event is no longer in the calendar")
    uid, _, moment = event_id.partition(_MARK)
    row = _exception(file, uid, moment, zone) if moment else _single(file, uid)
    like = date.min if known.is_all_day else now.astimezone(UTC)
    row.pop("duration", None)
    _set(row, "dtstart", _own_form(start, like, zone))
    _set(row, "dtend", _own_form(start + (known.end - known.start), like, zone))
    _set(row, "dtstamp", now.astimezone(UTC))
    _set(row, "sequence", int(row.get("sequence", 0)) + 1)


def remove(file: IcsFile, event_id: str, zone: tzinfo) -> bool:
    """Remove an event, or one occurrence only; False if it is not there."""
    if event_of(file, event_id, zone) is None:
        return False
    uid, _, moment = event_id.partition(_MARK)
    at = _moment(moment)
    if at is None:
        gone = [one for one in _rows(file) if _uid(one) == uid]
    else:
        master = _master(file, uid)
        master.add("exdate", _own_form(at, master.decoded("dtstart"), zone))
        gone = [one for one in _rows(file) if _uid(one) == uid and _recurrence(one, zone) == at]
    file.subcomponents = [
        one for one in file.subcomponents if all(one is not each for each in gone)
    ]
    return True


# -- reading ----------------------------------------------------------------------------------


def _occurrences(
    file: IcsFile, start: datetime, end: datetime, zone: tzinfo
) -> Iterator[CalendarEvent]:
    moved = {(_uid(one), _recurrence(one, zone)) for one in _rows(file)}
    for row in _rows(file):
        first = _start(row, zone)
        own = _recurrence(row, zone)
        if own is not None:
            yield _event(row, _occurrence_id(_uid(row), own), first, zone)
        elif not _is_recurring(row):
            yield _event(row, _uid(row), first, zone)
        else:
            for at in _repeated(row, first, start, end, zone):
                if (_uid(row), at) not in moved:
                    yield _event(row, _occurrence_id(_uid(row), at), at, zone)


def _repeated(
    row: IcsEvent, first: datetime, start: datetime, end: datetime, zone: tzinfo
) -> Iterator[datetime]:
    length = _length(row, first, zone)
    rules = rruleset()
    for rule in _listed(row, "rrule"):
        rules.rrule(rrulestr(_rule_text(rule, first), dtstart=first))
    for group in _listed(row, "rdate"):
        for one in group.dts:
            rules.rdate(_aware(one.dt, zone))
    for group in _listed(row, "exdate"):
        for one in group.dts:
            rules.exdate(_aware(one.dt, zone).astimezone(first.tzinfo))
    for number, at in enumerate(rules.xafter(start - length, inc=True)):
        if at >= end or number >= OCCURRENCES_LIMIT:
            return
        yield at


def _rule_text(rule: Any, first: datetime) -> str:
    # UNTIL must be UTC where DTSTART has a zone; files in the wild write a bare date.
    rule = dict(rule)
    until = rule.get("UNTIL")
    if until:
        last = until[0]
        at = last if isinstance(last, datetime) else datetime.combine(last, time.max, first.tzinfo)
        at = at if at.tzinfo else at.replace(tzinfo=first.tzinfo)
        rule["UNTIL"] = [at.astimezone(UTC)]
    return str(vRecur(rule).to_ical(), "utf-8")  # type: ignore[no-untyped-call]


def _event(row: IcsEvent, event_id: str, at: datetime, zone: tzinfo) -> CalendarEvent:
    return CalendarEvent(
        id=event_id,
        title=str(row.get("summary", "")) or "(no title)",
        start=at,
        end=at + _length(row, _start(row, zone), zone),
        is_all_day=not isinstance(row.decoded("dtstart"), datetime),
        location=str(row.get("location", "")),
        attendees=tuple(
            str(one.params.get("CN") or str(one).removeprefix("mailto:"))
            for one in _listed(row, "attendee")
        ),
    )


def _length(row: IcsEvent, first: datetime, zone: tzinfo) -> timedelta:
    if "dtend" in row:
        return _aware(row.decoded("dtend"), zone) - first
    if "duration" in row:
        found = row.decoded("duration")
        return found if isinstance(found, timedelta) else timedelta()
    return timedelta() if isinstance(row.decoded("dtstart"), datetime) else timedelta(days=1)


def _rows(file: IcsFile) -> list[IcsEvent]:
    walked = (one for one in file.walk("VEVENT") if isinstance(one, IcsEvent))
    rows = [one for one in walked if "dtstart" in one and "uid" in one]
    return [one for one in rows if str(one.get("status", "")).upper() != "CANCELLED"]


def _start(row: IcsEvent, zone: tzinfo) -> datetime:
    return _aware(row.decoded("dtstart"), zone)


def _aware(value: date | datetime, zone: tzinfo) -> datetime:
    if not isinstance(value, datetime):
        return datetime.combine(value, time(), zone)
    return value if value.tzinfo is not None else value.replace(tzinfo=zone)


def _uid(row: IcsEvent) -> str:
    return str(row["uid"])


def _is_recurring(row: IcsEvent) -> bool:
    return ("rrule" in row or "rdate" in row) and "recurrence-id" not in row


def _recurrence(row: IcsEvent, zone: tzinfo) -> datetime | None:
    return _aware(row.decoded("recurrence-id"), zone) if "recurrence-id" in row else None


def _occurrence_id(uid: str, at: datetime) -> str:
    return f"{uid}{_MARK}{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _listed(row: IcsEvent, name: str) -> list[Any]:
    value = row.get(name)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


# -- changing ---------------------------------------------------------------------------------


def _single(file: IcsFile, uid: str) -> IcsEvent:
    return next(one for one in _rows(file) if _uid(one) == uid)


def _master(file: IcsFile, uid: str) -> IcsEvent:
    return next(one for one in _rows(file) if _uid(one) == uid and "recurrence-id" not in one)


def _exception(file: IcsFile, uid: str, moment: str, zone: tzinfo) -> IcsEvent:
    at = _moment(moment)
    if at is None:
        raise AssistantItemGoneError("the event is no longer in the calendar")
    for row in _rows(file):
        if _uid(row) == uid and _recurrence(row, zone) == at:
            return row
    master = _master(file, uid)
    row = IcsEvent()
    for name in ("uid", "summary", "location", "description", "attendee", "organizer"):
        if name in master:
            row[name] = master[name]
    row.add("recurrence-id", _own_form(at, master.decoded("dtstart"), zone))
    file.add_component(row)
    return row


def _own_form(at: datetime, like: date, zone: tzinfo) -> date:
    """Return a moment as the file writes it: a whole day, without a zone, or in a zone."""
    if not isinstance(like, datetime):
        return at.astimezone(zone).date()
    if like.tzinfo is None:
        return at.astimezone(zone).replace(tzinfo=None)
    return at.astimezone(like.tzinfo)


def _set(row: IcsEvent, name: str, value: Any) -> None:
    row.pop(name, None)
    row.add(name, value)
