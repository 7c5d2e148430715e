"""Days and times in a message, as a filter on an entity's own date in the user's zone. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta


@dataclass(frozen=True, slots=True)
class DayChoice:
    """Days of which one must fit, both ends included; or a day of the month or the year.

    Attributes:
        word: As typed, if it may also be part of a name ("Friday standup").
        behind: The day before these that what has come in was received on: "Sunday's mail".
        month: With `day`, or alone; of any year.
    """

    spans: tuple[tuple[date, date], ...] = ()
    behind: date | None = None
    month: int | None = None
    day: int | None = None
    word: str = ""

    def has(self, day: date, *, is_received: bool = False) -> bool:
        """Whether `day` is one of them."""
        if is_received and day == self.behind:
            return True
        if self.spans:
            return any(first <= day <= last for first, last in self.spans)
        fits_month = self.month is None or self.month == day.month
        return fits_month and (self.day is None or self.day == day.day)


@dataclass(frozen=True, slots=True)
class ClockChoice:
    """Windows of the day of which one must fit, in minutes, both ends included.

    Attributes:
        minutes_long: From the one hour to the other, where two are named: 60 of "2-3 pm".
    """

    windows: tuple[tuple[int, int], ...]
    word: str = ""
    minutes_long: int = 0

    def has(self, minute: int) -> bool:
        """Whether the minute of the day is in one of them."""
        return any(first <= minute <= last for first, last in self.windows)


@dataclass(frozen=True, slots=True)
class Near:
    """A distance from now: "in two hours"."""

    at: datetime

    def has(self, start: datetime) -> bool:
        """Whether `start` is within half an hour of it."""
        return abs(start - self.at) <= timedelta(minutes=30)


@dataclass(slots=True)
class TimeFilter:
    """Everything that a message says of when.

    Attributes:
        minutes_long: A length: "the 30 minute call".
        whole_day: Only what has no time of day: "the all-day event".
        after_now: True for upcoming, False for past, None if nothing is said.
    """

    days: list[DayChoice] = field(default_factory=list)
    clocks: list[ClockChoice] = field(default_factory=list)
    near: list[Near] = field(default_factory=list)
    minutes_long: int | None = None
    after_now: bool | None = None
    whole_day: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the message says nothing of when."""
        said = self.days or self.clocks or self.near
        more = self.minutes_long is not None or self.after_now is not None or self.whole_day
        return not (said or more)

    def fits(
        self,
        start: datetime | None,
        end: datetime | None,
        *,
        has_time: bool,
        now: datetime,
        name: Sequence[str],
        is_received: bool = False,
    ) -> bool:
        """Whether an entity that starts at `start` (in the user's zone) is meant."""
        if self.is_empty:
            return True
        if start is None:
            return False
        return (
            all(
                day.has(start.date(), is_received=is_received) or day.word in name
                for day in self.days
            )
            and all(
                (has_time and one.has(start.hour * 60 + start.minute)) or one.word in name
                for one in self.clocks
            )
            and all(has_time and one.has(start) for one in self.near)
            and not (self.whole_day and has_time)
            and self._fits_length(start, end)
            and self._fits_now(start, now, has_time=has_time)
        )

    def _fits_length(self, start: datetime, end: datetime | None) -> bool:
        if self.minutes_long is None:
            return True
        return end is not None and end - start == timedelta(minutes=self.minutes_long)

    def _fits_now(self, start: datetime, now: datetime, *, has_time: bool) -> bool:
        if self.after_now is None:
            return True
        if not has_time:
            return start.date() >= now.date() if self.after_now else start.date() < now.date()
        return start >= now if self.after_now else start < now
