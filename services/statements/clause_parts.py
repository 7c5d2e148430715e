"""What the clauses of a sentence measure and list, before rows are looked at. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from services.language.clauses import Clause
from services.language.statement_parts import graded
from services.language.statements import Sentence

_LISTS = frozenset({"=medication", "=problem", "=allergy", "=procedure", "=immunization"})
CLINICAL_TOPICS = frozenset(
    f"={topic}"
    for topic in (
        "allergy", "medication", "problem", "procedure", "immunization", "metastasis", "mutation",
        "biomarker", "infection",
    )
)  # fmt: skip


def is_value_alone(sentence: Sentence) -> bool:
    """Whether a name and its value are all that a sentence says: they are told as of now."""
    if len(sentence.clauses) != 1 or sentence.is_item or sentence.refs:
        return False
    return _is_name_and_value(sentence.clauses[0])


def _is_name_and_value(clause: Clause) -> bool:
    """Whether a clause is a name and its value and not a word more: `CEA: 18.4 ng/mL`, `Stage IVA`.

    "Baseline stage IVA" and "CEA fell to 3.1" are none.
    """
    if not clause.quantities and not clause.stages:
        return False
    units = {part for one in clause.quantities for part in one.unit.lower().split("/")}
    words = {one for one in clause.words - units if one[0].isalpha()}
    left = {one for one in words if not graded(one.upper())}
    named = left & set(clause.names)
    return len(left - named) <= (0 if named else 1)


def each(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """Yield clauses, each of their numbers for itself: `fell from 4.5 to 4.1`."""
    for clause in clauses:
        yield clause
        if len(clause.quantities) > 1:
            for one in clause.quantities:
                yield replace(clause, quantities=(one,), dates=())


def listed_kinds(sentence: Sentence) -> frozenset[str]:
    """Return the kinds of things that a heading, or what stands before a colon, announces."""
    said = frozenset(topic for one in sentence.clauses for topic in one.topics)
    takes = {"=medication"} if "takes" in sentence.cues else frozenset[str]()
    return (said | takes) & _LISTS
