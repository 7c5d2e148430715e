"""Sentences that compare two values: "higher in March 2026 than in November 2025". Pure."""

from collections.abc import Sequence
from dataclasses import replace

from services.language.clauses import Clause
from services.language.full_dates import month_numbers
from services.language.letters import folded
from services.statements.fit import has_date, is_measured
from services.statements.rows import KnownRow
from services.statements.verdict import Verdict

_THAN = frozenset({"than", "als"})
_HIGHER = frozenset({"higher", "greater", "larger", "more", "hoher", "grosser", "mehr"})
_MULTIPLIED = frozenset({"doubled", "tripled", "halved", "verdoppelt", "halbiert"})
_LOWER = frozenset({"lower", "smaller", "less", "niedriger", "tiefer", "kleiner", "weniger"})


def compared(clause: Clause, subject: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over a comparison of two days or numbers; None where none is made.

    Months without their years may be of any year, and are not looked up.
    """
    said = _HIGHER & clause.words or _LOWER & clause.words
    if not said or not clause.words & _THAN or clause.words & _MULTIPLIED:
        return None
    rows = [row for row in subject if row.number is not None and not row.is_text]
    if len(clause.dates) == 2 and len(clause.quantities) < 2:
        sides = [[row for row in rows if has_date(one, row)] for one in clause.dates]
        sides[0] = [row for row in sides[0] if all(is_measured(q, row) for q in clause.quantities)]
    elif len(clause.dates) == 1 and not clause.quantities and rows:
        newest = max(rows, key=_day)
        sides = [[newest], [row for row in rows if has_date(clause.dates[0], row)]]
    elif len(clause.quantities) == 2:
        unit = next((one.unit for one in reversed(clause.quantities) if one.unit), "")
        numbers = [one if one.unit else replace(one, unit=unit) for one in clause.quantities]
        sides = [[row for row in rows if is_measured(one, row)] for one in numbers]
    else:
        months = sum(folded(word) in month_numbers() for word in clause.words)
        return Verdict("unsupported") if months == 2 else None
    if not all(sides):
        return Verdict("unsupported")
    first, second = sides[0][0], sides[1][0]
    difference = (first.number or 0.0) - (second.number or 0.0)
    holds = difference > 0 if said & _HIGHER else difference < 0
    sources = (*first.sources, *second.sources)
    both = f"{first.says}; {second.says}"
    return Verdict("supported" if holds else "contradicted", sources, "" if holds else both)


def _day(row: KnownRow) -> str:
    return row.order
