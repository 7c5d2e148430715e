"""Facts that always carry their source, and what several sources say together. Pure.

Nothing is averaged or guessed.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Literal, TypeAlias

from data_models.chart_view import ViewSource
from data_models.values import ClosedValue
from services.records.resources.dates import first_day, last_day

SAME_TIME = timedelta(days=14)
"""Different values closer than this are a disagreement; further apart, a course."""
EARLIER_LIMIT = 10
SOURCE_LIMIT = 5
"""Sources shown for one value; the rest is counted."""
FactState: TypeAlias = Literal["recorded", "sources differ", "not in the record"]


class Reading(ClosedValue):
    """One value and the newest sources that say it.

    Attributes:
        more_sources: How many more say so, or None.
    """

    value: str
    sources: tuple[ViewSource, ...]
    more_sources: int | None = None

    @property
    def date(self) -> str:
        """The newest date of the sources; empty when all are undated."""
        return max((source.date or "" for source in self.sources), default="")


class Fact(ClosedValue):
    """A named value of the patient.

    Attributes:
        name: What it is, such as `ECOG`.
        state: Whether it is known; `not in the record` is said, never filled in.
        value: The newest recorded value, or None.
        sources: What says `value`, newest first.
        more_sources: How many more say so, or None.
        disagreement: Every reading, the value's own among them, when sources of the same
            time say different things; newest first.
        earlier: Older different readings, newest first.
        left_out: How many readings were over the limit.
    """

    name: str
    state: FactState
    value: str | None = None
    sources: tuple[ViewSource, ...] = ()
    more_sources: int | None = None
    disagreement: tuple[Reading, ...] = ()
    earlier: tuple[Reading, ...] = ()
    left_out: int = 0


def resolve(
    name: str, said: Iterable[tuple[str, ViewSource]], *, same_time: timedelta = SAME_TIME
) -> Fact:
    """Return the fact that the sources in `said` (value, source) give together.

    The newest value leads. A different value of the same time, or of no known time, is a
    disagreement and both are shown; an older one is listed as earlier.
    """
    if not (readings := _grouped(said)):
        return Fact(name=name, state="not in the record")
    newest, others = readings[0], readings[1:]
    rivals = [other for other in others if _same_time(newest, other, same_time)]
    earlier = [other for other in others if other not in rivals]
    return Fact(
        name=name,
        state="sources differ" if rivals else "recorded",
        value=newest.value,
        sources=newest.sources,
        more_sources=newest.more_sources,
        disagreement=(newest, *rivals) if rivals else (),
        earlier=tuple(earlier[:EARLIER_LIMIT]),
        left_out=max(0, len(earlier) - EARLIER_LIMIT),
    )


def _grouped(said: Iterable[tuple[str, ViewSource]]) -> list[Reading]:
    groups: dict[str, list[tuple[str, ViewSource]]] = {}
    for value, source in said:
        groups.setdefault(" ".join(value.casefold().split()), []).append((value, source))
    readings = [_reading(group) for group in groups.values()]
    # A stable sort: on one day, what was given first (structured before text) leads.
    return sorted(readings, key=lambda reading: reading.date, reverse=True)


def _reading(group: list[tuple[str, ViewSource]]) -> Reading:
    sources = sorted((source for _, source in group), key=lambda s: s.date or "", reverse=True)
    return Reading(
        value=group[0][0],
        sources=tuple(sources[:SOURCE_LIMIT]),
        more_sources=max(0, len(sources) - SOURCE_LIMIT) or None,
    )


def _same_time(newest: Reading, other: Reading, same_time: timedelta) -> bool:
    ends = last_day(other.date)
    begins = first_day(newest.date)
    return ends is None or begins is None or max(begins - ends, timedelta(0)) <= same_time
