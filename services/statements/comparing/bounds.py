"""Sentences about all values of a thing: "never above 130", "stayed between 81 and 92". Pure."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from operator import attrgetter

from services.language.figures.quantities import Quantity
from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words
from services.statements.rows.compare_series import against_trend, has_value, since, value_of
from services.statements.rows.fit import has_date, is_measured, shares
from services.statements.rows.happenings import COURSES
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import about, refs, supported
from services.statements.rows.verdict import Verdict

_LASTING = frozenset({"steady", "begun"})
_COURSE = COURSES - _LASTING
_VALUES = frozenset({"result", "times", "encounter"})


def of_all_values(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over what a clause says of each value; None where it says nothing of all.

    A "not" without a "never" is of the newest value.
    """
    if names and clause.says("met", "missed") and not clause.has_values:  # that of its row
        aims = [one for row in rows.about(names) if row.kind == "goal" for one in row.quantities]
        clause = replace(clause, quantities=tuple(one for one in aims if one.comparator)[:1])
    told = shares(clause.quantities, clause.words)
    counts = {number for number, kind in clause.counted if kind in _VALUES}
    is_of_some = clause.counted and not (counts and clause.says("always"))
    if not names or clause.differences or is_of_some:
        return None
    if not (told or _may_be_of_all(clause)) or not (values := _values(clause, rows, names)):
        return None
    if counts - {len({row.order[:10] for row in values})}:
        return Verdict("unsupported", refs(values[-1:]))  # "at all four measurements"
    if told:
        return _of_share(clause.quantities, told, values)
    if not clause.quantities:
        return against_trend(clause, values) or supported([values[0], values[-1]])
    if len(clause.quantities) == 2:
        return _of_aim(clause, values) or _of_range(clause, values)
    return _of_bound(clause, values)


def _may_be_of_all(clause: Clause) -> bool:
    """Whether a clause tells a course over some days, a range, a bound or what stays the same."""
    if len(clause.quantities) != 1:
        is_course = bool(clause.cues & COURSES) and _is_span(clause)
        return len(clause.quantities) == 2 or (not clause.quantities and is_course)
    is_lasting = clause.says("always") or _is_span(clause)
    return bool(clause.quantities[0].comparator) or (is_lasting and "steady" in clause.cues)


def _of_share(
    quantities: Sequence[Quantity],
    told: Collection[tuple[float, float]],
    values: Sequence[KnownRow],
) -> Verdict | None:
    """Return the verdict over "three of eight readings were above 125"; None without a bound."""
    some, all_told = min(told)
    rest = [one for one in quantities if one.unit or one.comparator]
    by_day = {row.order[:10]: row for row in values}
    if len(rest) != 1 or len(told) != 1:
        return None
    right = [row for row in by_day.values() if is_measured(rest[0], row)]
    if (len(right), len(by_day)) == (some, all_told):
        return supported(right)
    return Verdict("contradicted", refs(values[-1:]), f"{len(right)} of {len(by_day)}")


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
    is_told = is_of_all and clause.says("within_bounds") and not clause.cues & _COURSE
    return _all_within(clause.quantities, values) if is_told else None


def _of_aim(clause: Clause, values: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over "7.2 % misses the goal of less than 7 %"; None for no such goal."""
    aims = [one for one in clause.quantities if one.comparator]
    if not aims or not clause.says("missed", "met"):
        return None
    is_missed = clause.says("missed") != ("no" in clause.cues)
    is_so = [is_measured(q, values[-1]) != (is_missed and q in aims) for q in clause.quantities]
    return supported(values[-1:]) if all(is_so) else _contradicted(values)


def _of_bound(clause: Clause, values: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over "always below 130" and "never above 130"."""
    if found := _of_aim(clause, values):
        return found
    beyond = [row for row in values if is_measured(clause.quantities[0], row)]
    if clause.cues & {"current", "no"} == {"current"} and not clause.dates:  # "still above 50 %"
        is_so = values[-1].order[:10] in {row.order[:10] for row in beyond}
        return supported(values[-1:]) if is_so else _contradicted(values)
    is_lasting = bool(clause.cues & _LASTING) and ("begun" in clause.cues or _is_span(clause))
    if clause.says("always") or (is_lasting and not clause.cues & {"no", "rising", "falling"}):
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
    measured = [row for row in about(clause, rows, names) if not row.is_text and has_value(row)]
    dated = sorted(filter(attrgetter("order"), measured), key=attrgetter("order"))
    found = list(since(clause, dated))
    several = [number for word, number in statement_words().numbers.items() if word in clause.words]
    if several and clause.says("of_several"):  # "over the past six check-ups"
        days = sorted({row.order[:10] for row in found})[-several[0] :]
        found = [row for row in found if row.order[:10] in days]
    if len(clause.dates) == 1 and "begun" not in clause.cues:
        found = [row for row in found if has_date(clause.dates[0], row)]
    if _is_span(clause):
        first, last = ([row for row in found if has_date(day, row)] for day in clause.dates)
        if not (first and last):
            return []
        return [row for row in found if first[0].order <= row.order <= last[-1].order]
    return found if len(clause.dates) < 2 else []


def _is_span(clause: Clause) -> bool:
    return len(clause.dates) == 2 and clause.says("spans")


def _all_within(ends: Sequence[Quantity], values: Sequence[KnownRow]) -> Verdict:
    low, high = sorted(one.number for one in ends)
    half = 0.5 * 10.0 ** -max(one.decimals for one in ends)
    beyond = [row for row in values if not low - half <= value_of(row) <= high + half]
    return _contradicted(beyond) if beyond else supported(values[-1:])


def _contradicted(rows: Sequence[KnownRow]) -> Verdict:
    return Verdict("contradicted", rows[-1].sources, rows[-1].says)
