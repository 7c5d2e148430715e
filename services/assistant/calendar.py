"""A clinician's own calendar and tasks, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from data_models.conversations.conversation import Effect
from services.assistant.own_things import OwnThings

Time = TypeVar("Time", bound=date)


class Span(NamedTuple, Generic[Time]):
    """From `since` to before `until`; None bounds nothing."""

    since: Time | None = None
    until: Time | None = None

    def has(self, moment: Time) -> bool:
        """Tell whether `moment` is within."""
        since, until = self
        return (since is None or moment >= since) and (until is None or moment < until)


ALWAYS: Span[Any] = Span()
EVENTS_LIMIT = 500
"""The most events that one listing gives; a back end follows no more pages than it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    """One event, or one occurrence of a recurring one.

    Attributes:
        id: The back end's; an occurrence has its own.
        start: Aware, like `end`.
        is_all_day: `start` and `end` are midnights in the user's zone then, `end` excluded.
    """

    id: str
    title: str
    start: datetime
    end: datetime
    is_all_day: bool = False
    location: str = ""
    attendees: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What to put into a calendar; both times are aware."""

    title: str
    start: datetime
    end: datetime
    location: str = ""


@dataclass(frozen=True, slots=True)
class FreeTime:
    """A gap between events."""

    start: datetime
    end: datetime


class Calendar(OwnThings[CalendarEvent], Protocol):
    """One person's calendar; whoever organizes an event tells its attendees that it is deleted."""

    async def between(self, start: datetime, end: datetime) -> Sequence[CalendarEvent]:
        """Return what takes place from `start` (included) to `end` (excluded), by start.

        At most the first `EVENTS_LIMIT`.
        """
        ...

    async def create(self, event: NewEvent, effect: Effect) -> CalendarEvent:
        """Add an event."""
        ...

    async def move(
        self, event_id: str, *, start: datetime, length: timedelta | None = None
    ) -> CalendarEvent:
        """Let an event begin at `start`; its length stays where no other is given.

        Of an event of whole days it always stays.
        """
        ...


def free_times(
    events: Sequence[CalendarEvent], *, start: datetime, end: datetime, least: timedelta
) -> list[FreeTime]:
    """Return the gaps of at least `least` between `start` and `end`; whole days block nothing."""
    found: list[FreeTime] = []
    at = start
    timed = (event for event in events if not event.is_all_day)
    for event in sorted(timed, key=lambda one: one.start):
        if event.start - at >= least:
            found.append(FreeTime(at, event.start))
        at = max(at, event.end)
    return [*found, FreeTime(at, end)] if end - at >= least else found


# A clinician's own tasks, said without naming a product.


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something to do.

    Attributes:
        due: A whole day in the user's zone; None has no date.
        id: "" until it is in a list.
    """

    id: str = ""
    title: str
    due: date | None = None
    is_done: bool = False
    notes: str = ""


class TaskList(OwnThings[Task], Protocol):
    """One person's tasks."""

    async def list(
        self, *, due: Span[date] = ALWAYS, include_done: bool = False, limit: int
    ) -> Sequence[Task]:
        """Return tasks, those due first at the head and those without a date at the end.

        Args:
            due: Where it bounds anything, only tasks that are due in that span.
        """
        ...

    async def add(self, task: Task, effect: Effect) -> Task:
        """Add a task."""
        ...

    async def complete(self, task_id: str) -> Task:
        """Mark a task done; one that is done stays done."""
        ...

    async def reopen(self, task_id: str) -> Task:
        """Mark a task not done."""
        ...

    async def move(self, task_id: str, *, due: date | None, title: str = "") -> Task:
        """Give a task another date, or none; its title, which may tell an hour, if one is given."""
        ...
