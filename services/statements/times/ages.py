"""The ages that sentences tell: "an 80-year-old woman", "diagnosed at the age of 18". Pure."""

import re
from dataclasses import replace
from datetime import date

from services.language.figures.numbers_in_words import on_birthdays
from services.language.figures.quantities import Quantity
from services.language.figures.written_dates import WrittenDate
from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import saying
from services.language.words.statement_words import group_of
from services.statements.rows.fit import is_measured
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import excludes
from services.statements.rows.rows import KnownRow
from services.statements.rows.verdict import Verdict

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
