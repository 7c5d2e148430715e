"""Courses of a value, each number of which is a row: "fell from 4.5 to 4.1". Pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from services.language.figures.quantities import Quantity
from services.language.figures.written_dates import FoundDate, WrittenDate
from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import saying
from services.statements.comparing.against_texts import gives_way
from services.statements.rows.compare_series import against_flag, against_trend, is_multiplied
from services.statements.rows.fit import fits, is_measured, shares
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import JUDGED, KnownRow
from services.statements.rows.subject import about, refs, supported
from services.statements.rows.verdict import Verdict
from services.statements.times.durations import TIMES, is_apart

_TWO_AND_TIME, _TO = 3, ("to", "auf")


def by_each(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over "fell from 4.5 to 4.1": each number is a row of the same name."""
    further = {one.start - len(" x "): one for one in clause.quantities}  # "24 x 19 mm"
    seconds = [further[one.end] for one in clause.quantities if one.end in further]
    is_of_several = not shares(clause.quantities, clause.words) and bool(names or clause.sites)
    clause = replace(clause, quantities=tuple(q for q in clause.quantities if q not in seconds))
    if not is_of_several or not 1 < len(clause.quantities) >= len(clause.dates):
        return None
    bounds = [one for one in clause.quantities if one.comparator]
    if bounds and len(bounds) < len(clause.quantities) and not clause.says("from"):
        return None  # "7.2 %, below the goal of 7 %" is of one value
    clause, time = _without_time(clause)
    unit = next((one.unit for one in reversed(clause.quantities) if one.unit), "")
    measured = [one if one.unit else replace(one, unit=unit) for one in clause.quantities]
    if any(one.unit != unit for one in measured):
        return None
    single = replace(clause, cues=clause.cues - {"newest"})
    parts = [
        replace(single, quantities=(one, *filter(None, [further.get(one.end)])), dates=dates)
        for one, dates in zip(measured, _days_of(clause), strict=True)
    ]
    found = [_of_part(one, rows, names) for one in parts]
    if not all(found):
        rest = [rows.about([one]) for one in names[1:]]
        return by_each(clause, rows, names[:1]) if rest and all(rest) else None
    if time is not None and not any(
        is_apart(clause, time, a, b) for a in found[0] for b in found[-1]
    ):
        return Verdict("unsupported", refs(found[-1]))
    if clause.says("after") and not clause.says("from"):
        measured.reverse()  # "72.9 in 2019 after 89.7 in 2014"
        found.reverse()
    subject = about(clause, rows, names)
    against = _against_order_of(clause, measured, found, subject)
    against = against or _against_steps(clause, subject, found[0][0], found[-1][0])
    judged = [max(one, key=lambda row: bool(row.flag or row.ranges)) for one in found]
    against = against or _judged_otherwise(clause, judged[0], judged[-1])
    return against or supported([one[0] for one in found])


def _of_part(part: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return the rows of one number of a course; of a place alone none that has it as `(4 mm)`."""
    first = part.quantities[0]
    subject = about(part, rows, names) if names else rows.with_number(first.readings)
    of_ends = ("medication", "fact") if part.says("from") else ()
    return [
        row
        for row in subject
        if (row.needs_all or row.is_text or row.kind in of_ends)
        and fits(part if row.needs_all else plain(part), row)
        and not gives_way(part, row, subject)
        and (names or f"({first.number:g} " not in row.says)
    ]


def _against_order_of(
    clause: Clause,
    measured: Sequence[Quantity],
    found: list[list[KnownRow]],
    subject: Sequence[KnownRow],
) -> Verdict | None:
    """Return what the rows of each number say against their course; put the oldest first."""
    first, last = measured[0].number, measured[-1].number
    told = [row for row in subject if any(is_measured(one, row) for one in measured)]
    ways = {way for way in ("raises", "lowers") for row in told if row.words & saying(way)}
    if len(ways) == 1 and any(row.kind == "medication" for row in told):  # begun with any dose
        return None if clause.says(*ways) else Verdict("contradicted", refs(told), told[0].says)
    # A text of both numbers is of no one day.
    found = [[row for row in side if not row.is_text] or side for side in found]
    is_trend = bool(clause.cues & {"rising", "falling"}) or clause.says("from")
    # Of "18.4 → 9.7 → 3.1" each is after the one before; where days are told each is of its own.
    is_by_steps = not (clause.dates or clause.words.isdisjoint(_TO))
    is_trend |= is_by_steps and len(found) > len(("from", "to"))
    steps = pairwise(found) if is_by_steps else [(found[0], found[-1])]
    is_in_order = all(any(_is_before(a, b) for a in x for b in y) for x, y in steps)
    if not is_in_order and len(clause.dates) == len(measured):
        found.reverse()  # "fell to 160 in 2020 from 259 in 2014"
        first, last, is_in_order = last, first, True
    is_other_way = ("rising" in clause.cues and last < first) or (
        "falling" in clause.cues and last > first
    )
    is_other_way = is_other_way and not clause.says("came_back")
    if (is_in_order or not is_trend) and not is_other_way and is_multiplied(clause, first, last):
        return None
    said = sorted((found[0][0], found[-1][0]), key=attrgetter("order"))
    return Verdict("contradicted", refs(found[-1]), "; ".join(one.says for one in said))


def _is_before(one: KnownRow, other: KnownRow) -> bool:
    """Whether a value may be of before another: of one text, "1.9 cm, formerly 4.2 cm", it says."""
    is_told_first = other.is_text and other.words & saying("formerly")
    return _day(one) < _day(other) or (_day(one) == _day(other) and not is_told_first)


def _against_steps(
    clause: Clause, subject: Sequence[KnownRow], first: KnownRow, last: KnownRow
) -> Verdict | None:
    """Return what the values between two say against "fell steadily from 70.9 to 52.7"."""
    if not clause.says("step_by_step"):
        return None
    between = [row for row in subject if first.order <= row.order <= last.order]
    series = sorted((row for row in between if row.number is not None), key=attrgetter("order"))
    return against_trend(clause, series)


def _judged_otherwise(clause: Clause, first: KnownRow, last: KnownRow) -> Verdict | None:
    """Return the flag that speaks against "fell from 612 to 88 and is normal": of the newer value.

    That "fell from an elevated 6.1" is of either.
    """
    ends = [max(first, last, key=_day)] if clause.says("still") else [first, last]
    told = [flag for row in ends if (flag := against_flag(clause, row))]
    return Verdict("contradicted", refs(ends), told[-1]) if len(told) == len(ends) else None


def plain(clause: Clause) -> Clause:
    """Return a clause without how a value goes: a text of one of two values does not say it."""
    return replace(clause, cues=clause.cues - JUDGED)


def _day(row: KnownRow) -> tuple[int, int, int]:
    """Return when a value was measured, or the text written that tells it."""
    day = row.written or row.begun or (row.dates[0] if row.dates else WrittenDate())
    return (day.year or 0, day.month or 0, day.day or 0)


def _without_time(clause: Clause) -> tuple[Clause, Quantity | None]:
    """Return a clause without the time of its course: "from 1.0 to 2.6 within two weeks"."""
    times = [one for one in clause.quantities if one.unit in TIMES]
    if len(times) != 1 or len(clause.quantities) != _TWO_AND_TIME:
        return clause, None
    rest = tuple(one for one in clause.quantities if one not in times)
    return replace(clause, quantities=rest), times[0]


def _days_of(clause: Clause) -> tuple[tuple[FoundDate, ...], ...]:
    """Return the days of each number: "from 4.5 to 4.1 on 2 March", "since March, from 4.5 …"."""
    if len(clause.dates) == len(clause.quantities):
        return tuple((date,) for date in clause.dates)
    none = ((),) * (len(clause.quantities) - 1)
    if "begun" not in clause.cues:
        return _beside_day(clause) or (*none, clause.dates)
    return (*none, ()) if clause.says("ranged") else (clause.dates, *none)


def _beside_day(clause: Clause) -> tuple[tuple[FoundDate, ...], ...]:
    """Return the one day for the number before it: "97 today, compared with 70.8 in 2019"."""
    days = clause.dates
    near = range(len(" (") + 1)
    own = [tuple(day for day in days if day.start - one.end in near) for one in clause.quantities]
    if sum(map(len, own)) == len(days) > 1:  # "64 % (Sept 2024) → 57 % (March 2025) → 58 %"
        return tuple(own)
    gaps = {one.start: one.start - day.end for one in clause.quantities for day in days[:1]}
    behind = [start for start, gap in gaps.items() if 0 <= gap <= len(" (")]
    if behind:  # "than in 2021 (10.9 g/dL)"
        return tuple(days if one.start == behind[0] else () for one in clause.quantities)
    before = [one.start for one in clause.quantities if days and one.start < days[0].start]
    return tuple(days if one.start == max(before) else () for one in clause.quantities if before)
