"""Clauses that tell several things of one day, each of which a row has of that day. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from services.language.sentences.clauses import Clause
from services.statements.comparing.against_texts import is_cancer_of
from services.statements.comparing.compare_several import is_for_another, is_over, written
from services.statements.rows import fit
from services.statements.rows.happenings import happenings, has_happened
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE, excludes, meant_by
from services.statements.rows.rows import KnownRow

_REPORTED_WITHIN = timedelta(days=21)


def by_one_day(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return the rows of several things that are told of one day, each of it.

    "NT-proBNP was 1914 when heart failure was diagnosed": of each name a row is of that day; an
    illness that something was for may be there since. What may have the value is one thing alone.
    """
    units = _units(clause, rows, names)
    is_told = len(clause.dates) == 1 or (not clause.dates and (clause.quantities or clause.often))
    # "A 5 mm polyp was removed".
    is_deed = units and clause.quantities and happenings(clause)
    if not (is_told and (is_deed or units[1:])) or "newest" in clause.cues or clause.stages:
        return []
    words = clause.words.difference(happenings(clause))
    plain = replace(
        clause, words=words, quantities=(), often=frozenset(), dates=(), sites=(), exclusive=()
    )
    found = [
        [row for row in rows.about(unit) if fit.fits(plain, row) and not excludes(clause, row)]
        for unit in units
    ]
    found = [[row for row in one if not (row.is_text or fit.is_aim(row))] for one in found]
    pairs = list(zip(units, found, strict=True))
    own = [(of, [row for row in of if not row.needs.isdisjoint(one)]) for one, of in pairs]
    measured = [of for of, rs in own if any(r.needs_all or r.kind == "medication" for r in rs)]
    is_one = any(all(row in of for of in measured) for row in (measured or [[]])[0])
    if len(measured) > 1 and not is_one and (clause.quantities or clause.often):
        return []
    of_names = [row for name in names for row in rows.about([name])]
    for day in dict.fromkeys(row.order[:10] for one in found for row in one if row.order):
        then = [[row for row in one if _is_there(clause, row, day)] for one in found]
        told = [row for one in then for row in one if row.order[:10] == day]
        is_of_day = all(then) and all(
            any(fit.has_date(one, row) and not fit.is_begun_otherwise(clause, row) for row in told)
            for one in clause.dates
        )
        told += [row for row in of_names if row.number is not None and row.order[:10] == day]
        is_for_others = any(is_for_another(clause, row) for row in told)
        told = [row for row in told if row.kind != "medication" or not row.needs.isdisjoint(names)]
        if is_of_day and _say_together(clause, told) and not is_for_others:
            firsts = [row for one in then for row in one[:1]]
            return sorted(firsts, key=lambda row: not row.needs_all and row.kind != "medication")
    return []


def with_reports(clause: Clause, rows: KnownRows) -> Clause:
    """Return a clause, a day on which a specimen was taken also as that of its report."""
    dates = []
    for day in clause.dates:
        then = [row for one in day.readings for row in rows.with_day(one.year, one.month)]
        taken = [row for row in then if row.kind == "procedure" and fit.has_date(day, row)]
        days = [date.fromisoformat(row.order[:10]) for row in taken if row.begun and row.begun.day]
        spans = [(str(first), str(first + _REPORTED_WITHIN)) for first in days]
        reports = [row for row in rows.rows if spans and row.kind == "pathology report"]
        of_days = [row for row in reports if any(a < row.order[:10] <= z for a, z in spans)]
        known = (one for row in of_days for one in row.dates[:1])
        dates.append(replace(day, readings=(*day.readings, *known)))
    return replace(clause, dates=tuple(dates)) if dates else clause


def on_other_days(clauses: Sequence[Clause], rows: KnownRows) -> bool:
    """Whether things that are told of one day have none in common, or a deed was on another."""
    if any(_done_otherwise(one, rows) for one in clauses if one.dates and not one.quantities):
        return True
    of_day = [one for one in clauses if one.says("one_day")]
    is_begun = any("begun" in one.cues and one.says("upon") for one in of_day)
    is_begun = is_begun and not any(one.dates for one in clauses)
    if not (is_begun or any(one.says("same") for one in of_day)):
        return False
    found = [rows.about(unit) for one in clauses for unit in _units(one, rows, one.names)]
    own = [[row for row in of if not (row.is_text or fit.is_aim(row))] for of in found]
    if any("ended" in one.cues for one in clauses):
        own = [[replace(row, order=written(row.ended)) for row in of if row.ended] for of in own]
    if is_begun:  # a visit for an illness is not its first day
        own = [[row for row in of if row.kind == "problem"] or of for of in own]
    told = [day for one in clauses for day in one.dates]
    own = [[row for row in of if all(fit.has_date(day, row) for day in told)] or of for of in own]
    days = [{row.order[:10] for row in of if row.order} for of in own if of]
    return len(days) > 1 and all(days) and not set.intersection(*days)


def _done_otherwise(clause: Clause, rows: KnownRows) -> bool:
    """Whether what was done, by its whole name, was done on none of the days that are told."""
    named = {row.needs: row for name in clause.names for row in rows.about([name])}
    wholes = [
        one for one, row in named.items() if row.kind == "procedure" and one <= {*clause.names}
    ]
    done = [row for one in wholes for row in rows.about(one) if row.needs == one]
    days = [fit.has_date(day, row) for row in done for day in clause.dates]
    return bool(days) and not any(days)


def _units(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[frozenset[str]]:
    """Return the things that a clause names; none of a cancer and what is no deed beside it."""
    units = [frozenset(one) for one in clause.runs if rows.about(one)]
    units += [frozenset({name}) for name in names]
    if is_cancer_of(names):
        ills = [row.words & {*names} for row in rows.rows if row.kind == "problem"]
        illness = max((one for one in ills if is_cancer_of([*one])), key=len, default=frozenset())
        rest = [one for one in units if not one <= illness]
        done = [row.needs for row in rows.rows if row.kind in DONE_ONCE]
        units = [illness, *rest] if all(any(one & it for it in done) for one in rest) else []
    return [one for one in units if not any(one < other for other in units)]


def _is_there(clause: Clause, row: KnownRow, day: str) -> bool:
    """Whether a row is of a day, or of an illness at that time that something was for."""
    is_since = row.kind == "problem" and clause.says("treated_for") and row.order[: len(day)] <= day
    return row.order[:10] == day or (bool(is_since) and not is_over(row, day))


def _say_together(clause: Clause, rows: Sequence[KnownRow]) -> bool:
    """Whether rows of one day have all values that a clause tells, and what happened."""
    return (
        all(any(fit.is_measured(one, row) for row in rows) for one in clause.quantities)
        and clause.often <= frozenset().union(*(row.often for row in rows))
        and all(any(has_happened(word, row) for row in rows) for word in happenings(clause))
        and meant_by(clause.exclusive) <= meant_by(one for row in rows for one in row.exclusive)
        and all(
            any(fit.has_sites(replace(clause, sites=(one,)), row) for row in rows)
            for one in clause.sites
        )
    )
