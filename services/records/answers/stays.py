"""Stays at the beginning of an illness, or around an operation, that were for something else. Pure.

"How long was she in hospital with the pneumonia?": the stay is recorded as for dyspnoea.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from data_models.chart_view import ChartView, ViewRow
from services.language.utterance import ChartQuestion, TimeSpan
from services.records.answers.asked_rows import asked_rows, has_answer
from services.records.answers.events import rows_of_event
from services.records.answers.row_parts import moment_of
from services.records.dates import first_day

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
