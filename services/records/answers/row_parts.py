"""The parts of which a line about a row of the chart is made. Pure."""

from decimal import Decimal

from data_models.chart_view import ViewRow
from services.language.answer_words import AnswerWords

_SOURCES_SHOWN = 1
_DIGITS = 4


def value_of(row: ViewRow) -> str:
    """Return the value with its unit, once."""
    value = row.value
    if row.unit and not value.endswith(row.unit):
        value = f"{value} {row.unit}"
    return value.strip()


def flag_of(row: ViewRow, words: AnswerWords) -> str:
    """Return the reference range and the flag, as they stand behind a value; "" without both."""
    flag = f", {words.word(row.flag)}" if row.flag else ""
    return f" ({row.range}){flag}" if row.range else flag


def day_of(row: ViewRow) -> str:
    """Return the day of a row, as exact as the record has it."""
    return row.date[:10]


def sources_of(row: ViewRow) -> str:
    """Return the source that is cited for a row, in brackets."""
    return "".join(f"[{ref}]" for ref in row.sources[:_SOURCES_SHOWN])


def number_of(row: ViewRow) -> float:
    """Return the number of a row that has one; 0 otherwise."""
    return row.number if row.number is not None else 0.0


def figure(number: Decimal) -> str:
    """Return a number that was worked out, with at most four significant digits."""
    rounded = Decimal(f"{number:.{_DIGITS}g}")
    return f"{rounded:f}" if rounded else "0"
