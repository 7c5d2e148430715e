"""Sentences that compare two values: "higher in March 2026 than in November 2025". Pure."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from services.language.figures.full_dates import month_numbers
from services.language.sentences.clauses import Clause
from services.language.words.letters import folded
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words
from services.statements.rows.compare_series import has_value, value_of
from services.statements.rows.fit import has_date, is_measured
from services.statements.rows.rows import KnownRow
from services.statements.rows.verdict import Verdict

_TWO = 2


def compared(clause: Clause, subject: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over a comparison of two days or numbers; None where none is made.

    Months without their years may be of any year, and are not looked up.
    """
    said = saying("higher") & clause.words or saying("lower") & clause.words
    said = said or _by_what_is_better(clause)
    if not said and clause.says("beside_another"):
        said = _by_course(clause)
    if not said or not clause.says("than", "beside_another") or clause.says("multiplied"):
        return None
    rows = [row for row in subject if has_value(row) and not row.is_text]
    sides = _sides(clause, rows)
    if not sides:
        months = sum(folded(word) in month_numbers() for word in clause.words)
        return Verdict("unsupported") if months == _TWO and not clause.dates else None
    if not all(sides):
        return Verdict("unsupported")
    first, second = sides[0][0], sides[1][0]
    difference = value_of(first) - value_of(second)
    holds = difference > 0 if said & saying("higher") else difference < 0
    sources = (*first.sources, *second.sources)
    both = f"{first.says}; {second.says}"
    return Verdict("supported" if holds else "contradicted", sources, "" if holds else both)


def _sides(clause: Clause, rows: Sequence[KnownRow]) -> list[list[KnownRow]]:
    """Return the rows of what is compared and of what it is compared with; [] for neither."""
    told, days = clause.quantities, clause.dates
    if len(days) == _TWO and len(told) < _TWO:
        sides = [[row for row in rows if has_date(one, row)] for one in days]
        return [[row for row in sides[0] if all(is_measured(q, row) for q in told)], sides[1]]
    if len(days) == 1 and not told and rows:
        then = [row for row in rows if has_date(days[0], row)]
        return [[max(rows, key=attrgetter("order"))], then]
    if len(days) == len(told) == 1:
        then = [row for row in rows if has_date(days[0], row)]
        own = [row for row in rows if row not in then and is_measured(told[0], row)]
        return (
            [own, then] if own or clause.says("beside_another") else []
        )  # the day is of the value
    if len(told) == _TWO and not any(one.comparator for one in told):
        unit = next((one.unit for one in reversed(told) if one.unit), "")
        numbers = [one if one.unit else replace(one, unit=unit) for one in told]
        found = [[row for row in rows if is_measured(one, row)] for one in numbers]
        if len(days) < _TWO:
            return found
        pairs = zip(found, days, strict=True)
        return [[row for row in side if has_date(day, row)] for side, day in pairs]
    return []


def _by_course(clause: Clause) -> frozenset[str]:
    """Return which way a value is told to have gone: "down to 59 compared with 2018"."""
    is_up = "rising" in clause.cues or "up" in clause.words
    is_down = "falling" in clause.cues or "down" in clause.words
    if is_up == is_down:
        return frozenset()
    return saying("higher") if is_up else saying("lower")


def _by_what_is_better(clause: Clause) -> frozenset[str]:
    """Return which way a value is told to be by "better than"."""
    known = statement_words().better
    better = next((known[name] for name in clause.names if name in known), "")
    if not better or not clause.says("better", "worse"):
        return frozenset()
    return saying("higher") if (better == "rising") == clause.says("better") else saying("lower")
