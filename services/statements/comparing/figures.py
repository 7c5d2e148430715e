"""How many, how often, how long or by how much a clause tells something. Pure."""

from collections.abc import Sequence

from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence
from services.statements.comparing.bounds import of_all_values
from services.statements.comparing.changes import changed
from services.statements.comparing.compare_several import switched
from services.statements.rows.known import KnownRows
from services.statements.rows.subject import refs
from services.statements.rows.verdict import Verdict
from services.statements.times.counting import counted, of_kinds
from services.statements.times.durations import lasts_on, stayed
from services.statements.times.regular import done_regularly

_FIGURES = (
    done_regularly, of_all_values, counted, changed, lasts_on, stayed, switched
)  # fmt: skip


def of_figures(
    sentence: Sentence, clause: Clause, names: Sequence[str], rows: KnownRows
) -> Verdict | None:
    """Return the verdict over the figures of a clause; None where it tells none."""
    if not sentence.asks and "maybe" not in clause.cues:
        found_by = (each(clause, rows, names) for each in _FIGURES)
        told = next((one for one in found_by if one is not None), None)
        if told is not None:
            return told
    if not clause.counted or clause.quantities:
        return None
    found = of_kinds(clause, rows)
    if found.state != "supported" or not clause.own_names:
        return found
    each_of = [*map(rows.about, (*([one] for one in clause.names), *clause.runs))]
    sources = refs(row for of_name in each_of for row in of_name[:1])
    return Verdict("supported" if all(each_of) else "unsupported", sources)
