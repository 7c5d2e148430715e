"""How old a patient was when something of the record began, and when a patient was so old. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.questions.question_figures import with_days
from services.language.utterance import ChartQuestion, TimeSpan
from services.records.answers.choosing import row_parts
from services.records.answers.choosing.asked_rows import asked_rows
from services.records.resources.dates import first_day, last_day, years_between

AGE = "age"
_HAVE_AN_AGE = frozenset({"encounters", "problems", "procedures", "medications", "immunizations"})
"""Tools whose rows begin or happen once; a value "normal for her age" is another question."""
_ROWS_SHOWN = 10
_MONTH_DAYS = 30.44
_NEWBORN = timedelta(days=7)
"""What is measured so long after the day of birth may be told as of it, with its own day."""
BORN = ChartQuestion("chart_summary", name=AGE)
"""What tells the day of birth."""


def has_an_age(question: ChartQuestion, *, is_then: bool) -> bool:
    """Whether its rows began at an age, as a value did that passed a limit.

    Args:
        is_then: How old they were is asked, and not how old they are: also values have a day.
    """
    is_of_value = question.tool == "results" and (is_then or row_parts.is_limited(question))
    return question.tool in _HAVE_AN_AGE or is_of_value


def _dated_rows(question: ChartQuestion, rows: Sequence[ViewRow]) -> Sequence[ViewRow]:
    """Return the rows whose day is asked about: of values the first that passed the limit."""
    if question.tool != "results" or not row_parts.is_limited(question):
        ranked = sorted((row for row in rows if row.number is not None), key=row_parts.number_of)
        dated = sorted(rows, key=row_parts.day_of, reverse=True)
        edge = {
            "first": dated[-1:],
            "latest": dated[:1],
            "minimum": ranked[:1],
            "maximum": ranked[-1:],
        }
        return edge.get(question.aspect, dated[:_ROWS_SHOWN])
    return sorted(row_parts.beyond(question, rows), key=row_parts.day_of)[:1]


def of_that_age(question: ChartQuestion, summary: ChartView) -> ChartQuestion | None:
    """Return the question for the year, or month, in which the patient was so old.

    None where the record has no whole day of birth.
    """
    patient = next((row for row in summary.rows if row.kind == "patient" and row.date), None)
    days = _ends(patient.date) if patient is not None else []
    if question.at_age is None or not days or days[0] != days[-1]:
        return None
    asked = replace(question, at_age=None, is_age_in_months=False, age_side="", age_years=1)
    if question.is_age_in_months:
        then = days[0] + timedelta(days=round(question.at_age * _MONTH_DAYS))
        near = timedelta(days=_MONTH_DAYS)
        return with_days(asked, TimeSpan(then - near, then + near, ""))
    if not question.age_years:
        return with_days(asked, TimeSpan(days[0], days[0] + _NEWBORN))
    end = question.at_age + question.age_years
    first, behind = _birthday(days[0], question.at_age), _birthday(days[0], end)
    since, until = first, behind - timedelta(days=1)
    if question.age_side == "before":
        return with_days(asked, TimeSpan(None, first - timedelta(days=1)))
    return with_days(asked, TimeSpan(since, None if question.age_side else until))


def _birthday(birth: date, years: int) -> date:
    """Return when so many years are completed; who is born on a leap day waits for 1 March."""
    is_leap_day = (birth.month, birth.day) == (2, 29)
    return date(birth.year + years, 3, 1) if is_leap_day else birth.replace(year=birth.year + years)


def ages_then(
    views: Sequence[tuple[ChartQuestion, ChartView]],
    asked: Sequence[ChartQuestion],
    words: AnswerWords,
) -> Iterator[str]:
    """Yield the age at each row that `asked` is about; the birth date where it cannot be told."""
    patient = next(
        (row for _, view in views for row in view.rows if row.kind == "patient" and row.date), None
    )
    if patient is None:
        return
    rows = [
        row
        for question, view in views
        if question in asked
        for row in _dated_rows(question, asked_rows(question, view).rows)
    ]
    told = [line for row in rows if (line := _aged(row, patient, words))]
    yield (
        "\n".join(told) or f"{words.say('born', date=patient.date)} {row_parts.sources_of(patient)}"
    )


def aged_in(span: TimeSpan, patient: ViewRow, words: AnswerWords) -> str:
    """Return how old the patient was in some days; "" where that cannot be told."""
    births, days = _ends(patient.date), [day for day in (span.since, span.until) if day]
    if len({*births}) != 1 or len(days) != len((span.since, span.until)) or days[0] < births[0]:
        return ""
    ages = dict.fromkeys(str(years_between(births[0], day)) for day in days)
    when = "–".join(dict.fromkeys(day.isoformat() for day in days))
    said = words.say("aged", name=f"**{patient.name}**", date=when, age="–".join(ages))
    return f"{said} {row_parts.sources_of(patient)}"


def _aged(row: ViewRow, patient: ViewRow, words: AnswerWords) -> str:
    """Return the age in years at `row`, of a whole year both; "" where it cannot be told."""
    births, days = _ends(patient.date), _ends(row.date)
    ages = {years_between(birth, day) for birth in births for day in days if day >= birth}
    if not ages or max(ages) - min(ages) > 1:
        return ""
    age = "–".join(map(str, sorted(ages)))
    said = words.say("aged", name=f"**{row.name}**", date=row.date[:10], age=age)
    return f"{said} {row_parts.sources_of(row)}{row_parts.sources_of(patient)}"


def _ends(recorded: str) -> list[date]:
    return [day for day in (first_day(recorded), last_day(recorded)) if day is not None]
