"""Sentences that count what happened, or say how often: "two strokes", "once a year". Pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from services.language.figures.written_dates import FoundDate
from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import saying
from services.language.words.statement_words import group_of, statement_words
from services.statements.rows.compare_series import since
from services.statements.rows.fit import fits, has_date, has_sites, is_measured, is_of_other_number
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE, excludes, placed
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import about, refs, supported
from services.statements.rows.verdict import UNCHECKED, Verdict
from services.statements.times.durations import TIMES, days_between

_OF_A_THING = frozenset({"times", "result", "immunization", "encounter"})
_SHARES = frozenset({"active", "ended"})
_PART_OF_TIME = frozenset({"begun", "ended", "before", "newest"})
_INTENDED = frozenset({"care plan", "goal", "order"})
_OF_A_SERIES = frozenset({"extent", "origin", "ordinal"})


def counted(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over how often a named thing was done or found; None where none is told.

    Rows that a tool left out may make a greater number right, so that is unsupported only.
    """
    numbers = {number for number, kind in clause.counted if kind in _OF_A_THING}
    kinds = {kind for _, kind in clause.counted}.union(one[1:] for one in clause.topics)
    is_of_stays = not names and clause.says("in_hospital", "admitted")
    is_share = any(not one.unit for one in clause.quantities) and "of" in clause.words
    if not names and not is_of_stays and not is_share:
        return _of_a_period(clause, rows)
    if not (names or is_of_stays) or len(numbers) != 1 or is_share:
        return None
    is_of_time = clause.says("apart") and bool(clause.quantities)  # "her two scans, a year apart"
    if not (number := numbers.pop()) or is_of_time:
        # That there is none is a matter of absence, and how far apart they are of their days.
        return Verdict("unsupported") if is_of_time else None
    subject = about(clause, rows, names) if names else [row for row in rows.rows if row.is_stay]
    called = {word for word in clause.words if statement_words().numbers.get(word) == number}
    told = [row for row in subject if _says(number, row) or (row.is_text and called & row.words)]
    told = [row for row in told if _may_sum_up(row, clause)]
    told = [row for row in told if not (row.is_text and is_of_other_number(clause, row))]
    told = [row for row in told if not excludes(placed(clause), row)]
    if told and any(has_sites(clause, row) for row in subject):
        return supported(told)
    kinds = (kinds & DONE_ONCE) or {"problem"}  # a fracture, and not what was done for it
    subject = [row for row in subject if row.kind in kinds] or subject
    which = tuple(one for one in clause.exclusive if group_of(one) not in _OF_A_SERIES)
    plain = replace(clause, counted=(), quantities=(), dates=(), exclusive=which)
    found = [row for row in subject if not row.is_text and row.order and fits(plain, row)]
    found = [row for row in found if row.kind not in _INTENDED]
    # Of a device, not another one of its class.
    found = [
        row for row in found if clause.says("devices") and not row.needs.isdisjoint(names)
    ] or found
    if (meant := _of_days(clause, found)) is None or _of_other_value(clause, meant):
        return Verdict("unsupported", refs(found[:1]))
    days = {row.order[:10]: row for row in meant if not row.negated}
    rows_of_values = {row.sources for row in meant if row.needs_all and not row.negated}
    before = sum(len(row.earlier) for row in days.values() if not clause.dates)
    if number in (len(days) + before, len(rows_of_values)):  # twice on one day are two results
        return supported(list(days.values()))
    if number > len(days) + before:
        return Verdict("unsupported", refs(list(days.values())[:3]))
    said = f"{len(days)} in the record: {', '.join(sorted(days))}"
    return Verdict("contradicted", refs(list(days.values())[:3]), said)


def _of_other_value(clause: Clause, meant: Sequence[KnownRow]) -> list[KnownRow]:
    """Return those that have another value than is told of all: "78 kg at all three visits"."""
    values = [one for one in clause.quantities if one.unit and one.unit not in TIMES]
    told = meant if values and clause.says("always") else ()
    return [row for row in told if not all(is_measured(one, row) for one in values)]


def _of_a_period(clause: Clause, rows: KnownRows) -> Verdict | None:
    """Return whether a year or month had as many of a kind: "In 2018 she had 8 visits"."""
    told = [(number, kind) for number, kind in clause.counted if kind in DONE_ONCE]
    days = [one for day in clause.dates for one in day.readings]
    is_whole = clause.cues.isdisjoint(_PART_OF_TIME) and not any(one.day for one in days)
    if len(told) != 1 or len(clause.dates) != 1 or not is_whole:
        return None
    (number, kind), plain = told[0], replace(clause, counted=(), dates=())
    of_kind = [row for row in rows.about([f"={kind}"]) if row.order and not row.is_text]
    then = [row for row in of_kind if has_date(clause.dates[0], row) and fits(plain, row)]
    is_so = number == len({row.sources for row in then})
    return supported(then) if is_so and then else Verdict("unsupported", refs(then[:1]))


def _may_sum_up(row: KnownRow, clause: Clause) -> bool:
    """Whether a row may stand for several of a kind: `recorded 3 times, last 2019-12-04`."""
    if row.is_text:
        numbers = clause.words & statement_words().numbers.keys()
        ordered = [f"{one} {word}" for one in saying("before_a_number") for word in numbers]
        is_order = any(one in row.says.lower() for one in ordered)  # "day three after ERCP"
        return not is_order and all(has_date(day, row) for day in clause.dates)
    is_of_done = row.kind == "procedure" and not row.needs.issuperset(clause.names)  # what it found
    return (is_of_done or row.kind in ("problem", "medication")) and fits(clause, row)


def _of_days(clause: Clause, found: list[KnownRow]) -> list[KnownRow] | None:
    """Return the rows that are counted: of one day, or all; None where a day is not as told."""
    is_end = "ended" in clause.cues and len(clause.dates) == 1
    if found and (is_end or "newest" in clause.cues):  # "the first in 2011 and the latest in 2020"
        in_order = sorted(found, key=attrgetter("order"))
        ends = [in_order[0], in_order[-1]][-len(clause.dates) :]
        return found if all(map(has_date, clause.dates, ends)) else None
    is_there = all(any(has_date(one, row) for row in found) for one in clause.dates)
    if "of_all" in clause.cues or (clause.says("no_more_than") and "in" not in clause.words):
        return found if is_there else None
    if len(clause.dates) == 1 and "begun" in clause.cues:
        return list(since(clause, found))
    if len(clause.dates) == 1:
        return [row for row in found if has_date(clause.dates[0], row)]
    spanned = within(clause, found) if "ended" not in clause.cues else []  # a series that ended
    return spanned or (found if is_there else None)


def within(clause: Clause, rows: Sequence[KnownRow]) -> list[KnownRow]:
    """Return the rows from the first to the last of two days, of "between May and August 2020"."""
    if len(clause.dates) != len(("first", "last")) or not clause.says("between"):
        return []
    first, last = sorted(map(as_in_rows, clause.dates))
    later = [row for row in rows if first <= row.order[: len(first)]]
    return [row for row in later if row.order[: len(last)] <= last]


def as_in_rows(found: FoundDate) -> str:
    """Return a day, month or year as rows have it, of several readings the last."""
    parts = ((one.year, one.month, one.day) for one in found.readings)
    return max("-".join(f"{part:02}" for part in one if part) for one in parts)


def _says(number: float, row: KnownRow) -> bool:
    is_listed = row.is_text and f"({number:g})" in row.says  # "(1) whether …, (2) which …"
    return not is_listed and any(one.number == number and not one.unit for one in row.quantities)


def of_kinds(clause: Clause, rows: KnownRows) -> Verdict:
    """Return the verdict over how many of a kind there are, "three active problems"."""
    kinds = {kind for _, kind in clause.counted}
    whole = next((kind for kind in kinds if kind in rows.counts), "")
    for number, told in clause.counted:
        kind = f"{told} {whole}" if told in _SHARES else told
        if kind not in rows.counts:
            return Verdict("unsupported") if told in _SHARES else UNCHECKED
        is_of_now = clause.cues & {"current", "takes"} and f"active {kind}" in rows.counts
        is_of_now = is_of_now and kinds.isdisjoint(_SHARES)  # "6 problems, 4 of them active"
        if number not in rows.counts[f"active {kind}" if is_of_now else kind]:
            return Verdict("unsupported")
    return Verdict("supported")


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
    meant = _of_ends(clause, done)
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


def _of_ends(clause: Clause, done: list[KnownRow]) -> list[KnownRow]:
    """Return those of the time that is told; none where what is told to be the ends is none."""
    places = [[at for at, row in enumerate(done) if has_date(day, row)] for day in clause.dates]
    if not all(places) or len(places) > len(("first", "last")):
        return []
    if len(places) == 1 and "newest" in clause.cues:
        return done if len(done) - 1 in places[0] else []
    first = places[0][0] if places else 0
    last = places[1][-1] if len(places) > 1 else len(done) - 1
    return done[first : last + 1]
