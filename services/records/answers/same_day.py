"""What began on the day of a visit or an order that says not why it was. Pure."""

from collections.abc import Sequence
from typing import Final

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import AnswerWords
from services.language.utterance import ChartQuestion
from services.records.answers.asked_rows import asked_rows
from services.records.answers.events import times_of
from services.records.answers.row_line import row_line
from services.records.answers.row_parts import moment_of, part_missing
from services.records.answers.treatments import LOOKED_AT

_PROBLEMS: Final = ChartQuestion("problems", {"status": "all"})
_TREATMENTS: Final = LOOKED_AT[:2]
_OF_A_DAY = frozenset({"encounters", "medications", "procedures"})
_MOST_ROWS = 3
"""Of more the days say little."""
_MOST_SHOWN = 8


def looked_at(
    question: ChartQuestion, view: ChartView, words: AnswerWords
) -> Sequence[ChartQuestion]:
    """Return the lists in which to look for what began on the same day; none where all is told."""
    rows = _rows_told(question, view)
    if question.tool not in _OF_A_DAY or not 0 < len(rows) <= _MOST_ROWS:
        return ()
    if question.tool == "encounters" and question.part == "treatment":
        return (_PROBLEMS, *_TREATMENTS)
    is_untold = question.part == "reason" and bool(part_missing(question, rows, words))
    return (_PROBLEMS,) if is_untold else ()


def told_of_day(
    question: ChartQuestion, view: ChartView, lists: Sequence[ChartView], words: AnswerWords
) -> str:
    """Return what of `lists` began on a day of the rows asked for; "" for nothing."""
    days = {row.date[:10] for row in _rows_told(question, view) if row.date}
    times = (one for each in lists for row in each.rows for one in times_of(row))
    found = [one for one in times if one.date[:10] in days]
    lines = [f"- {row_line(row, words)}" for row in found[:_MOST_SHOWN]]
    return "\n".join([words.same_day, *lines]) if lines else ""


def _rows_told(question: ChartQuestion, view: ChartView) -> Sequence[ViewRow]:
    """Return the rows asked for, of the last or the second visit that one."""
    rows = sorted(asked_rows(question, view).rows, key=moment_of)
    if question.aspect == "latest":
        return rows[::-1][question.back :][: max(1, question.most)]
    return rows[question.back :][:1] if question.aspect == "first" else rows
