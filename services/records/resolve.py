"""Deciding what several sources say together. Pure; nothing is averaged or guessed."""

from collections.abc import Iterable
from datetime import timedelta

from data_models.chart_view import ViewSource
from services.records.dates import first_day, last_day
from services.records.facts import Fact, Reading

SAME_TIME = timedelta(days=14)
"""Different values closer than this are a disagreement; further apart, a course."""
EARLIER_LIMIT = 10
SOURCE_LIMIT = 5
"""Sources shown for one value; the rest is counted."""


def resolve(
    name: str, said: Iterable[tuple[str, ViewSource]], *, same_time: timedelta = SAME_TIME
) -> Fact:
    """Return the fact that the sources in `said` (value, source) give together.

    The newest value leads. A different value of the same time, or of no known time, is a
    disagreement and both are shown; an older one is listed as earlier.
    """
    readings = _grouped(said)
    if not readings:
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
    if ends is None or begins is None:
        return True
    return max(begins - ends, timedelta(0)) <= same_time
