"""Sentences that say how long something lasted: "resolved after two weeks". Pure."""

from collections.abc import Sequence
from datetime import date

from services.language.clauses import Clause
from services.language.quantities import Quantity
from services.language.written_dates import WrittenDate
from services.statements.fit import DONE_ONCE, has_date
from services.statements.known import KnownRows
from services.statements.rows import KnownRow
from services.statements.subject import about, refs, supported
from services.statements.verdict import Verdict

_LASTED = frozenset({"lasted", "lasting", "dauerte", "dauerten"})
_AFTER = frozenset({"after", "within", "later", "nach", "innerhalb", "spater"})
_WITHIN = frozenset({"within", "innerhalb"})
_BOTH = frozenset({"both", "beide", "beiden", "all", "alle"})
_ENDS = 2
TIMES = {"d": 1.0, "wk": 7.0, "mo": 30.44, "a": 365.25}
_ROUNDED = {"d": 1.0, "wk": 3.5, "mo": 16.0, "a": 190.0}


def lasted(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over how long something lasted; None where a clause does not say it.

    A rounded time is right: three weeks are from 18 to 24 days.
    """
    times = [one for one in clause.quantities if one.unit in TIMES]
    is_end = "ended" in clause.cues and bool(clause.words & _AFTER)
    is_told = bool(clause.words & _LASTED) or is_end
    if not is_told or not names or len(times) != 1 or len(clause.quantities) != 1:
        return None
    subject = [row for row in about(clause, rows, names) if not row.is_text]
    subject = [row for row in subject if row.kind not in DONE_ONCE]
    spans = [(row, _span(row)) for row in subject]
    known = [
        (row, days)
        for row, days in spans
        if days is not None and all(has_date(day, row) for day in clause.dates)
    ]
    if not known:
        return Verdict("unsupported", refs(subject[:1])) if subject else None
    right = [row for row, days in known if _is_so(clause, times[0], days)]
    if right and (len(right) == len(known) or not clause.words & _BOTH):
        return supported(right)
    row, days = next((one for one in known if one[0] not in right), known[0])
    return Verdict("contradicted", row.sources, f"{row.says}: {days} days")


def is_apart(clause: Clause, told: Quantity, first: KnownRow, last: KnownRow) -> bool:
    """Whether two values are as far apart as a clause says: "within two weeks"."""
    begin, end = _exact(first.begun), _exact(last.begun)
    return begin is not None and end is not None and _is_so(clause, told, abs((end - begin).days))


def _is_so(clause: Clause, told: Quantity, days: int) -> bool:
    off = _ROUNDED[told.unit]
    limit = told.number * TIMES[told.unit]
    return days <= limit + off if clause.words & _WITHIN else abs(days - limit) <= off


def _span(row: KnownRow) -> int | None:
    """Return for how many days a row's matter lasted; None where either end is not exact."""
    if len(row.dates) > _ENDS:
        return None  # a row of several times
    first, last = _exact(row.begun), _exact(row.ended)
    return None if first is None or last is None else (last - first).days


def _exact(day: WrittenDate | None) -> date | None:
    if day is None or day.year is None or day.month is None or day.day is None:
        return None
    return date(day.year, day.month, day.day)
