"""What is told of a view as a whole, where nobody asked for one thing in it. Pure."""

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import AnswerWords
from services.records.answers.row_line import row_line

NOT_RECORDED, _DIFFER = "not in the record", "sources differ"
_DETAIL_CHARS, _ROWS_SHOWN = 420, 30


def bullets_of(view: ChartView, words: AnswerWords) -> list[str]:
    """Return the rows that hold something as Markdown bullets; both ends of many."""
    known = [row for row in view.rows if row.status != NOT_RECORDED]
    rows = [f"- {_line_of(row, words)}" for row in known]
    more, half = len(rows) - _ROWS_SHOWN, _ROWS_SHOWN // 2
    # The newest rows are last in a timeline and first in a list of reports.
    return rows if more <= 0 else [*rows[:half], f"- … {more} further entries …", *rows[-half:]]


def _line_of(row: ViewRow, words: AnswerWords) -> str:
    if row.status == _DIFFER:  # its sides carry their own sources
        return f"**{row.name}**: {words.word(row.status)}: {row.detail}"
    return row_line(row, words, detail_chars=_DETAIL_CHARS)


def missing_in(view: ChartView) -> list[str]:
    """Return the names of what the view says is not in the record."""
    return [row.name for row in view.rows if row.status == NOT_RECORDED]


def notes_on(view: ChartView) -> list[str]:
    """Return what the view says about its own gaps, as a line each."""
    notes = [*view.notes, *(f"{one.count} {one.what} are not shown" for one in view.left_out)]
    return [f"*{note[:1].upper()}{note[1:].rstrip('.')}.*" for note in notes]
