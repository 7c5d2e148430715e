"""Sentences that say how often something is done: "every three months", "once a year". Pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from services.language.sentences.clauses import Clause
from services.language.words.statement_words import statement_words
from services.statements.rows.fit import fits, has_date
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import about, refs, supported
from services.statements.rows.verdict import Verdict
from services.statements.times.durations import TIMES, days_between

_OFTEN = {"1/w": 7.0, "1/2w": 14.0, "1/3w": 21.0, "1/m": 30.44, "1/a": 365.25}
_OFF, _OFF_OF_WEEKS, _WEEKS = 0.4, 0.2, 60.0
_FEWEST = 3


def done_regularly(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over how often a thing is done; None where none is told, or of a drug."""
    every = _interval(clause)
    if every is None or not names:
        return None
    if not (done := _done(clause, rows, names)):
        return None
    meant = _of_days(clause, done)
    gaps = sorted(days_between(one, other) or 0 for one, other in pairwise(meant))
    # Of a time that is told with both ends none is left out; else as a rule.
    is_span = len(clause.dates) > 1
    told = gaps[-1:] if is_span else gaps[len(gaps) // 2 :][:1]
    known = statement_words()
    seasons = {**known.parts_of_year, **{word: (one,) for word, one in known.months.items()}}
    months = {month for word in clause.words for month in seasons.get(word, ())}
    is_then = not months or all(int(row.order[5:7] or 0) in months for row in meant)
    is_so = is_then and len(meant) >= _FEWEST - is_span
    off = every * (_OFF_OF_WEEKS if every < _WEEKS else _OFF)
    is_so = is_so and all(abs(gap - every) <= off for gap in told)
    return supported([meant[-1], meant[0]]) if is_so else Verdict("unsupported", refs(done[-1:]))


def _interval(clause: Clause) -> float | None:
    """Return every how many days something is done."""
    told = [_OFTEN[one] for one in clause.often if one in _OFTEN]
    times = [one for one in clause.quantities if one.unit in TIMES and not one.comparator]
    if not told and clause.says("every", "all") and len(times) == len(clause.quantities) == 1:
        told.append(times[0].number * TIMES[times[0].unit])
    return told[0] if len(told) == 1 else None


def _done(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return what was done, one row a day, the oldest first."""
    plain = replace(
        clause, quantities=(), dates=(), often=frozenset(), cues=clause.cues - {"newest"}
    )
    found = [row for row in about(clause, rows, names) if not row.is_text]
    if any(row.kind == "medication" for row in found):
        return []
    done = (row for row in found if row.order and row.kind in DONE_ONCE)
    days = {row.order[:10]: row for row in done if fits(plain, row)}
    return [days[day] for day in sorted(days)]


def _of_days(clause: Clause, done: list[KnownRow]) -> list[KnownRow]:
    """Return those of the time that is told; none where what is told to be the ends is none."""
    places = [[at for at, row in enumerate(done) if has_date(day, row)] for day in clause.dates]
    if not all(places) or len(places) > len(("first", "last")):
        return []
    if len(places) == 1 and "newest" in clause.cues:
        return done if len(done) - 1 in places[0] else []
    first = places[0][0] if places else 0
    last = places[1][-1] if len(places) > 1 else len(done) - 1
    return done[first : last + 1]
