"""How many, how often, how long or by how much a clause tells something. Pure."""

from collections.abc import Sequence

from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence
from services.language.words.statement_words import statement_words
from services.statements.comparing.bounds import of_all_values
from services.statements.comparing.changes import changed
from services.statements.comparing.compare_several import switched
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import KnownRow
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


def is_of_unknown_number(clause: Clause, rows: Sequence[KnownRow]) -> bool:
    """Whether a number in words, of no value, is in no row, nor that of the rows or their days."""
    if clause.quantities or clause.differences or clause.says("apart_from_counts"):
        return False
    numbers, days = statement_words().numbers, {row.kind: set[str]() for row in rows}
    told: set[float] = {numbers[word] for word in clause.words if word in numbers}
    known: set[float] = {1.0, *(number for number, _ in clause.counted)}
    for row in rows:
        days[row.kind].add(row.order[:10])
        known.update(numbers[word] for word in row.words if word in numbers)
        known.update(one.number for one in (*row.quantities, *row.figures))
    is_denied = not clause.cues.isdisjoint({"no", "nothing"})
    return not (is_denied or told <= known.union(map(len, days.values())))
