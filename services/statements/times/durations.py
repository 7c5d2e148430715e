"""How old somebody is, and how long things last or lie apart, as sentences tell it. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations

from services.language.figures.numbers_in_words import on_birthdays
from services.language.figures.quantities import Quantity
from services.language.figures.written_dates import FoundDate, WrittenDate
from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import saying
from services.language.words.statement_words import group_of
from services.statements.rows.fit import is_measured
from services.statements.rows.happenings import COURSES
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE, excludes
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import about, supported
from services.statements.rows.verdict import Verdict

OVER = frozenset({"ended", "before", "family", "no", "maybe"})
_ENDS = 2
_STAYS = frozenset({"encounter"})
TIMES = {"d": 1.0, "wk": 7.0, "mo": 30.44, "a": 365.25}
_FAR, _MANY = 1.5, 10
_ROUNDED = {"d": 1.0, "wk": 3.5, "mo": 16.0, "a": 190.0}


def is_so_long(clause: Clause, told: Quantity, found: Sequence[KnownRow]) -> bool:
    """Whether a time is how long one of the rows lasted, or how far two of them are apart."""
    is_of_drug = any(kind_of_name(one) == "medication" for one in clause.names)
    # An illness is no course of its drug.
    is_span = "ended" in clause.cues or clause.says("lasted") or not is_of_drug
    is_span = is_span and not (clause.counted and clause.says("apart"))
    are_apart = clause.says("apart") or (clause.says("within") and clause.cues & COURSES)
    spans = [days for row in found if is_span for days in spans_of(row, clause)]
    times = [time for row in found for time, *_ in ((row.begun,), *row.earlier)]
    apart = combinations(filter(None, map(_exact, times)), 2) if are_apart else ()
    spans += [abs((last - first).days) for first, last in apart]
    return any(_is_so(clause, told, days) for days in spans)


def lasts_on(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the problem that ended, where a clause has it until now, or the reverse."""
    is_told = clause.cues & {"current", "is_now"} and clause.says("since")
    if not is_told or clause.cues & (OVER | {"newest"}):
        return None
    problems = [row for row in about(clause, rows, names) if row.kind == "problem" and row.begun]
    if not problems or not all(row.ended and row.standing == "ended" for row in problems):
        return None
    return Verdict("contradicted", problems[0].sources, problems[0].says)


def long_ago(
    clause: Clause, told: Quantity, found: Sequence[KnownRow], rows: KnownRows
) -> list[KnownRow]:
    """Return the rows of what began, or ended where that is said, so long ago; of "the last" one.

    Where the day on which it is said is known by the patient's age only, a year more or less is
    right.
    """
    newest = max((row.order for row in found), default="")
    meant = [row for row in found if "newest" not in clause.cues or row.order == newest]
    return [row for row in meant if _is_long_ago(clause, told, row, rows)]


def _is_long_ago(clause: Clause, told: Quantity, row: KnownRow, rows: KnownRows) -> bool:
    day = row.ended if "ended" in clause.cues else row.begun
    exact, born = _exact(day), [one for one in rows.personal if one.begun]
    if rows.today is not None and exact is not None:
        return _is_so(clause, told, (rows.today - exact).days)
    since = {
        one.number - age
        for by in born
        for one in by.quantities
        for age in ages_between(by.begun, day)
    }
    if rows.today is not None and day is not None and day.year is not None:
        since = {rows.today.year - day.year}
    return told.unit == "a" and any(_is_by_age(told, years) for years in since)


def _is_by_age(told: Quantity, years: float) -> bool:
    """Whether it is so long that somebody has been so many years older since."""
    if told.comparator:
        return told.number <= years if told.comparator[0] == ">" else years <= told.number
    return abs(told.number - years) <= 1


def stayed(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the rows of a stay whose first and last day are told; None where there is none."""
    is_told = clause.says("in_hospital", "hospital") and clause.says("from_until")
    if len(clause.dates) == 1 and not clause.quantities:
        return _came_or_left(clause, rows, names)
    if not is_told or not clause.dates or len(clause.dates) % _ENDS or clause.quantities:
        return None
    ends = zip(clause.dates[::_ENDS], clause.dates[1::_ENDS], strict=True)
    spans = [
        [
            row
            for row in rows.rows
            if row.kind in DONE_ONCE
            and row.words.issuperset(names)
            and any(row.begun and day.fits(row.begun) for day in first.readings)
            and any(row.ended and day.fits(row.ended) for day in last.readings)
        ]
        for first, last in ends
    ]
    stays = [[row for row in one if row.kind in _STAYS] or one for one in spans]
    return supported([row for one in stays for row in one]) if all(stays) else None


def _came_or_left(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the stay that began, or ended, on the day that somebody came, or left."""
    is_over, is_begun = clause.says("went_home"), clause.says("came_in")
    has_died = any(row.words & saying("died") for row in rows.personal)
    if is_over == is_begun or (is_over and has_died):
        return None
    days = clause.dates[0].readings
    found = [
        row
        for row in rows.rows
        if row.is_stay and row.words.issuperset({*names, *clause.words & saying("intensive")})
        if not excludes(clause, row)
        for day in [row.ended if is_over else row.begun]
        if day is not None and any(one.fits(day) for one in days)
    ]
    stays = [row.order for row in rows.rows if row.is_stay and row.words.issuperset(names)]
    if found and "newest" in clause.cues and max(row.order for row in found) < max(stays):
        return Verdict("contradicted", found[-1].sources, found[-1].says)
    return supported(found) if found else None


def is_apart(clause: Clause, told: Quantity, first: KnownRow, last: KnownRow) -> bool:
    """Whether two values are as far apart as a clause says: "within two weeks"."""
    days = days_between(first, last)
    return days is not None and _is_so(clause, told, days)


def days_between(first: KnownRow, last: KnownRow) -> int | None:
    """Return how many days lie between the beginnings of two; None where either is not exact."""
    begin, end = _exact(first.begun), _exact(last.begun)
    return None if begin is None or end is None else abs((end - begin).days)


def _is_so(clause: Clause, told: Quantity, days: int) -> bool:
    off = _ROUNDED[told.unit]
    limit = told.number * TIMES[told.unit]
    if clause.says("within"):
        return days <= limit + off
    if not days and clause.says("after"):
        return False  # "the day after" is not the day itself
    if days > limit:  # both ends may be counted, but not neither; "for 35 years" are whole ones
        off = {"d": 0.0, "a": TIMES["a"] if told.number >= _MANY else off}.get(told.unit, off)
    return abs(days - limit) <= off


def spans_of(row: KnownRow, clause: Clause) -> Iterator[int]:
    """Yield for how many days a row's matter lasted, each time that a clause may tell of."""
    for ends in [(row.begun, row.ended), *row.earlier]:
        first, last = map(_exact, ends)
        is_of_days = all(any(is_then(day, one) for one in ends) for day in clause.dates)
        if first is not None and last is not None and is_of_days:
            yield (last - first).days


def is_then(told: FoundDate, day: WrittenDate | None) -> bool:
    """Whether a day is the one that is told."""
    return day is not None and any(one.fits(day) for one in told.readings)


def _exact(day: WrittenDate | None) -> date | None:
    if day is None or day.year is None or day.month is None or day.day is None:
        return None
    return date(day.year, day.month, day.day)


_OLD = ("yearold", "jahriger", "jahrige", "jahrigen", "aged")
_TITLE_AND_NAMES, _DAY_CHARS = 3, len("1981-05-06")


def with_birth_day(text: str, rows: KnownRows) -> str:
    """Return a text with the year of "last year", and the day of "at birth" and of a birthday."""
    if rows.today is not None and "the last year" not in text:
        for told in (one for one in saying("last_year") if one in text.lower()):
            text = re.sub(told, f"in {rows.today.year - 1}", text, flags=re.IGNORECASE)
    born = next((row.order[:10] for row in rows.personal if row.kind == "patient"), "")
    if len(born) < _DAY_CHARS:
        return text
    text = on_birthdays(text, date.fromisoformat(born))
    births = {"since": saying("since_birth")}
    if any(map(str.isdigit, text)):
        births["on"] = saying("at_birth")
    for when, phrases in births.items():
        said = next((one for one in phrases if one in text.lower()), None)
        text = re.sub(said, f"{when} {born}", text, flags=re.IGNORECASE) if said else text
    return text


def age_told(clause: Clause) -> Quantity | None:
    """Return the years of "80-year-old" and "she is 80 years old"; None where no age is told."""
    is_label = clause.own_names and clause.says("age") and len(clause.words) < _TITLE_AND_NAMES
    is_now = is_label or "about_patient" in clause.cues
    is_now = is_now and not clause.dates and not clause.cues & {"when", "begun", "ended"}
    is_said = is_now and (is_label or clause.says("years_old"))
    is_told = 0 < len(clause.words) <= (2 if clause.says("is") else 1) * _TITLE_AND_NAMES
    if is_now and is_told and _is_bare(clause):
        return clause.quantities[0]  # "She is 53." or "Ms Grant, 61, …"
    if not is_said and not any(word.endswith(_OLD) for word in clause.words):
        return None
    return next((one for one in clause.quantities if one.unit == "a"), None)


def _is_bare(clause: Clause) -> bool:
    """Whether one whole number is all that a clause tells, of nothing by a name."""
    is_named = clause.names or clause.topics or clause.stages or clause.codes or clause.dates
    numbers = [one for one in clause.quantities if not (one.unit or one.decimals)]
    return not is_named and len(numbers) == len(clause.quantities) == 1


def against_age(clause: Clause, rows: KnownRows) -> Verdict | None:
    """Return what the record says of who the patient is, where a clause says otherwise."""
    age, persons = age_told(clause), persons_in(rows)
    is_so = not any(excludes(clause, row) for row in persons)
    if age is None or (is_so and any(is_measured(age, row) for row in persons)):
        return None
    if not persons:
        return Verdict("unsupported")
    return Verdict("contradicted", persons[0].sources, persons[0].says)


def persons_in(rows: KnownRows) -> list[KnownRow]:
    """Return the rows of who the patient is; of facts those of age and sex."""
    found = [row for row in rows.personal if row.kind == "patient"]
    return found or [r for r in rows.rows if r.kind == "fact" and r.needs & saying("age_or_sex")]


def ages_between(born: WrittenDate | None, then: WrittenDate | None, months: int = 12) -> set[int]:
    """Return an age in units of so many months: both in a year of which no more is recorded."""
    if born is None or then is None or born.year is None or then.year is None:
        return set()
    if born.month is None or then.month is None or None in (born.day, then.day):
        return {then.year - born.year - 1, then.year - born.year} if months > 1 else set()
    whole = 12 * (then.year - born.year) + then.month - born.month
    return {(whole - ((then.day or 0) < (born.day or 0))) // months}


def is_so_old(told: Quantity, clause: Clause, born: WrittenDate, then: WrittenDate) -> bool:
    """Whether somebody was of an age that a clause tells on a day."""
    near = 1 if "approximately" in clause.cues else 0
    ages = ages_between(born, then, 1 if told.unit == "mo" else 12)
    if told.comparator:
        return any((one >= told.number) == (told.comparator[0] == ">") for one in ages)
    return told.unit in ("", "a", "mo") and any(abs(told.number - one) <= near for one in ages)


def without_age(clause: Clause, age: Quantity) -> Clause:
    """Return what else a clause states."""
    rest = tuple(one for one in clause.quantities if one is not age)
    told = tuple(word for word in clause.exclusive if group_of(word) != "sex")
    return replace(clause, quantities=rest, exclusive=told)
