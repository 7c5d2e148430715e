"""Sentences about all values of a thing: "never above 130", "stayed between 81 and 92". Pure."""

from collections.abc import Sequence

from services.language.clauses import Clause
from services.language.quantities import Quantity
from services.language.statement_tables import saying
from services.language.statement_words import statement_words
from services.language.statements import Sentence
from services.statements.compare_series import against_trend, has_value, since
from services.statements.fit import COURSES, has_date, is_measured
from services.statements.known import KnownRows
from services.statements.rows import KnownRow
from services.statements.subject import about, supported
from services.statements.verdict import Verdict

_LASTING = frozenset({"steady", "begun"})


def of_all_values(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over what a clause says of each value; None where it says nothing of all.

    A "not" without a "never" is of the newest value.
    """
    if not names or clause.differences or clause.counted or not _may_be_of_all(clause):
        return None
    if not (values := _values(clause, rows, names)):
        return None
    if not clause.quantities:
        return against_trend(clause, values) or supported([values[0], values[-1]])
    if len(clause.quantities) == 2:
        return _of_range(clause, values)
    if clause.quantities[0].comparator:
        return _of_bound(clause, values)
    return _all_same(clause.quantities[0], values)


def _may_be_of_all(clause: Clause) -> bool:
    """Whether a clause tells a course over some days, a range, a bound or what stays the same."""
    if len(clause.quantities) != 1:
        is_course = bool(clause.cues & COURSES) and _is_span(clause)
        return len(clause.quantities) == 2 or (not clause.quantities and is_course)
    is_lasting = clause.says("always") or _is_span(clause)
    return bool(clause.quantities[0].comparator) or (is_lasting and "steady" in clause.cues)


def _of_range(clause: Clause, values: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over "ranged from 114 to 136" and "stayed between 81 and 92"."""
    if clause.says("ranged"):
        ends = [[row for row in values if is_measured(one, row)] for one in clause.quantities]
        if not all(ends):
            return Verdict("unsupported") if clause.says("of_several") else None
        return _all_within(clause.quantities, values)
    is_of_all = (
        clause.says("always") or clause.words >= saying("until_now") or clause.cues & _LASTING
    )
    is_told = is_of_all and clause.says("within_bounds")
    return _all_within(clause.quantities, values) if is_told else None


def _of_bound(clause: Clause, values: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over "always below 130" and "never above 130"."""
    beyond = [row for row in values if is_measured(clause.quantities[0], row)]
    if clause.says("missed"):
        return _contradicted(beyond) if values[-1] in beyond else supported(values[-1:])
    is_since = "begun" in clause.cues and not clause.cues & {"no", "rising", "falling"}
    if clause.says("always") or is_since:
        others = [row for row in values if row not in beyond]
        return _contradicted(others) if others else supported(beyond[-1:])
    if "no" not in clause.cues:
        return None
    if not clause.says("never") and not clause.dates:
        beyond = [row for row in beyond if row.order[:10] == values[-1].order[:10]]
    return _contradicted(beyond) if beyond else supported(values[-1:])


def limits(sentence: Sentence, goal: KnownRow) -> bool:
    """Whether a number that a sentence tells is that of a goal."""
    told = {one.number for clause in sentence.clauses for one in clause.quantities}
    return any(one.number in told or one.pair in told for one in goal.quantities)


def _values(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return the values of the days that a clause speaks of, the oldest first."""
    found = [
        row
        for row in about(clause, rows, names)
        if row.order and not row.is_text and has_value(row)
    ]
    found = list(since(clause, sorted(found, key=lambda row: row.order)))
    several = [number for word, number in statement_words().numbers.items() if word in clause.words]
    if several and clause.says("of_several"):  # "over the past six check-ups"
        days = sorted({row.order[:10] for row in found})[-several[0] :]
        found = [row for row in found if row.order[:10] in days]
    if len(clause.dates) == 1 and "begun" not in clause.cues:
        found = [row for row in found if has_date(clause.dates[0], row)]
    if _is_span(clause):
        first, last = ([row for row in found if has_date(day, row)] for day in clause.dates)
        is_told = bool(first and last)
        return (
            [row for row in found if first[0].order <= row.order <= last[-1].order]
            if is_told
            else []
        )
    return found if len(clause.dates) < 2 else []


def _is_span(clause: Clause) -> bool:
    return len(clause.dates) == 2 and clause.says("spans")


def _all_within(ends: Sequence[Quantity], values: Sequence[KnownRow]) -> Verdict:
    low, high = sorted(one.number for one in ends)
    half = 0.5 * 10.0 ** -max(one.decimals for one in ends)
    beyond = [row for row in values if not low - half <= _number(row) <= high + half]
    return _contradicted(beyond) if beyond else supported(values[-1:])


def _all_same(told: Quantity, values: Sequence[KnownRow]) -> Verdict:
    beyond = [row for row in values if not is_measured(told, row)]
    return _contradicted(beyond) if beyond else supported(values[-1:])


def _number(row: KnownRow) -> float:
    return row.number if row.number is not None else row.quantities[0].number


def _contradicted(rows: Sequence[KnownRow]) -> Verdict:
    return Verdict("contradicted", rows[-1].sources, rows[-1].says)
