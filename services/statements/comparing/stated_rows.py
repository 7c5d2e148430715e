"""Whether a row that seems to say otherwise is one that the sentence itself tells. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import stems_told
from services.statements.rows.fit import has_date, is_measured
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import KnownRow
from services.statements.rows.verdict import Verdict

_OF_COURSES = frozenset({"rising", "falling", "steady", "no", "nothing", "highest", "lowest"})


def against_others(
    sentence: Sentence, verdicts: Sequence[Verdict], known: KnownRows
) -> list[Verdict]:
    """Return the verdicts without contradictions by a row that the sentence itself tells.

    "116/76, and a year before 135/82" was read amiss if the 116/76 speaks against it. How values
    rose or fell, which is the newest, and what is denied, is no matter of one row.
    """
    if len(verdicts) != len(sentence.clauses) or sentence.cues & _OF_COURSES:
        return [*verdicts]
    return [
        replace(one, state="unsupported") if _tells_counter(sentence, clause, one, known) else one
        for clause, one in zip(sentence.clauses, verdicts, strict=True)
    ]


def _tells_counter(sentence: Sentence, clause: Clause, found: Verdict, known: KnownRows) -> bool:
    if found.state != "contradicted":
        return False
    rows = [row for ref in found.sources for row in known.by_source(ref)]
    counter = [row for row in rows if row.says == found.record_says]
    is_newest = bool(clause.words & stems_told("newest"))
    told = [clause] if is_newest else sentence.clauses
    values = [replace(one, pair=None) for each in told for one in each.quantities]
    values += [one for each in told for one in each.quantities if one.pair is not None]
    days = [day for clause in sentence.clauses for day in clause.dates]
    of_values = [row for row in counter if _has_value(row)]
    if of_values:
        return len(values) > 1 and any(is_measured(a, row) for a in values for row in of_values)
    done = [row for row in counter if row.kind == "procedure"]
    return len(days) > 1 and any(has_date(day, row) for day in days for row in done)


def _has_value(row: KnownRow) -> bool:
    return row.number is not None or any(one.pair is not None for one in row.quantities)
