"""The ages that sentences tell: "an 80-year-old woman", "diagnosed at the age of 18". Pure."""

import re
from dataclasses import replace

from services.language.clauses import Clause
from services.language.quantities import Quantity
from services.language.statement_tables import saying
from services.language.statement_words import statement_words
from services.statements.fit import has_date, is_measured
from services.statements.known import KnownRows
from services.statements.one_of_several import DONE_ONCE, excludes
from services.statements.rows import KnownRow
from services.statements.subject import about
from services.statements.units import is_same, quantity
from services.statements.verdict import Verdict

_OLD = ("yearold", "jahriger", "jahrige", "jahrigen", "aged")
_TITLE_AND_NAMES = 3


def with_birth_day(text: str, rows: KnownRows) -> str:
    """Return a text that tells of "last year", or of "at birth", with the year or the day."""
    if rows.today is not None and "the last year" not in text:
        for told in saying("last_year"):
            text = re.sub(told, f"in {rows.today.year - 1}", text, flags=re.IGNORECASE)
    said = next((one for one in saying("at_birth") if one in text.lower()), None)
    if said is None or not any(map(str.isdigit, text)):
        return text
    day = next((row.order[:10] for row in rows.personal if row.kind == "patient"), "")
    return re.sub(said, f"on {day}", text, flags=re.IGNORECASE) if day else text


def age_told(clause: Clause) -> Quantity | None:
    """Return the years of "80-year-old" and "she is 80 years old"; None where no age is told."""
    is_now = "about_patient" in clause.cues and not clause.cues & {"when", "begun", "ended"}
    is_said = is_now and clause.says("years_old")
    is_told = clause.says("is") or len(clause.words) <= _TITLE_AND_NAMES
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
    age = age_told(clause)
    persons = [row for row in rows.personal if row.kind == "patient"]
    if age is None or any(is_measured(age, row) and not excludes(clause, row) for row in persons):
        return None
    if not persons:
        return Verdict("unsupported")
    return Verdict("contradicted", persons[0].sources, persons[0].says)


def age_at(clause: Clause) -> Quantity | None:
    """Return the years of "he was 18 when … was diagnosed"; None where none are told."""
    is_of_age = clause.says("age")
    numbers = [one for one in clause.quantities if one.unit in ("", "a") and not one.decimals]
    is_told = len(numbers) == len(clause.quantities) == 1 and bool(clause.names)
    is_at = (
        (clause.says("was") and clause.says("years_old"))  # "he was 11 years old at his check-up"
        or {"when", "was"} <= clause.words
        or clause.words >= saying("at_age")
        or clause.words >= saying("im_alter")
    )
    is_told = is_told and (is_at or (is_of_age and "begun" in clause.cues))
    return numbers[0] if is_told else None


def compare_age_at(clause: Clause, told: Quantity, rows: KnownRows) -> Verdict | None:
    """Return what the birth date and the day of a row say of the age at it.

    None where it is told beside something that lasts: "he was 70 years old and had diabetes".
    """
    births = [row for row in rows.personal if row.kind == "patient" and row.begun is not None]
    named = about(clause, rows, clause.names)
    began = [row for row in named if row.begun and not row.is_text]
    if "begun" not in clause.cues:
        began = [row for row in began if all(has_date(day, row) for day in clause.dates)]
        began = _meant_events(clause, began) or [
            row for row in began if clause.says("age") or clause.dates
        ]
        if not began:
            return None
    if not births or not began:
        return Verdict("unsupported")
    if told.comparator:  # what is for it comes later
        began = [row for row in began if not row.needs.isdisjoint(clause.names)] or began
    for row in began:
        if any(is_same(told, quantity(one, told.unit)) for one in age_then(births[0], row)):
            return Verdict("supported", (*row.sources, *births[0].sources), row.says)
    return Verdict("contradicted", began[0].sources, f"{births[0].says}; {began[0].says}")


def _meant_events(clause: Clause, rows: list[KnownRow]) -> list[KnownRow]:
    """Return the visits and the like of the days that are told, or the last of them."""
    found = [row for row in rows if row.kind in DONE_ONCE]
    found = [row for row in found if all(has_date(day, row) for day in clause.dates)]
    last = max((row.order for row in found), default="")
    return [row for row in found if row.order == last] if "newest" in clause.cues else found


def age_then(birth: KnownRow, row: KnownRow) -> set[int]:
    """Return how old somebody may have been: both ages in a year of which no more is recorded."""
    born, then = birth.begun, row.begun
    if born is None or then is None or born.year is None or then.year is None:
        return set()
    whole = then.year - born.year
    if None in (born.month, then.month, born.day, then.day):
        return {whole - 1, whole}
    is_before = ((then.month or 0), (then.day or 0)) < ((born.month or 0), (born.day or 0))
    return {whole - is_before}


def without_age(clause: Clause, age: Quantity) -> Clause:
    """Return what else a clause states."""
    rest = tuple(one for one in clause.quantities if one is not age)
    groups = statement_words().exclusive
    told = tuple(word for word in clause.exclusive if groups[word][0] != "sex")
    return replace(clause, quantities=rest, exclusive=told)
