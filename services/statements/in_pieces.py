"""Sentences of several facts in one clause: cut where one of them may end. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from services.language.clause_joining import FINDS
from services.language.clause_reader import ClauseReader
from services.language.clauses import Clause
from services.language.statements import Sentence
from services.statements.compare_several import FOR
from services.statements.verdict import Verdict, worst

_MOST_CUTS = 10
_MOST_STEPS = 3
_RELATED = FOR | {"both", "another", "after", "before", "nach", "vor", "beide", "alongside"}
"""These say how the things of a clause belong together, which none of its pieces does."""

_Read = list[tuple[Clause, Verdict]]


def judged(
    sentence: Sentence, judge: Callable[[Clause], Verdict]
) -> tuple[Sentence, list[Verdict]]:
    """Return a sentence with the verdicts over its clauses; of several facts in one, over each."""
    verdicts = [judge(clause) for clause in sentence.clauses]
    if worst(verdicts).state != "unsupported" or sentence.reader is None:
        return sentence, verdicts
    pieces = _in_pieces(sentence.reader, judge)
    if not pieces:
        return sentence, verdicts
    told = tuple(clause for clause, _ in pieces)
    return replace(sentence, clauses=told), [verdict for _, verdict in pieces]


def _in_pieces(reader: ClauseReader, judge: Callable[[Clause], Verdict]) -> _Read:
    """Return the facts of a sentence that rows say one by one; none where they do not say all.

    A cut is kept where it leaves less that no row says. Each piece names what it is about: a value
    and its day, or a thing and its place, are never parted.
    """
    candidates, cuts = reader.cuts()[:_MOST_CUTS], tuple[int, ...]()
    least = _weight(_read(reader, judge, cuts))
    for _ in range(_MOST_STEPS):
        tried = [
            (_weight(found), at, found)
            for at in candidates
            if at not in cuts
            for found in [_read(reader, judge, (*cuts, at))]
            if found
        ]
        weight, at, found = min(tried, key=lambda one: one[:2], default=(least, 0, []))
        if weight >= least:
            return []
        if worst([one for _, one in found]).state == "supported":
            return found
        least, cuts = weight, (*cuts, at)
    return []


def _read(reader: ClauseReader, judge: Callable[[Clause], Verdict], cuts: Sequence[int]) -> _Read:
    clauses = reader.clauses(cuts)
    if any(clause.words & _RELATED for clause in clauses):
        return []
    found = [(one, judge(one)) for one in clauses]
    if any(clause.words & FINDS for clause in clauses) and not _is_of_one_source(found):
        return []
    return found


def _is_of_one_source(found: _Read) -> bool:
    """Whether one report says all that is told of what it found."""
    sources = [{*one.sources} for _, one in found if one.state == "supported"]
    return bool(sources) and bool(set.intersection(*sources))


def _weight(found: _Read) -> int:
    """Return how much of what is told no row says."""
    bad = [clause for clause, verdict in found if verdict.state in ("unsupported", "contradicted")]
    parts = (each for one in bad for each in (one.names, one.quantities, one.dates, one.stages))
    return len(bad) + sum(map(len, parts))
