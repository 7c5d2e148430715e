"""Values that notes state in fixed words: ECOG and stage. No other free text is interpreted."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from services.records.documents import ClinicalDocument
from services.records.facts import Source

Stated: TypeAlias = Literal["ECOG", "stage"]

_QUOTE_LIMIT_CHARS = 200
_PATTERNS: dict[Stated, re.Pattern[str]] = {
    "ECOG": re.compile(
        r"\bECOG(?:\s+(?:PS|performance\s+status))?\s{0,3}(?:score|of|is|[:=])?\s{0,3}([0-5])\b"
    ),
    "stage": re.compile(r"\b(?i:stage)\s{1,3}(0|IV[A-D]?|I{1,3}[A-D]?[1-3]?)\b"),
}
_CLAUSE = re.compile(r"[^.!?;\n]+(?:[.!?](?!\s)[^.!?;\n]*)*")
# A clause about another time or person says nothing about the day of its note.
_NOT_NOW = re.compile(
    r"(?i)\b(?:at diagnosis|initial\w*|originally|previous\w*|prior|history|formerly|was|were|had|"
    r"mother|father|sister|brother|aunt|uncle|if|would|criteria|trial)\b"
)


def stated_in_notes(
    documents: tuple[ClinicalDocument, ...], what: Stated
) -> Iterator[tuple[str, Source]]:
    """Yield the values of `what` that notes state for their own day, with the clause."""
    for document in documents:
        if document.kind == "note" and document.text and not document.is_superseded:
            yield from _in_text(document, document.text, _PATTERNS[what])


def _in_text(
    document: ClinicalDocument, text: str, pattern: re.Pattern[str]
) -> Iterator[tuple[str, Source]]:
    for clause in _CLAUSE.finditer(text):
        said = clause.group().strip()
        found = pattern.search(said)
        if found and not _NOT_NOW.search(said):
            quote = said[:_QUOTE_LIMIT_CHARS]
            source = Source(ref=document.ref, date=document.date, title=document.title, quote=quote)
            yield found.group(1), source
