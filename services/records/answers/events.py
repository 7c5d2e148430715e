"""The days around an event of the record. Pure."""

from collections.abc import Sequence
from datetime import date, timedelta

from data_models.chart_view import ChartView, ViewRow
from services.language.folding import fold
from services.language.utterance import ChartQuestion, Relation, TimeSpan
from services.records.answers.asked_rows import asked_rows
from services.records.answers.row_parts import days_recorded
from services.records.dates import first_day, last_day

_ABOUT = timedelta(days=31)
"""Before and after the first day of something, for what was measured at its time."""
_ONGOING = frozenset({"problem", "medication"})


def rows_of_event(event: ChartQuestion, view: ChartView) -> tuple[ViewRow, ...]:
    """Return the dated rows that are the event: one where the last or first is meant.

    Of an illness that came again it is the last time: between two pregnancies is in none.
    """
    rows = [row for row in asked_rows(event, view).rows if first_day(row.date)]
    rows.sort(key=lambda row: row.date)
    if event.tool == "problems":  # of diabetes the diabetes itself, and nothing that is due to it
        rows = [row for row in rows if _is_called(row, event.name)] or rows
    if event.aspect == "first":
        return tuple(rows[:1])
    if event.tool == "problems" and event.aspect == "latest":  # the last of several times
        rows = [row.model_copy(update={"date": _last_time(row)}) for row in rows]
    return tuple(rows[-1:] if event.aspect == "latest" or event.tool == "problems" else rows)


def _last_time(row: ViewRow) -> str:
    return max(days_recorded(row), default=first_day(row.date) or date.min).isoformat()


def _is_called(row: ViewRow, name: str) -> bool:
    return fold(row.name.partition("(")[0].strip())[0] == fold(name)[0]


def days_around(
    relation: Relation, rows: Sequence[ViewRow], *, is_alike: bool = False
) -> TimeSpan | None:
    """Return the days that lie so to `rows`; None where these have no day.

    After an illness or an operation is from its first day on: what was given then is for it.

    Args:
        is_alike: Things of the same list are asked for: what came before a drug is not itself.
    """
    first = min(filter(None, (first_day(row.date) for row in rows)), default=None)
    if first is None:
        return None
    if relation == "at":
        return TimeSpan(first - _ABOUT, first + _ABOUT, "")
    if relation == "since":
        return TimeSpan(first, None, "")
    if relation == "before":
        return TimeSpan(None, first - timedelta(days=1) if is_alike else first, "")
    if relation == "after":
        begun = [first_day(row.date) for row in rows if row.kind != "medication"]
        ended = [_end(row) for row in rows if row.kind == "medication"]
        return TimeSpan(max(filter(None, [*begun, *ended]), default=first), None, "")
    ends = [_end(row) for row in rows]
    return TimeSpan(first, None if None in ends else max(filter(None, ends)), "")


def _end(row: ViewRow) -> date | None:
    """Return the last day of a row; None where it goes on."""
    goes_on = row.kind in _ONGOING and row.status == "active" and not row.end
    return None if goes_on else last_day((row.end or row.date)[:10])
