"""The rows of a chart that a passage of a guideline speaks of, to be laid beside it. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from data_models.chart_view import ViewRow
from services.evidence.trials.facts import PatientFacts
from services.records.concepts.table import (
    ConceptKind,
    concept_table,
    names_of_procedure,
    parts_of_body,
)
from services.records.concepts.words import words_of
from services.records.rows.finding import means

_LONGEST_NAME_WORDS = 4


def rows_named(text: str, facts: PatientFacts) -> list[ViewRow]:
    """Return the patient's problems, drugs, procedures, markers and newest results in `text`."""
    words = words_of(text)
    found = [row for name in _names("result", words) for row in facts.values(name)]
    for name in _names("problem", words):
        found += [row for row in _of_name("problem", name, facts.problems) if _is_there(row, words)]
    for name in _names("drug", words):
        found += _of_name("drug", name, facts.drugs)
    found += [row for row in facts.procedures if _is_done(row, frozenset(words))]
    found += [row for row in facts.markers if words_of(row.name)[0] in words]
    return list({row.sources: row for row in found}.values())


def is_for(title: str, facts: PatientFacts) -> bool:
    """Whether the patient has now all that a title names; what is in range or over is not had."""
    words = words_of(title)
    rows = [row for row in rows_named(title, facts) if _is_of_now(row)]
    problems = [_of_name("problem", name, rows) for name in _names("problem", words)]
    return bool(rows) and all(problems)


def _names(kind: ConceptKind, words: Sequence[str]) -> Iterator[str]:
    """Yield what a text names of a kind: "lung cancer", of which "cancer" is no name of its own."""
    at = 0
    while at < len(words):
        lengths = range(min(_LONGEST_NAME_WORDS, len(words) - at), 0, -1)
        names = ((one, " ".join(words[at : at + one])) for one in lengths)
        known = ((one, name) for one, name in names if concept_table().named(kind, name))
        length, name = next(known, (1, ""))
        if name:
            yield name
        at += length


def _of_name(kind: ConceptKind, name: str, rows: Iterable[ViewRow]) -> list[ViewRow]:
    return [row for row in rows if means(kind, name, label=row.name, codes=row.code)]


def _is_there(row: ViewRow, words: Sequence[str]) -> bool:
    """Whether a problem is not of another part of the body than the text speaks of."""
    own, told = _parts(words_of(row.name)), _parts(words)
    return not (own and told) or not own.isdisjoint(told)


def _parts(words: Iterable[str]) -> set[str]:
    return {group[0] for word in words if (group := parts_of_body(word))}


def _is_of_now(row: ViewRow) -> bool:
    if row.kind in ("problem", "medication"):
        return row.status == "active"
    return row.kind == "procedure" or bool(row.flag)


def _is_done(row: ViewRow, words: frozenset[str]) -> bool:
    return any(words.issuperset(words_of(name)) for name in names_of_procedure(row.name))
