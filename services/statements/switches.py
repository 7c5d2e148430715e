"""Whether one drug took the place of another: "X was switched to Y in 2020". Pure."""

from collections.abc import Sequence

from services.language.clauses import Clause
from services.language.statement_tables import saying
from services.statements.fit import has_date
from services.statements.known import KnownRows
from services.statements.rows import KnownRow
from services.statements.subject import supported
from services.statements.verdict import Verdict


def switched(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the rows of both drugs, where the first says that it ended for the second.

    What is told of a day is of the second, which begins then.
    """
    if (
        not clause.words & saying("switched")
        or clause.quantities
        or len(names) < len(("from", "to"))
    ):
        return None
    before = [row for row in _drugs(rows, names[0]) if row.standing == "ended"]
    for one in before:
        after = [
            row
            for row in _drugs(rows, names[-1])
            if row.order >= one.order
            and one.words.issuperset(names[1:])
            and all(has_date(day, row) for day in clause.dates)
        ]
        if after:
            return supported([one, after[0]])
    return None


def _drugs(rows: KnownRows, name: str) -> list[KnownRow]:
    found = [row for row in rows.about([name]) if row.kind == "medication"]
    return [row for row in found if name in row.needs]
