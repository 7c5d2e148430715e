"""What documents newer than the newest value say of the same thing, with a figure of their own."""

from collections.abc import Collection, Iterator, Sequence

from data_models.chart_view import ViewSource
from services.language.references import numbers_in
from services.records.concepts.words import words_of
from services.records.dates import first_day, last_day
from services.records.documents import ClinicalDocument
from services.records.finding import holds
from services.records.measurements import Series, node_of
from services.records.record import PatientRecord
from services.records.values import value_in
from services.records.views.view import QUOTE_LIMIT_CHARS

_SOURCES_LIMIT, _DOCUMENTS_READ, _READ_CHARS = 3, 40, 20_000
_BEGINNING_CHARS = 3
_ENDS = ". ", "; "


def written_later(record: PatientRecord, chosen: Sequence[Series]) -> tuple[ViewSource, ...]:
    """Return the newest such sentences, one of each document, as sources with their words.

    A value that only a note holds is no row; who reads the newest row must know that there is one.
    """
    found = [
        ViewSource(
            ref=document.ref, date=(document.date or "")[:10], title=document.title, quote=said
        )
        for series in chosen
        for document in record.documents[-_DOCUMENTS_READ:]
        if (said := next(_said_in(document, series), None))
    ]
    newest = sorted(found, key=lambda one: one.date or "", reverse=True)
    return tuple({one.ref: one for one in newest}.values())[:_SOURCES_LIMIT]


def _said_in(document: ClinicalDocument, series: Series) -> Iterator[str]:
    newest = last_day(series.parts[-1].entry.date[:10])
    written = first_day((document.date or "")[:10])
    is_later = newest is not None and written is not None and written > newest
    if document.is_superseded or not document.text or not is_later:
        return
    names = series.concept.words if series.concept is not None else (words_of(series.name),)
    text = document.text[:_READ_CHARS]
    folded = text.casefold()
    names = tuple(name for name in names if name and name[0][:_BEGINNING_CHARS] in folded)
    known = {value_in(node_of(part)).number for part in series.parts}
    for sentence in _sentences(text) if names else ():
        if any(_tells_more(piece, names, known) for piece in sentence.split(", ")):
            yield sentence[:QUOTE_LIMIT_CHARS]


def _tells_more(
    piece: str, names: Sequence[Sequence[str]], known: Collection[float | None]
) -> bool:
    """Whether a piece of a sentence names the thing with a figure that no value has."""
    words = words_of(piece)
    is_named = any(holds(words, name) for name in names)
    return is_named and any(number not in known for number in numbers_in(piece))


def _sentences(text: str) -> Iterator[str]:
    flat = " ".join(text.split())
    for mark in _ENDS:
        flat = flat.replace(mark, f"{mark.strip()}\n")
    yield from flat.splitlines()
