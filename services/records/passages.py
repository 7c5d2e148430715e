"""Finding the passages of a record that speak of something: BM25 over short passages.

Words are compared without case, accents and plural `s`; nothing is guessed beyond that, so
an empty answer means that the words are not there.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.records.documents import ClinicalDocument

PASSAGE_LIMIT_CHARS = 600
_SATURATION = 1.4
_LENGTH_WEIGHT = 0.6
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?!\n)[^\n]+)*")
_SENTENCE_END = re.compile(r"[.!?;:]\s|\n")
_STOP_WORDS = """
    a an and any are as at be been by did do does for from had has have her his how in is it its
    of on or patient s she he that the their there this to was were what when which who will with
    about tell me show find note
"""
_STOP = frozenset(_STOP_WORDS.split())


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


@dataclass(frozen=True)
class PassageIndex:
    """Passages with their word counts."""

    passages: tuple[Passage, ...]
    counts: tuple[Counter[str], ...]
    holders: Counter[str]
    """How many passages hold each word."""

    @classmethod
    def of(cls, documents: Iterable[ClinicalDocument]) -> "PassageIndex":
        """Return the index of all readable texts; titles count as words of each passage."""
        passages = tuple(p for document in documents for p in split(document))
        counts = tuple(Counter(words(f"{p.document.title} {p.text}")) for p in passages)
        holders = Counter(word for count in counts for word in count)
        return cls(passages, counts, holders)

    def search(self, query: str) -> list[tuple[float, Passage]]:
        """Return the passages that hold a word of `query`, best first, newest among equals."""
        asked = {word for word in words(query) if word not in _STOP} & self.holders.keys()
        if not asked:
            return []
        usual = sum(count.total() for count in self.counts) / len(self.counts)
        scored = [
            (self._score(asked, count, usual), passage)
            for count, passage in zip(self.counts, self.passages, strict=True)
            if asked & count.keys()
        ]
        scored.sort(key=lambda pair: pair[1].document.date or "", reverse=True)
        scored.sort(key=lambda pair: -pair[0])
        return scored

    def _score(self, asked: set[str], count: Counter[str], usual: float) -> float:
        length = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * count.total() / usual
        return sum(
            self._rarity(word)
            * count[word]
            * (_SATURATION + 1)
            / (count[word] + _SATURATION * length)
            for word in asked
        )

    def _rarity(self, word: str) -> float:
        holding = self.holders[word]
        return math.log(1 + (len(self.passages) - holding + 0.5) / (holding + 0.5))


def words(text: str) -> list[str]:
    """Return the words of `text` in the form in which they are compared."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return [_singular(word) for word in _WORD.findall(bare)]


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


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
