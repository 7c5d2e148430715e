"""Sentences that say by how much a value changed: "fell by 22 %", "gained 3.9 kg". Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.language.figures.quantities import Quantity
from services.language.sentences.clauses import Clause
from services.statements.rows.fit import has_date, is_measured
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import about, refs
from services.statements.rows.units import is_same, quantity
from services.statements.rows.verdict import Verdict

_TIMES = frozenset({"a", "mo", "wk", "d", "h"})
_CHANGES = frozenset({"rising", "falling"})
_ABOUT = 0.05


def is_against_own_numbers(clause: Clause) -> bool:
    """Whether a clause says "raised from 30 to 20 mg", whatever rows say."""
    if len(clause.quantities) != 2 or not clause.says("from"):
        return False
    first, last = clause.quantities if "turned" not in clause.cues else clause.quantities[::-1]
    is_up, is_down = clause.says("raises"), clause.says("lowers")
    is_comparable = first.unit in ("", last.unit) and is_up != is_down
    return is_comparable and (last.number - first.number) * (is_up - is_down) < 0


def changed(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over a clause that says by how much something changed; None for others."""
    if not clause.differences or not names:
        return None
    found = {
        (row.order[:10], row.number): row
        for row in about(clause, rows, names)
        if row.number is not None and row.order and not row.is_text
    }
    values = sorted(found.values(), key=lambda row: row.order)
    pairs = [pair for pair in _pairs(clause, values) if pair[0].order < pair[1].order]
    told = [one for one in clause.quantities if one.unit not in _TIMES]
    if len(told) == 1:
        pairs = [pair for pair in pairs if any(is_measured(told[0], row) for row in pair)]
    if not pairs:
        return Verdict("unsupported", refs(values[-1:]))
    for first, last in pairs:
        if all(_is_so(clause, one, first, last) for one in clause.differences):
            return Verdict("supported", refs((first, last)), f"{first.says}; {last.says}")
    first, last = pairs[0]
    return Verdict("contradicted", refs((first, last)), f"{first.says}; {last.says}")


def _pairs(clause: Clause, values: Sequence[KnownRow]) -> Iterator[tuple[KnownRow, KnownRow]]:
    """Yield the earlier and the later value that a clause may compare."""
    told = [one for one in clause.quantities if one.unit not in _TIMES]
    if len(told) == 2:
        sides = [[row for row in values if is_measured(one, row)] for one in told]
        for at, day in enumerate(clause.dates if len(clause.dates) == len(told) else ()):
            sides[at] = [row for row in sides[at] if has_date(day, row)]
        yield from _each(*sides)
        return
    days = [[row for row in values if has_date(one, row)] for one in clause.dates]
    if len(days) == 2:
        yield from _each(*days)
        yield from _each(*reversed(days))  # "3.8 kg more in 2019 than in 2017"
    elif len(days) == 1 and clause.says("since", "compared_with"):
        yield from _each(days[0], values[-1:])
    elif len(days) == 1:
        if clause.says("than_a_value"):
            yield from _each(days[0], values[-1:])  # "is 97.8, 5.6 kg more than in 2013"
        yield from ((before, row) for before, row in pairwise(values) if row in days[0])
        yield from zip(days[0][:1], days[0][-1:], strict=True)
    elif len(values) > 1:
        yield values[-2], values[-1]
        yield values[0], values[-1]


def _each(
    firsts: Sequence[KnownRow], lasts: Sequence[KnownRow]
) -> Iterator[tuple[KnownRow, KnownRow]]:
    return ((first, last) for first in firsts for last in lasts)


def _is_so(clause: Clause, told: Quantity, first: KnownRow, last: KnownRow) -> bool:
    before, now = first.number or 0.0, last.number or 0.0
    is_course = not clause.cues.isdisjoint(_CHANGES)
    is_up = "rising" in clause.cues or (not is_course and clause.says("up"))
    is_down = "falling" in clause.cues or (not is_course and clause.says("down"))
    if (is_up and now <= before) or (is_down and now >= before):
        return False
    unit = next((one.unit for one in last.quantities), "")
    amounts = [quantity(abs(now - before), unit)] if told.unit != "%" or unit == "%" else []
    if told.unit == "%" and before:
        amounts.append(quantity(100 * abs(now - before) / before, "%"))
    return any(is_same(told, one) or _is_near(clause, told, one) for one in amounts)


def _is_near(clause: Clause, told: Quantity, known: Quantity) -> bool:
    if told.unit != known.unit:
        return False
    off = abs(told.number - known.number)
    near = _ABOUT * known.number if "approximately" in clause.cues else 0.0
    return off <= max(near, 0.5 * 10.0**-told.decimals * 1.01)
