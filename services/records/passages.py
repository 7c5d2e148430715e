"""The passages of a document: short runs of its text that can be cited."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.records.documents import ClinicalDocument

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
