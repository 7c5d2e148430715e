"""The days around an event of the record, and the stays at the beginning of one. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby
from operator import attrgetter

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.tools_named import SEARCH
from services.language.figures.calendar_days import steps_back
from services.language.questions.single_questions import GROWTH
from services.language.utterance import ChartQuestion, TimeSpan
from services.language.words.folding import tokens_of
from services.language.words.statement_tables import saying
from services.records.answers.choosing.asked_rows import asked_rows, has_answer, of_itself
from services.records.answers.choosing.excluded_rows import was_never
from services.records.answers.choosing.row_parts import (
    beyond,
    is_limited,
    last_visits,
    moment_of,
    number_of,
    times_told,
)
from services.records.answers.choosing.said_words import has_words
from services.records.concepts.table import words_listed
from services.records.concepts.words import words_of
from services.records.resources.dates import first_day, last_day

_ABOUT = timedelta(days=31)
"""Before and after the first day of something, for what was measured at its time."""
_ABOUT_UNITS = {"day": timedelta(days=1), "week": timedelta(days=4)}
"""Likewise for what is asked of so many days or weeks before or after."""
_ONGOING = frozenset({"problem", "medication", "encounter"})
_GOES_ON = frozenset({"active", "in-progress", "onleave"})
_HAPPENED = frozenset({"problem", "procedure", "encounter", "immunization", "medication"})


def rows_of_event(event: ChartQuestion, view: ChartView) -> tuple[ViewRow, ...]:
    """Return the dated rows that are the event: one where the last or first is meant.

    Of an illness that came again it is the last time: between two pregnancies is in none.
    """
    found = last_visits(event, [_of_its_end(event, row) for row in asked_rows(event, view).rows])
    rows = [row for row in found if first_day(row.date) and not was_never(row)]
    rows.sort(key=moment_of)
    if event.tool == "results":
        return _of_values(event, rows)
    if event.tool == SEARCH:
        return tuple(row for row in rows if _is_meant(event, row))
    rows = _itself(event, rows)
    if event.back:  # the last but one
        return tuple(rows[-1 - event.back :][:1])
    if event.most:
        return tuple(rows[-event.most :] if event.aspect == "latest" else rows[: event.most])
    if event.aspect == "first":
        times = sorted((one for row in rows for one in times_of(row)), key=lambda row: row.date)
        return tuple(times[event.back :][:1])
    if (event.tool, event.aspect) == ("problems", "latest"):  # of several times
        rows = [times_of(row)[-1] for row in rows]
    is_one = event.tool == "problems" and len({row.name for row in rows}) == 1
    is_one |= event.name == "operation"  # of a biopsy, a port and a resection the last
    return tuple(rows[-1:] if is_one or event.aspect == "latest" else rows)


def _itself(event: ChartQuestion, rows: list[ViewRow]) -> list[ViewRow]:
    """Return of diabetes nothing that is due to it, of what was done no counselling beside it."""
    if event.tool == "problems":
        return of_itself(event.name, rows)
    about = words_listed("about_deeds") if event.tool == "procedures" else frozenset()
    return [row for row in rows if not about & {*words_of(row.name)}] or rows


def _of_its_end(event: ChartQuestion, row: ViewRow) -> ViewRow:
    """Return a row with the day that is meant: "when it was stopped" is its last."""
    return row.model_copy(update={"date": row.end, "end": ""}) if event.part == "end" else row


def _is_meant(event: ChartQuestion, row: ViewRow) -> bool:
    """Whether a row that was found is the event: of a tumour's growth a report that denies none."""
    if event.arguments != GROWTH:
        return row.kind in _HAPPENED and has_words(row, event.name)
    sentences = (tokens_of(one) for one in row.detail.split(". "))
    return row.sources[0].startswith("DiagnosticReport/") and any(
        word in saying("growth") and saying("lacking").isdisjoint(said[:at][-5:])
        for said in sentences
        for at, word in enumerate(said)  # "no evidence of local recurrence"
    )


def _of_values(event: ChartQuestion, rows: Sequence[ViewRow]) -> tuple[ViewRow, ...]:
    """Return the one value that is asked for, the newest where none is told apart."""
    if is_limited(event):
        return tuple(beyond(event, rows)[:1])
    ranked = sorted((row for row in rows if number_of(row) or row.number == 0), key=number_of)
    days = [*{row.date: row for row in rows}.values()]  # a panel has many of one day
    edges = {"first": days, "minimum": ranked, "maximum": ranked[::-1]}
    return tuple(edges.get(event.aspect, days[::-1])[event.back :][:1])


def times_of(row: ViewRow) -> list[ViewRow]:
    """Return each time that a row is told for, oldest first; of an earlier one no detail."""
    if row.earlier:
        then = {"status": "", "detail": "", "earlier": ()}
        return [*(row.model_copy(update={**then, **dict(one)}) for one in row.earlier), row]
    times = [one.partition("–") for one in sorted(times_told(row))]
    own = [
        row.model_copy(update={"date": day, "end": end or day, "detail": ""})
        for day, _, end in times[:-1]
    ]
    return [*own, row.model_copy(update={"date": times[-1][0]}) if times else row]


def as_of(row: ViewRow, span: TimeSpan | None) -> list[ViewRow]:
    """Return what a status was on some days: each value of then, else the one before."""
    if span is None or not row.earlier:
        return [row]
    told = [one for one in times_of(row) if one.date[:10] <= str(span.until or date.max)]
    inside = [one for one in told if one.date[:10] >= str(span.since or date.max)]
    return [next(one) for _, one in groupby(inside, attrgetter("value"))] or told[-1:] or [row]


def times_around(
    question: ChartQuestion, event: ChartQuestion, rows: Sequence[ViewRow]
) -> list[Sequence[ViewRow]]:
    """Return the rows; each time of an illness by itself for what was before or during it."""
    is_each = question.when in ("before", "during", "within") and event.aspect == "all"
    is_each &= len(rows) == 1 and event.tool == "problems" and bool(rows[0].end)
    return [(one,) for one in times_of(rows[0])] if is_each else [rows]


def days_around(
    question: ChartQuestion, rows: Sequence[ViewRow], *, is_alike: bool = False
) -> TimeSpan | None:
    """Return the days that lie so to `rows`; None where these have no day.

    After an illness or an operation is from its first day on: what was given then is for it.

    Args:
        question: What is asked around them.
        is_alike: Things of the same list are asked for: what came before a drug is not itself.
    """
    relation = question.when
    first = min(filter(None, (first_day(row.date) for row in rows)), default=None)
    if first is None:
        return None
    if question.shift is not None:
        there = steps_back(first, question.shift.unit, -question.shift.count)
        if question.shift.is_within:
            return TimeSpan(min(first, there), max(first, there))
        about = _ABOUT_UNITS.get(question.shift.unit, _ABOUT)
        return TimeSpan(there - about, there + about)
    is_ill = relation == "within" and {row.kind for row in rows} == {"problem"}
    if relation == "at" or (is_ill and None in map(_end, rows)):  # a stroke, which goes on
        return TimeSpan(first - _ABOUT, first + _ABOUT, "")
    if relation == "since":
        return TimeSpan(first, None, "")
    if relation == "before":
        is_own = is_alike or question.tool in ("encounters", "current_status")  # for it, or itself
        is_own |= all(row.kind == "encounter" for row in rows)  # what a visit measured is its own
        return TimeSpan(None, first - timedelta(days=1) if is_own else first, "")
    if relation == "after":
        begun = [first_day(row.date) for row in rows if row.kind != "medication"]
        ended = [_end(row) for row in rows if row.kind == "medication"]
        last = max(filter(None, [*begun, *ended]), default=first)
        is_own = is_alike and not ended  # "and after that?" asks for no visit of that day
        return TimeSpan(last + timedelta(days=is_own), None, "")
    ends = [_end(row) for row in rows]
    return TimeSpan(first, None if None in ends else max(filter(None, ends)), "")


def between(found: Sequence[tuple[ChartQuestion, ChartView]]) -> tuple[list[ViewRow], TimeSpan]:
    """Return two events, or the two newest times of one, and the days between them.

    Of one alone these are its own: "between admission and discharge".
    """
    rows = [rows_of_event(event, view) for event, view in found]
    if len(found) == 1 and found[0][0].tool == "problems":
        rows = [(row,) for row in asked_rows(*found[0]).rows if not was_never(row)]
    every = [time for each in rows for row in each[-2:] for time in times_of(row)]
    ends = sorted((one for one in every if first_day(one.date)), key=moment_of)[-2:]
    days = [day for one in ends if (day := first_day(one.date))]
    over = [day for one in ends[:1] if (day := last_day(one.end[:10])) and day <= days[-1]]
    until = days[-1] if len(ends) > 1 else next((_end(one) for one in ends), None)
    return ends, TimeSpan(next(iter((*over, *days)), None), until)


def within(one: TimeSpan, other: TimeSpan | None) -> TimeSpan:
    """Return the days that are in both."""
    if other is None:
        return one
    since = [day for day in (one.since, other.since) if day is not None]
    until = [day for day in (one.until, other.until) if day is not None]
    return TimeSpan(max(since, default=None), min(until, default=None))


def _end(row: ViewRow) -> date | None:
    """Return the last day of a row; None where it goes on, or nobody knows until when."""
    goes_on = row.kind in _ONGOING and row.status in _GOES_ON and not row.end
    goes_on |= row.kind == "medication" and not row.end
    return None if goes_on else last_day((row.end or row.date)[:10])


_OF_KIND = frozenset({"inpatient admission", "emergency", "intensive care"})
_SOON = timedelta(days=7)
"""So late after its beginning a stay may still be for an illness."""


def events_of_stay(question: ChartQuestion, visits: ChartView) -> Sequence[ChartQuestion]:
    """Return where to look for what a stay is asked for, where no visit says that it was for it."""
    name = question.name.removeprefix(question.head).strip()
    is_of_stay = question.tool == "encounters" and question.head in _OF_KIND and bool(name)
    if not is_of_stay or question.span is not None or has_answer(question, visits):
        return ()
    ill = ChartQuestion("problems", {"status": "all"}, "all", name)
    return (ill, ChartQuestion("procedures", {"name": name}, "all", name))


def stays_of(
    question: ChartQuestion, visits: ChartView, event: ChartQuestion, found: ChartView
) -> tuple[ViewRow, ChartQuestion, tuple[ViewRow, ...]] | None:
    """Return the event, the question for the stays at its beginning, and these; None for none."""
    rows = sorted(rows_of_event(event, found), key=moment_of)
    first = first_day(rows[-1].date) if rows else None
    if first is None:
        return None
    then = replace(question, name=question.head, head="", said="", aspect="all")
    then = replace(then, span=TimeSpan(first, first + _SOON))
    stays = asked_rows(then, visits).rows
    return (rows[-1], then, stays) if stays else None
