"""Ages and times that follow from days: the rest of a sentence is judged, and they by its rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from services.language.figures.quantities import Quantity
from services.language.figures.written_dates import WrittenDate
from services.language.sentences.clauses import Clause
from services.language.sentences.stages_told import TimeTold
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying
from services.statements.comparing.by_values import latest
from services.statements.comparing.compare_several import places_told
from services.statements.rows.fit import has_date
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import supported
from services.statements.rows.verdict import Verdict, worst
from services.statements.times import durations
from services.statements.times.durations import age_told, is_so_old

_AGES = frozenset({"", "a", "mo"})
_Judged = tuple[Sentence, list[Verdict]]


def by_reckoning(
    sentence: Sentence, rows: KnownRows, judge: Callable[[Clause], Verdict], before: Sequence[str]
) -> _Judged | None:
    """Return a sentence without its times, where rows say the rest and they follow from it.

    Args:
        before: The sources of the sentence before, from which "two weeks later" counts.
    """
    if not (times := list(sentence.reader.times()) if sentence.reader else []):
        return None
    numbers = [one.told for one in times]
    plain = _dated_by_lead([_without(one, numbers) for one in sentence.clauses])
    verdicts = [_judged(one, rows, judge) for one in plain]
    if worst(verdicts).state != "supported":
        return None
    for time, owner in product(times, sentence.clauses):
        if time.told in owner.quantities:
            told = {*owner.names}
            said = [
                v for v, one in zip(verdicts, plain, strict=True) if not told or told & {*one.names}
            ]
            of_said = (row for one in said for ref in one.sources for row in rows.by_source(ref))
            found = [row for row in of_said if not row.is_text and row.begun]
            earlier = [row for ref in before for row in rows.by_source(ref) if row.begun]
            is_later = owner.says("from_then") and any(
                durations.is_apart(owner, time.told, *one) for one in product(earlier, found)
            )
            if not (is_later or _follows(time, owner, found, rows)):
                return None
    return replace(sentence, clauses=tuple(plain)), verdicts


def _dated_by_lead(clauses: list[Clause]) -> list[Clause]:
    """Return clauses, the second with the day of "One week later, on 7 May, …"."""
    one, *rest = clauses
    is_bare = len(one.words) <= len(("one", "week", "later", "on")) and not one.names
    if not (is_bare and rest and (one.says("from_then") or one.dates)) or one.quantities:
        return clauses
    return [replace(rest[0], dates=rest[0].dates or one.dates)] * 2 + rest[1:]


def is_of_other_age(sentence: Sentence, verdicts: Sequence[Verdict], rows: KnownRows) -> bool:
    """Whether somebody is said to have been so old on a day of rows, when they were not."""
    times = sentence.reader.times() if sentence.reader else ()
    ages = [one for one in times if one.kind == "age"]
    found = [row for one in verdicts if ages for ref in one.sources for row in rows.by_source(ref)]
    known = {told.number for row in found for told in row.quantities if told.unit in _AGES}
    return any(
        one.told.number not in known
        and not _follows(one, owner, [row for row in found if row.begun], rows)
        for one, owner in product(ages, sentence.clauses)
        if one.told in owner.quantities and age_told(owner) is None
    )


def _without(clause: Clause, numbers: Sequence[Quantity]) -> Clause:
    rest = tuple(one for one in clause.quantities if one not in numbers)
    is_end = len(rest) < len(clause.quantities) and not clause.says("age")
    cues = {"day_before_end"} if is_end else set[str]()  # a day is that of the beginning
    words = clause.words - saying("years_old")
    return replace(clause, words=words, quantities=rest, cues=clause.cues | cues)


def _judged(clause: Clause, rows: KnownRows, judge: Callable[[Clause], Verdict]) -> Verdict:
    """Return the verdict over a clause, of one that names nothing itself also for the last name."""
    if visited := _visited(clause, rows):
        return supported(visited)
    found = judge(clause)
    is_of_last = found.state == "unsupported" and not clause.own_names
    return judge(replace(clause, names=clause.names[-1:])) if is_of_last else found


def _visited(clause: Clause, rows: KnownRows) -> list[KnownRow]:
    """Return the last visit, or the stay of a day, where a clause tells of no more than that."""
    if clause.names or clause.quantities or clause.stages or clause.cues & durations.OVER:
        return []
    if clause.dates:
        stays = [row for row in rows.rows if row.is_stay and clause.says("in_hospital")]
        return [row for row in stays if all(has_date(day, row) for day in clause.dates)]
    return [row for row in latest(clause, rows) if row.kind in rows.whole]


def _follows(time: TimeTold, owner: Clause, found: Sequence[KnownRow], rows: KnownRows) -> bool:
    near = sorted(owner.dates, key=lambda one: abs(one.start - time.told.start))[:1]
    if time.kind == "age":
        births = [row.begun for row in rows.personal if row.kind == "patient" and row.begun]
        days = [day for row in found for day in _days(row, owner)]
        days = [day for day in days if all(durations.is_then(one, day) for one in near)]
        return any(is_so_old(time.told, owner, *one) for one in product(births, days))
    if time.kind == "ago":
        return bool(durations.long_ago(owner, time.told, found, rows))
    if "planned" in owner.cues:
        return False  # how long a drug is to be taken is not how long it was
    named = [row for one in owner.names for row in rows.about([one])]
    found = [*found, *(row for row in named if row.kind == "problem")]
    if owner.says("in_hospital") and not owner.counted:
        stays = [row for row in rows.rows if row.is_stay]
        found = [row for row in stays if row in named] or stays
    if (of_series := _last_two(owner, rows)) and owner.says("apart"):
        return durations.is_apart(owner, time.told, *of_series)
    is_now = owner.cues.isdisjoint(durations.OVER) and not owner.says("apart", "lasted")
    lasting = [row for row in found if is_now and row.standing == "active" and not row.ended]
    return durations.is_so_long(owner, time.told, found) or bool(
        durations.long_ago(owner, time.told, lasting, rows)
    )


def _last_two(owner: Clause, rows: KnownRows) -> Sequence[KnownRow]:
    """Return of "the second dose" the first two, each of its day; none where no place is told."""
    which = places_told(owner)
    found = [row for one in owner.names[:1] for row in rows.about([one]) if row.kind in DONE_ONCE]
    days = {row.order[:10]: row for row in found if not row.needs.isdisjoint(owner.names)}
    return [days[day] for day in sorted(days)][which[0] - 2 : which[0]] if which > [1] else ()


def _days(row: KnownRow, owner: Clause) -> Iterator[WrittenDate]:
    if row.begun and (owner.dates or "ended" not in owner.cues):
        yield row.begun
    if row.ended and (owner.dates or "ended" in owner.cues):
        yield row.ended
