"""The age that a sentence tells beside what somebody has: "an 80-year-old woman with …". Pure."""

from dataclasses import replace

from services.language.clauses import Clause
from services.language.quantities import Quantity
from services.statements.fit import excludes, is_measured
from services.statements.known import KnownRows
from services.statements.verdict import Verdict

_OLD = ("yearold", "jahriger", "jahrige", "jahrigen", "aged")
_YEARS_OLD = frozenset({"old", "alt"})


def age_told(clause: Clause) -> Quantity | None:
    """Return the years of "80-year-old" and "she is 80 years old"; None where no age is told."""
    is_now = "about_patient" in clause.cues and not clause.cues & {"when", "begun", "ended"}
    is_said = is_now and bool(clause.words & _YEARS_OLD)
    if not is_said and not any(word.endswith(_OLD) for word in clause.words):
        return None
    return next((one for one in clause.quantities if one.unit == "a"), None)


def against_age(clause: Clause, rows: KnownRows) -> Verdict | None:
    """Return what the record says of who the patient is, where a clause says otherwise."""
    age = age_told(clause)
    persons = [row for row in rows.rows if row.kind == "patient"]
    if age is None or any(is_measured(age, row) and not excludes(clause, row) for row in persons):
        return None
    if not persons:
        return Verdict("unsupported")
    return Verdict("contradicted", persons[0].sources, persons[0].says)


def without_age(clause: Clause, age: Quantity) -> Clause:
    """Return what else a clause states."""
    rest = tuple(one for one in clause.quantities if one is not age)
    return replace(clause, quantities=rest, exclusive=())
