"""Searching what notes and reports say."""

from services.records.documents import DocumentKind
from services.records.facts import Bounded, Source, View, bounded
from services.records.passages import Passage
from services.records.record import PatientRecord

SEARCH_LIMIT = 8
QUERY_LIMIT_CHARS = 400


class NotePassage(View):
    """Words of a document that answer a search.

    Attributes:
        start: Where the passage begins in the document's text, in code points.
        end: Where it ends.
        score: Only good for ordering within one answer.
    """

    source: Source
    kind: DocumentKind
    text: str
    start: int
    end: int
    score: float


class NoteEntry(View):
    """One line of the list of documents."""

    source: Source
    kind: DocumentKind
    author: str | None
    problem: str | None
    length_chars: int


def search_notes(
    record: PatientRecord, query: str, *, limit: int = SEARCH_LIMIT
) -> Bounded[NotePassage]:
    """Return the passages of notes and reports that hold words of `query`, best first."""
    found = record.passages.search(query[:QUERY_LIMIT_CHARS])
    shown = [_passage(score, passage) for score, passage in found[:limit]]
    return Bounded[NotePassage](
        items=tuple(shown),
        limit=limit,
        left_out=len(found) - len(shown),
        incomplete=record.left_out.sentence(),
    )


def list_notes(record: PatientRecord, *, limit: int = 100) -> Bounded[NoteEntry]:
    """Return all notes and reports without their text, newest first."""
    entries = [
        NoteEntry(
            source=Source(ref=document.ref, date=document.date, title=document.title),
            kind=document.kind,
            author=document.author,
            problem=document.problem,
            length_chars=len(document.text or ""),
        )
        for document in record.documents
    ]
    entries.sort(key=lambda entry: entry.source.date or "", reverse=True)
    return bounded(entries, limit, incomplete=record.left_out.sentence())


def _passage(score: float, passage: Passage) -> NotePassage:
    document = passage.document
    return NotePassage(
        source=Source(ref=document.ref, date=document.date, title=document.title),
        kind=document.kind,
        text=passage.text,
        start=passage.start,
        end=passage.end,
        score=round(score, 2),
    )
