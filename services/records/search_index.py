"""Ranked search over every row and every passage of a record (BM25)."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from data_models.chart_view import ViewRow
from services.language.charts.chart_entries import chart_nouns
from services.records.concepts.table import concept_table, words_listed
from services.records.concepts.words import (
    COMPOUND_CHARS,
    is_compound_of,
    root_of,
    spelt_out,
    words_of,
)
from services.records.ranking import ranking_of
from services.records.resources.documents import KINDS as DOCUMENT_KINDS
from services.records.resources.documents import SUPERSEDED, ClinicalDocument
from services.records.resources.entry import Entry, code_pairs, many, notes_of, one
from services.records.resources.record import PatientRecord
from services.records.resources.values import value_in
from services.records.rows import measurements
from services.records.rows.medications import KINDS as DRUG_KINDS
from services.records.rows.medications import row_of_drug_entry
from services.records.rows.rows import row_of
from services.records.views.person import personal_rows

# The passages of a document: short runs of its text that can be cited.

PASSAGE_LIMIT_CHARS = 600
_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?!\n)[^\n]+)*")
_SENTENCE_END = re.compile(r"[.!?;:]\s|\n")


@dataclass(frozen=True, slots=True)
class Passage:
    """Part of a document: `document.text[start:end]`, offsets in code points."""

    document: ClinicalDocument
    start: int
    end: int

    @property
    def text(self) -> str:
        """What the passage says."""
        return (self.document.text or "")[self.start : self.end]


def split(document: ClinicalDocument) -> Iterator[Passage]:
    """Yield the paragraphs of the document; long ones are cut at ends of sentences."""
    text = document.text or ""
    for paragraph in _PARAGRAPH.finditer(text):
        start = paragraph.start()
        while start < paragraph.end():
            end = _cut(text, start, paragraph.end())
            yield Passage(document, start, end)
            start = end


def _cut(text: str, start: int, end: int) -> int:
    limit = start + PASSAGE_LIMIT_CHARS
    if end <= limit:
        return end
    stops = [found.end() for found in _SENTENCE_END.finditer(text, start, limit)]
    return stops[-1] if stops else limit


_LONGEST_NAME_WORDS = 4
_NAME_CHARS = 7
_SHORTEST_KIN = 4
_CONSIDERED = 400
"""Best places that are looked at; a word that thousands hold tells nothing."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What may answer a search; `words` are its own in compared form, `make` gives its row."""

    date: str
    words: tuple[str, ...]
    make: Callable[[], ViewRow]
    name: str = ""


@dataclass(frozen=True)
class SearchIndex:
    """All hits of a record, ranked by the words that they hold."""

    hits: tuple[Hit, ...]
    ranking: Any

    def search(self, query: str) -> list[Hit]:
        """Return what holds a word of `query` or another name of what it names."""
        asked = [word for word in words_of(query) if word not in words_listed("not_searched")]
        names = list(dict.fromkeys(_other_names(words_of(query))))
        if not self.hits:
            return []
        code = query.strip().casefold()  # codes are words as they stand
        asked = [code] if code and code in self.ranking.vocab_dict else asked
        # Katarakt: Kataraktoperation; "chole" is short for no cholesterol.
        strange = [one for one in asked if one not in self.ranking.vocab_dict]
        names += [run for one in strange for run in self._spelt(one)]
        alone = [name[0] for name in names if len(name) == 1 and len(name[0]) >= _NAME_CHARS]
        asked += [word for one in (*asked, *alone) for word in self._kin(one)]
        tokens = [*asked, *(word for name in names for word in name)]
        known = [word for word in dict.fromkeys(tokens) if word in self.ranking.vocab_dict]
        if not known:
            return []
        scores = self.ranking.get_scores(known)
        best = [number for number in scores.argsort()[::-1][:_CONSIDERED] if scores[number] > 0]
        best.sort(key=lambda number: self.hits[number].date, reverse=True)
        best.sort(key=lambda number: -round(float(scores[number]), 3))
        # Of "eye exam" every other examination is none.
        telling = frozenset(asked) - words_listed("vague") or frozenset(asked)
        return [
            hit
            for number in best
            if telling & frozenset((hit := self.hits[number]).words) or _holds(hit.words, names)
        ]

    def _spelt(self, letters: str) -> set[tuple[str, ...]]:
        """Return what names begin with whose first letters an unknown short word is."""
        return {run for name in self._names if (run := spelt_out(letters, name))}

    @cached_property
    def _names(self) -> Collection[tuple[str, ...]]:
        return {words_of(hit.name) for hit in self.hits}

    def _kin(self, word: str) -> list[str]:
        """Return other forms of a word that is nowhere, longer ones too: drives, BRCA1."""
        known = self.ranking.vocab_dict.keys()
        if word in known:
            return []
        for pair in ((word[:at], word[at:]) for at in range(1, len(word))):  # BI-RADS
            if known >= {*pair} and any(pair in pairwise(hit.words) for hit in self.hits):
                return [*pair]
        if len(word) < _SHORTEST_KIN:
            return []
        root = root_of(word)
        # "Wach" is no beginning of Wachstum; "Herz" is one of Herzinsuffizienz.
        is_head = len(word) >= COMPOUND_CHARS or word in chart_nouns()
        return [
            one
            for one in (one for one in known if root in one)
            if root_of(one) == root
            or (is_head and one.startswith(word))
            or is_compound_of(word, one)
        ]


def index_of(record: PatientRecord) -> SearchIndex:
    """Return the index; made once for a record, which takes a second for a large one."""
    return record.derived(_index)


def _index(record: PatientRecord) -> SearchIndex:
    hits = tuple(_hits(record))
    return SearchIndex(hits, ranking_of([hit.words for hit in hits]))


def _hits(record: PatientRecord) -> Iterator[Hit]:
    for row in personal_rows(record):
        said = words_of(f"{row.name} {row.value} {row.detail}")
        yield Hit("", said, partial(_same, row))
    for entry in record.entries.values():
        if entry.kind == "Observation":
            yield from _measured(record, entry)
        elif entry.kind in DRUG_KINDS:
            yield _of_row(entry, row_of_drug_entry(record, entry))
        elif entry.kind not in DOCUMENT_KINDS:
            yield _of_row(entry, row_of(record, entry))
    for document in record.documents:
        yield from _passages(document)


def _measured(record: PatientRecord, entry: Entry) -> Iterator[Hit]:
    """Read the words of an observation only; its rows are made where they are found."""
    kind = measurements.kind_of(entry)
    notes = " ".join(notes_of(entry.raw))
    for part in measurements.parts_of(entry):
        node = measurements.node_of(part)
        value = value_in(node)
        name = measurements.name_of(node)
        said = f"{kind} {name} {value.whole} {notes}"
        if part.component is not None:
            said = f"{said} {measurements.name_of(entry.raw)}"
        elif measurements.is_variant(entry.raw):
            said = " ".join([said, *(value_in(row).text for row in many(entry.raw, "component"))])
        words = (*words_of(said), *_codes(code_pairs(one(node, "code"))))
        yield Hit(entry.date, words, partial(measurements.row_of_part, record, part), name)


def _of_row(entry: Entry, row: ViewRow) -> Hit:
    said = f"{row.kind} {row.name} {row.value} {row.unit} {row.flag} {row.status} {row.detail}"
    return Hit(entry.date, (*words_of(said), *_codes(row.code)), partial(_same, row), row.name)


def _codes(pairs: Iterable[str]) -> Iterator[str]:
    return (pair.rpartition("|")[2].casefold() for pair in pairs)


def _passages(document: ClinicalDocument) -> Iterator[Hit]:
    """Yield the passages of a document; one without text is found by its title."""
    texts = [passage.text.strip() for passage in split(document)]
    for text in texts or [f"no text: {document.problem}"]:
        row = ViewRow(
            kind=document.kind,
            name=document.title,
            status=SUPERSEDED if document.is_superseded else "",
            date=document.date or "",
            detail=text,
            sources=(document.ref,),
        )
        said = words_of(f"{document.kind} {document.title} {text if texts else ''}")
        yield Hit(row.date, said, partial(_same, row))


def _same(row: ViewRow) -> ViewRow:
    return row


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
