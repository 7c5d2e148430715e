"""How many, how often, how long or by how much a clause tells something: "fell by 22 %". Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from services.language.figures.full_dates import month_numbers
from services.language.figures.quantities import Quantity
from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence
from services.language.words.letters import folded
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words
from services.statements.comparing.bounds import of_all_values
from services.statements.comparing.compare_several import switched
from services.statements.rows.compare_series import has_value, value_of
from services.statements.rows.fit import has_date, is_measured
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import about, refs
from services.statements.rows.units import is_same, quantity
from services.statements.rows.verdict import Verdict
from services.statements.times.counting import counted, done_regularly, of_kinds
from services.statements.times.durations import lasts_on, stayed

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
    if not all(any(is_measured(one, row) for row in values) for one in told[2:]):
        return Verdict("unsupported", refs(values[-1:]))
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
    pairs = [(before, now), tuple(row.quantities[0].number for row in (first, last))]  # as shown
    amounts = [quantity(abs(a - b), unit) for a, b in pairs if told.unit != "%" or unit == "%"]
    if told.unit == "%" and before:
        amounts.append(quantity(100 * abs(now - before) / before, "%"))
    return any(is_same(told, one) or _is_near(clause, told, one) for one in amounts)


def _is_near(clause: Clause, told: Quantity, known: Quantity) -> bool:
    if told.unit != known.unit:
        return False
    off = abs(told.number - known.number)
    near = _ABOUT * known.number if "approximately" in clause.cues else 0.0
    return off <= max(near, 0.5 * 10.0**-told.decimals * 1.01)


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
        sides = [[max(rows, key=attrgetter("order"))], then]
        return sides[::-1] if "than_lately" in clause.cues else sides
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


_FIGURES = (
    done_regularly, of_all_values, counted, changed, lasts_on, stayed, switched
)  # fmt: skip


def of_figures(
    sentence: Sentence, clause: Clause, names: Sequence[str], rows: KnownRows
) -> Verdict | None:
    """Return the verdict over the figures of a clause; None where it tells none."""
    if not sentence.asks and "maybe" not in clause.cues:
        found_by = (each(clause, rows, names) for each in _FIGURES)
        told = next((one for one in found_by if one is not None), None)
        if told is not None:
            is_so = told.state != "supported" and _is_counted_in_text(clause, rows)
            return None if is_so else told  # the rest is compared
    if not clause.counted or clause.quantities:
        return None
    found = of_kinds(clause, rows)
    if found.state != "supported" or not clause.own_names:
        return found
    each_of = [*map(rows.about, (*([one] for one in clause.names), *clause.runs))]
    sources = refs(row for of_name in each_of for row in of_name[:1])
    return Verdict("supported" if all(each_of) else "unsupported", sources)


def _is_counted_in_text(clause: Clause, rows: KnownRows) -> bool:
    """Whether a text has the count of a clause: "after five doses" is told by no rows of five."""
    told, numbers = {number for number, _ in clause.counted}, statement_words().numbers
    texts = (row.words for row in rows.about(clause.words & saying("a_dose")) if row.is_text)
    return any(told <= {numbers[word] for word in words & numbers.keys()} for words in texts)


def is_of_unknown_number(clause: Clause, rows: Sequence[KnownRow]) -> bool:
    """Whether a number in words, of no value, is in no row, nor that of the rows or their days."""
    if clause.quantities or clause.differences or clause.says("apart_from_counts"):
        return False
    numbers = statement_words().numbers
    told = {numbers[word] for word in clause.words & numbers.keys()}
    known: set[float] = {1.0, *(number for number, _ in clause.counted)}
    if told <= known or not clause.cues.isdisjoint({"no", "nothing"}):
        return False
    days = {row.needs: set[str]() for row in rows}
    for row in rows:
        days[row.needs].add(row.order[:10])
        known.update(numbers[word] for word in row.words & numbers.keys())
        known.update(one.number for one in (*row.quantities, *row.figures))
    return not told <= known.union(map(len, days.values()))
