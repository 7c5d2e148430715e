"""A calendar as an .ics file that other calendar programs open."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from itertools import islice, takewhile
from typing import Any, TypeVar

import recurring_ical_events
from icalendar import Calendar as IcsFile
from icalendar import Event as IcsEvent

from data_models.clock import Clock
from data_models.conversations.conversation import Effect
from data_models.errors import AssistantError, AssistantItemGoneError
from services.assistant.local.local_file import LocalFile, id_of
from services.assistant.own_things import EVENTS_LIMIT, CalendarEvent, NewEvent

# iCalendar text as events, and changes to it; what we do not know in a file stays. Pure.

OCCURRENCES_LIMIT = 1_000
_MARK, _MOMENT = "@@", "%Y%m%dT%H%M%SZ"
_REPEATED = ("rrule", "rdate", "recurrence-id")


def parsed(data: bytes | None) -> IcsFile:
    """Return the file; a calendar without events where there is none.

    Raises:
        AssistantError: it is no iCalendar file.
    """
    if data is None:
        file = IcsFile()
        file.add("prodid", "-//Rounds//Assistant//EN")
        file.add("version", "2.0")
        return file
    try:
        found = IcsFile.from_ical(data)
    except (ValueError, IndexError, KeyError):
        # `from None`: the parser's message quotes the file.
        raise AssistantError("the calendar file is not iCalendar") from None
    if not isinstance(found, IcsFile):
        raise AssistantError("the calendar file is not iCalendar")
    for row in _rows(found):
        # Let a rule reach to the end of the day that it is said to end with.
        # UNTIL must be UTC where DTSTART has a time; files in the wild write a bare date.
        first = row.decoded("dtstart")
        for rule in _listed(row, "rrule"):
            (last,) = rule.get("until") or [None]
            if isinstance(first, datetime) and last is not None and not isinstance(last, datetime):
                at = datetime.combine(last, time.max, first.tzinfo)
                rule["until"] = [at.astimezone(UTC) if first.tzinfo else at]
    return found


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
    at = _moment(moment)
    own = [one for one in _rows(file) if _uid(one) == uid and _recurrence(one, zone) == at]
    begins = _start(own[0], zone) if own else at
    if begins is None:
        return None
    found = _occurrences(file, begins, begins + timedelta(days=1), zone)
    return next((one for one in found if one.id == event_id), None)


def add_event(file: IcsFile, event: NewEvent, *, uid: str, now: datetime) -> None:
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


def move_event(
    file: IcsFile,
    event_id: str,
    start: datetime,
    *,
    length: timedelta | None,
    zone: tzinfo,
    now: datetime,
) -> None:
    """Let an event, or one occurrence only, begin at `start`; its length stays where that is None.

    Raises:
        AssistantItemGoneError: it is gone.
    """
    if (known := event_of(file, event_id, zone)) is None:
        raise AssistantItemGoneError("the event is no longer in the calendar")
    uid, _, moment = event_id.partition(_MARK)
    single = (one for one in _rows(file) if _uid(one) == uid)
    row = _exception(file, uid, moment, zone) if moment else next(single)
    like = date.min if known.is_all_day else now.astimezone(UTC)
    row.pop("duration", None)
    _set(row, "dtstart", _own_form(start, like, zone))
    end = start + (known.end - known.start if length is None or known.is_all_day else length)
    _set(row, "dtend", _own_form(end, like, zone))
    _set(row, "dtstamp", now.astimezone(UTC))
    _set(row, "sequence", int(row.get("sequence", 0)) + 1)


def remove_event(file: IcsFile, event_id: str, zone: tzinfo) -> bool:
    """Remove an event, or one occurrence only; False if it is not there."""
    if event_of(file, event_id, zone) is None:
        return False
    uid, _, moment = event_id.partition(_MARK)
    if (at := _moment(moment)) is None:
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
    # A day more: times without a zone, which are the user's, are compared as if they were in UTC.
    day = timedelta(days=1)
    series = recurring_ical_events.of(file, skip_bad_series=True).after(start.astimezone(UTC) - day)
    rows = takewhile(lambda row: _start(row, zone) < end + day, series)
    repeated = {_uid(one) for one in _rows(file) if any(name in one for name in _REPEATED)}
    for row in islice(rows, OCCURRENCES_LIMIT):
        if "uid" in row and not _is_cancelled(row):
            yield _event(row, zone, is_one_of_many=_uid(row) in repeated)


def _event(row: IcsEvent, zone: tzinfo, *, is_one_of_many: bool) -> CalendarEvent:
    start, uid = _start(row, zone), _uid(row)
    # Rows that are changed from a date on all carry that date.
    at = start if _is_changed_onwards(row) else _recurrence(row, zone)
    return CalendarEvent(
        id=f"{uid}{_MARK}{at.astimezone(UTC):{_MOMENT}}" if is_one_of_many and at else uid,
        title=str(row.get("summary", "")) or "(no title)",
        start=start,
        end=_aware(row.decoded("dtend"), zone),
        is_all_day=not isinstance(row.decoded("dtstart"), datetime),
        location=str(row.get("location", "")),
        attendees=tuple(
            str(one.params.get("CN") or str(one).removeprefix("mailto:"))
            for one in _listed(row, "attendee")
        ),
    )


def _rows(file: IcsFile) -> list[IcsEvent]:
    walked = (one for one in file.walk("VEVENT") if isinstance(one, IcsEvent))
    rows = [one for one in walked if "dtstart" in one and "uid" in one]
    return [one for one in rows if not _is_cancelled(one)]


def _is_cancelled(row: IcsEvent) -> bool:
    return str(row.get("status", "")).upper() == "CANCELLED"


def _is_changed_onwards(row: IcsEvent) -> bool:
    return "recurrence-id" in row and "RANGE" in row["recurrence-id"].params


def _start(row: IcsEvent, zone: tzinfo) -> datetime:
    return _aware(row.decoded("dtstart"), zone)


def _aware(value: date | datetime, zone: tzinfo) -> datetime:
    if not isinstance(value, datetime):
        return datetime.combine(value, time(), zone)
    return value if value.tzinfo is not None else value.replace(tzinfo=zone)


def _uid(row: IcsEvent) -> str:
    return str(row["uid"])


def _recurrence(row: IcsEvent, zone: tzinfo) -> datetime | None:
    return _aware(row.decoded("recurrence-id"), zone) if "recurrence-id" in row else None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, _MOMENT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _listed(row: IcsEvent, name: str) -> list[Any]:
    if (value := row.get(name)) is None:
        return []
    return value if isinstance(value, list) else [value]


# -- changing ---------------------------------------------------------------------------------


def _master(file: IcsFile, uid: str) -> IcsEvent:
    rows = [one for one in _rows(file) if _uid(one) == uid]
    if any(map(_is_changed_onwards, rows)):
        raise AssistantError("the series was changed from a date on; change it where that was done")
    return next(one for one in rows if "recurrence-id" not in one)


def _exception(file: IcsFile, uid: str, moment: str, zone: tzinfo) -> IcsEvent:
    if (at := _moment(moment)) is None:
        raise AssistantItemGoneError("the event is no longer in the calendar")
    master = _master(file, uid)
    for row in _rows(file):
        if _uid(row) == uid and _recurrence(row, zone) == at:
            return row
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


Result = TypeVar("Result")


class LocalCalendar:
    """A `Calendar` in one file; parsing leaves the event loop alone.

    `zone` is the user's: whole days and floating times are its.
    """

    def __init__(self, *, file: LocalFile, zone: tzinfo, clock: Clock) -> None:
        self._file = file
        self._zone = zone
        self._clock = clock

    async def between(self, start: datetime, end: datetime) -> Sequence[CalendarEvent]:
        found = await self._read(lambda file: events_between(file, start, end, self._zone))
        return found[:EVENTS_LIMIT]

    async def get(self, event_id: str) -> CalendarEvent | None:
        return await self._read(lambda file: event_of(file, event_id, self._zone))

    async def create(self, event: NewEvent, effect: Effect) -> CalendarEvent:
        uid, now = id_of("event", effect), self._clock.now()
        await self._change(lambda file: add_event(file, event, uid=uid, now=now))
        return await self._find(uid)

    async def move(
        self, event_id: str, *, start: datetime, length: timedelta | None = None
    ) -> CalendarEvent:
        given: dict[str, Any] = {"length": length, "zone": self._zone, "now": self._clock.now()}
        await self._change(lambda file: move_event(file, event_id, start, **given))
        return await self._find(event_id)

    async def delete(self, event_id: str) -> bool:
        return await self._change(lambda file: remove_event(file, event_id, self._zone))

    async def _find(self, event_id: str) -> CalendarEvent:
        if (found := await self.get(event_id)) is None:
            raise AssistantItemGoneError("the event is no longer in the calendar")
        return found

    async def _read(self, look: Callable[[IcsFile], Result]) -> Result:
        data = await self._file.read()
        return await asyncio.to_thread(lambda: look(parsed(data)))

    async def _change(self, change: Callable[[IcsFile], Result]) -> Result:
        return await self._file.change(partial(_changed, change))


def _changed(change: Callable[[IcsFile], Result], data: bytes | None) -> tuple[bytes, Result]:
    file = parsed(data)
    result = change(file)
    written: bytes = file.to_ical()
    return written, result
