"""Ranked search over every row and every passage of a record (BM25)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from data_models.chart_view import ViewRow
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.measurements import rows_of_observation
from services.records.medications import KINDS as DRUG_KINDS
from services.records.medications import row_of_drug_entry
from services.records.passages import split
from services.records.record import PatientRecord
from services.records.rows import row_of

_DOCUMENTS = frozenset({"DocumentReference", "DiagnosticReport", "QuestionnaireResponse",
                        "Composition"})  # fmt: skip
_LONGEST_NAME_WORDS = 4
_STOP = frozenset(
    words_of(
        "a an and any are as at be been by did do does for from had has have her his how in is it "
        "its of on or patient she he that the their there this to was were what when which who "
        "will with about tell me show find note record der die das und ist hat ein eine von im zu "
        "was wie welche sein ihr"
    )
)


@dataclass(frozen=True, slots=True)
class Hit:
    """What may answer a search; `words` are those of `row` in compared form."""

    row: ViewRow
    words: tuple[str, ...]


@dataclass(frozen=True)
class SearchIndex:
    """All hits of a record, ranked by the words that they hold."""

    hits: tuple[Hit, ...]
    ranking: Any

    def search(self, query: str) -> list[ViewRow]:
        """Return the rows that hold a word of `query` or another name of what it names."""
        asked = [word for word in words_of(query) if word not in _STOP]
        names = list(dict.fromkeys(_other_names(words_of(query))))
        tokens = [*asked, *(word for name in names for word in name)]
        if not self.hits:
            return []
        known = [word for word in dict.fromkeys(tokens) if word in self.ranking.vocab_dict]
        if not known:
            return []
        scores = self.ranking.get_scores(known)
        best = sorted(
            (number for number in scores.nonzero()[0]),
            key=lambda number: (-round(float(scores[number]), 3), _age(self.hits[number].row)),
        )
        telling = frozenset(asked)
        return [
            hit.row
            for number in best
            if telling & frozenset((hit := self.hits[number]).words) or _holds(hit.words, names)
        ]


def index_of(record: PatientRecord) -> SearchIndex:
    """Return the index; made once for a record, which takes a second for a large one."""
    return record.derived(_index)


def every_row(record: PatientRecord) -> Iterator[ViewRow]:
    """Yield the rows of all entries that are no documents, in the order received."""
    for entry in record.entries.values():
        if entry.kind == "Observation":
            yield from rows_of_observation(record, entry)
        elif entry.kind in DRUG_KINDS:
            yield row_of_drug_entry(record, entry)
        elif entry.kind not in _DOCUMENTS:
            yield row_of(record, entry)


def _index(record: PatientRecord) -> SearchIndex:
    # Loads numpy: at the first record, in the thread that prepares it.
    import bm25s

    hits = tuple(_hits(record))
    ranking = bm25s.BM25()
    if hits:
        ranking.index([list(hit.words) for hit in hits], show_progress=False)
    return SearchIndex(hits, ranking)


def _hits(record: PatientRecord) -> Iterator[Hit]:
    for row in every_row(record):
        said = f"{row.kind} {row.name} {row.value} {row.unit} {row.flag} {row.status} {row.detail}"
        yield Hit(row, words_of(said))
    for document in record.documents:
        for passage in split(document):
            row = ViewRow(
                kind=document.kind,
                name=document.title,
                date=document.date or "",
                detail=passage.text.strip(),
                sources=(document.ref,),
            )
            yield Hit(row, words_of(f"{document.kind} {document.title} {passage.text}"))
        if not document.text:
            row = ViewRow(
                kind=document.kind,
                name=document.title,
                date=document.date or "",
                detail=f"no text: {document.problem}",
                sources=(document.ref,),
            )
            yield Hit(row, words_of(f"{document.kind} {document.title}"))


def _other_names(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the other names of all that the query names, the longest names first."""
    table = concept_table()
    for size in range(min(_LONGEST_NAME_WORDS, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            for name in table.also_called(" ".join(words[at : at + size])):
                yield tuple(name.split())


def _holds(have: Sequence[str], names: Iterable[tuple[str, ...]]) -> bool:
    single = frozenset(have)
    pairs = frozenset(pairwise(have))
    for name in names:
        if len(name) == 1:
            if name[0] in single:
                return True
        elif set(pairwise(name)) <= pairs:
            return True
    return False


def _age(row: ViewRow) -> tuple[int, ...]:
    """Return a key by which the newest comes first."""
    return tuple(-ord(char) for char in row.date) or (0,)
