"""Days and times as users and models say them, in the user's zone."""

from datetime import date, datetime, time, timedelta, tzinfo

from data_models.errors import ToolInputError
from services.assistant.own_things import Span
from services.language.pointing.when import when_of
from services.language.requests.clock import lasting_in, part_of_day_in, shift_in
from services.language.words.phrases import says
from services.tool_memory.session import ToolMemorySession

ISO_DAY_CHARS = len("2026-12-02")
_NO_HOUR = "no hour is named; ask the user at which"
_NO_DAY = "it is not known which day that is; ask the user for the day"
_NO_TIME = "days and times must be as 2026-12-02T15:00, tomorrow or Friday 15:00"


class SaidTimes:
    """Reads times at the moment and in the zone of one turn."""

    __slots__ = ()
    memory: ToolMemorySession
    zone: tzinfo

    def moment(self, text: str, *, ends: bool = False, is_ahead: bool = False) -> datetime:
        """Return a day or time in ISO or in words; without a zone it is the user's.

        A day alone is its midnight; with `ends` it is the next, so that the day is included.

        Args:
            is_ahead: Something is to be then; "Friday" on a Friday is the next.

        Raises:
            ToolInputError: it is neither.
        """
        at = _iso(text)
        if at is not None and ends and len(text.strip()) == ISO_DAY_CHARS:
            at += timedelta(days=1)
        return self._aware(at) if at is not None else self._in_words(text, ends, is_ahead)

    def begin(self, text: str) -> datetime:
        """Return the moment at which something is to begin.

        Raises:
            ToolInputError: it says no hour: nothing begins at midnight because nobody said when.
        """
        said = when_of(text, self.memory.now)
        if said is not None and said.minute is None:
            raise ToolInputError(_NO_HOUR)
        return self.moment(text, is_ahead=True)

    def span(self, since: str | None, until: str | None) -> Span[datetime]:
        """Return a span, the last day included."""
        return Span(
            None if since is None else self.moment(since),
            None if until is None else self.moment(until, ends=True),
        )

    def spans(self, since: str | None, until: str | None) -> list[Span[datetime]]:
        """Return the span; of "Friday" alone, said on a Friday, that of the next one, too."""
        span = self.span(since, until)
        ahead = None if since is None or since != until else self.moment(since, is_ahead=True)
        if ahead is None or ahead == span.since:
            return [span]
        return [span, Span(ahead, self.moment(since or "", ends=True, is_ahead=True))]

    def shift(self, text: str) -> timedelta:
        """Return by how much `text` moves something: "a day later".

        Raises:
            ToolInputError: it says no time at all.
        """
        if (found := shift_in(text)) is None:
            raise ToolInputError(_NO_TIME)
        return found

    def day(self, text: str, *, ends: bool = False, is_ahead: bool = False) -> date:
        """Return the day of `moment`."""
        return self.moment(text, ends=ends, is_ahead=is_ahead).astimezone(self.zone).date()

    def moved(self, text: str, before: datetime) -> datetime:
        """Return the moment that `text` says; of day and time, what it leaves out stays.

        Raises:
            ToolInputError: it says no time, or a part of a day and no hour.
        """
        at, own = _iso(text), before.astimezone(self.zone)
        if at is not None and len(text.strip()) > ISO_DAY_CHARS:
            return self._aware(at)
        hour = f"at {text}" if text.strip().isdigit() else text  # "to 12"
        said = None if at is not None else when_of(hour, self.memory.now, is_ahead=True)
        if at is None and said is None:
            is_length = lasting_in(text, timedelta()) is not None
            return own if is_length else own + self.shift(text)
        day = at.date() if at is not None else said.first if said is not None else None
        minute = None if said is None else said.minute
        if minute is None and part_of_day_in(text) is not None:
            raise ToolInputError(_NO_HOUR)
        clock = own.time() if minute is None else time(minute // 60, minute % 60)
        at, now = datetime.combine(day or own.date(), clock, self.zone), self.memory.now
        has_passed = day is None and at < now <= own  # tonight's event, moved to 0:30
        return at + timedelta(days=1) if has_passed else at

    def lasting(self, text: str, before: timedelta) -> timedelta:
        """Return how long by `text` something lasts that lasted `before`: "to 45 minutes"."""
        said = when_of(text, self.memory.now)
        if said is not None and said.minutes_long:
            return timedelta(minutes=said.minutes_long)
        return max(lasting_in(text, before) or before, timedelta(minutes=5))

    def _in_words(self, text: str, ends: bool, is_ahead: bool) -> datetime:
        said = when_of(text, self.memory.now, is_ahead=is_ahead)
        day = None if said is None else said.last if ends else said.first
        if said is None:
            raise ToolInputError(_NO_TIME)
        if day is None and says(text, "points_at_day"):
            raise ToolInputError(_NO_DAY)  # "on that day at 8"
        now = self.memory.now
        if said.minute is not None:
            clock = time(said.minute // 60, said.minute % 60)
            at = datetime.combine(day or now.date(), clock, self.zone)
            has_passed = is_ahead and day is None and at < now  # "at 10" in the afternoon
            return at + timedelta(days=1) if has_passed else at
        day = day or now.date()
        return datetime.combine(day + timedelta(days=1 if ends else 0), time(), self.zone)

    def _aware(self, at: datetime) -> datetime:
        return at if at.tzinfo is not None else at.replace(tzinfo=self.zone)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
