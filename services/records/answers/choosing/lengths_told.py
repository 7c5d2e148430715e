"""How long something lasted, how long ago it was, and how far two things are apart. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import pairwise

from data_models.chart_view import ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.questions.single_questions import GROWTH
from services.language.utterance import Aspect, ChartQuestion
from services.records.answers.choosing.row_parts import day_of
from services.records.answers.choosing.said_words import has_words
from services.records.resources.dates import first_day, last_day, years_between

_ROWS_SHOWN = 5
_FEW_DAYS = 60
_YEAR_MONTHS = 12
_DAY_SECONDS = 24 * 60 * 60


def told_lengths(
    found: Sequence[tuple[ChartQuestion, Sequence[ViewRow]]], words: AnswerWords
) -> list[str]:
    """Return a line for each length that is asked for.

    Args:
        found: The questions that ask for one, each with its dated rows.
    """
    if not any(rows for _, rows in found):
        return []
    if not any(question.is_apart for question, _ in found):
        return [line for one, rows in found for line in _each(one, rows, words)]
    if len(found) == 1:
        days = sorted({day for _, rows in found for row in rows if (day := first_day(row.date))})
    else:  # of one of several operations nobody knows which is meant
        starts = [one for each, rows in found if each.arguments != GROWTH for one in rows[:1]]
        narrowed = [(one, _meant(one, rows, starts)) for one, rows in found]
        found = [each for each in narrowed if len({one.date[:10] for one in each[1]}) == 1]
        days = sorted(day for _, rows in found for row in rows[:1] if (day := first_day(row.date)))
    if len(days) < 2:
        return [words.say("one_end")]
    ends = [*pairwise(days)][-_ROWS_SHOWN:]
    whole = [(days[0], days[-1])] if len(ends) > 1 else []
    return [
        f"{words.say('between', first=str(first), last=str(last))}: {length_of(first, last, words)}"
        for first, last in (*ends, *whole)
    ]


def lasted_so_long(rows: Sequence[ViewRow], today: date, aspect: Aspect) -> tuple[ViewRow, ...]:
    """Return the rows that lasted longest, or shortest; what is active lasts until today."""
    lasted: dict[int, list[ViewRow]] = {}
    for row in rows:
        begun, ended = first_day(row.date[:10]), last_day(row.end[:10]) if row.end else None
        ended = today if ended is None and row.status == "active" else ended
        if begun is not None and ended is not None:
            lasted.setdefault((ended - begun).days, []).append(row)
    chosen = max(lasted, default=0) if aspect == "maximum" else min(lasted, default=0)
    return tuple(lasted.get(chosen, rows))


def _meant(
    question: ChartQuestion, rows: Sequence[ViewRow], starts: Sequence[ViewRow]
) -> Sequence[ViewRow]:
    """Return the row that is meant: of illnesses with a stage, of growth the first since then."""
    if question.arguments == GROWTH:
        return [row for row in rows if all(row.date[:10] > one.date[:10] for one in starts)][:1]
    is_the_diagnosis = question.tool == "problems" and not question.name and len(rows) > 1
    return [row for row in rows if has_words(row, "stage")] if is_the_diagnosis else rows


def _each(question: ChartQuestion, rows: Sequence[ViewRow], words: AnswerWords) -> Iterator[str]:
    goes_on = question.tool in ("problems", "medications")
    for row in rows[:_ROWS_SHOWN]:
        began, ended = first_day(row.date), last_day(row.end[:10]) if row.end else None
        if began is None or question.asked_on is None:
            continue
        ago = length_of(began, question.asked_on, words)
        if ended is not None:
            length = _of_a_day(row, words) or length_of(began, ended, words)
            yield words.say("lasted", name=row.name, length=length, ago=ago)
            continue
        is_over = goes_on and row.status != "active"
        untold = f"{words.say('no_part', part=words.parts['end'])} " if is_over else ""
        told = words.say("so_far") if goes_on and not is_over else words.say("so_long_ago")
        yield untold + told.format(name=row.name, length=ago, day=day_of(row))


def _of_a_day(row: ViewRow, words: AnswerWords) -> str:
    """Return hours and minutes where the record has both, and they are of one day; else ""."""
    try:
        lasted = datetime.fromisoformat(row.end) - datetime.fromisoformat(row.date)
    except (ValueError, TypeError):  # of one the record has but the day, or no offset
        return ""
    if not 0 < (seconds := lasted.total_seconds()) < _DAY_SECONDS:
        return ""
    parts = zip(divmod(round(seconds / 60), 60), ("hour", "minute"), strict=True)
    return " ".join(_counted(count, unit, words) for count, unit in parts if count)


def length_of(first: date, last: date, words: AnswerWords) -> str:
    """Return a length in days, a longer one also in years and months: "1 year 2 months"."""
    if not (days := (last - first).days):
        return words.say("no_day")
    said = _counted(days, "day", words)
    if days < _FEW_DAYS:
        return said
    years = years_between(first, last)
    months = (last.year - first.year) * _YEAR_MONTHS + last.month - first.month
    months -= last.day < first.day
    parts = ((years, "year"), (months - years * _YEAR_MONTHS, "month"))
    return f"{' '.join(_counted(one, unit, words) for one, unit in parts if one)} ({said})"


def _counted(count: int, unit: str, words: AnswerWords) -> str:
    one, many = words.lengths[unit]
    return f"{count} {one if count == 1 else many}"
