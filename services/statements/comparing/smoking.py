"""Compares what a clause says of smoking with the newest of what the record says. Pure."""

from dataclasses import replace

from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words
from services.statements.rows.fit import has_date, is_measured
from services.statements.rows.known import KnownRows
from services.statements.rows.subject import supported
from services.statements.rows.verdict import Verdict

OF_SMOKING = frozenset({"=smoking"})


def compare_smoking(clause: Clause, rows: KnownRows) -> Verdict:
    """Return what the record says of somebody who smokes, smoked or never did."""
    known = [row for row in rows.rows if row.smoking]
    if not known:
        return Verdict("unsupported")
    newest = max(known, key=lambda row: row.order)
    if "no" in clause.cues and clause.smoking == "current":
        is_so = newest.smoking != "current"
        return Verdict("supported" if is_so else "contradicted", newest.sources, newest.says)
    if clause.dates and clause.says("quit"):
        own = [row for row in known if row.words & saying("quit")]
        days = [tuple(d for d in row.dates if row.is_text or d != row.begun) for row in own]
        own = [replace(row, dates=told) for row, told in zip(own, days, strict=True)]
        own = [row for row in own if any(has_date(one, row) for one in clause.dates)]
        return supported(own) if own else Verdict("unsupported", newest.sources, newest.says)
    # Who smoked once has not "never smoked"; else the newest of what is dated counts.
    undated = [row for row in known if not row.order] or [newest]
    told = known if clause.smoking == "never" else undated
    then = [row for row in known if clause.dates and has_date(clause.dates[0], row)]
    figures = [one for one in clause.quantities if one.unit != "a"]  # pack years, no age
    is_measured_so = all(any(is_measured(one, row) for row in known) for one in figures)
    if then and is_measured_so and all(row.smoking == clause.smoking for row in then):
        return Verdict("supported", then[0].sources, then[0].says)
    others = [row for row in (*told, newest) if row.smoking != clause.smoking]
    if others:
        return Verdict("contradicted", others[0].sources, others[0].says)
    numbers = statement_words().numbers  # of each language
    counts = {numbers[word] for word in clause.words & numbers.keys() - saying("one")}
    if not any(counts <= {numbers.get(word) for word in row.words} for row in known):
        return Verdict("unsupported", newest.sources, newest.says)  # "twenty cigarettes", of ten
    return Verdict("supported" if is_measured_so else "unsupported", newest.sources, newest.says)
