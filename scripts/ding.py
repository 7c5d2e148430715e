"""The German-English dictionary Ding (Debian package `trans-de-en`)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MEDICAL = re.compile(r"\[(?:med|anat|pharm|psych|biochem)\.\]")
_ASIDE = re.compile(r"\{[^}]*\}|\([^)]*\)|\[[^\]]*\]|/[^/]*/|<[^>]*>")
_FILLING = re.compile(
    r"\b(?:to|sb|sth|etw|jdm|jdn|jds|sich|oneself|an?|von|mit|of|with|from)(?=[\s.'])\.?"
)
_WORD = re.compile(r"[a-zäöü]+")


class Uses(NamedTuple):
    """In how many entries a word stands, and in how many of medicine."""

    entries: int
    medical: int


class Ding:
    """Its entries by single words, in lower case and with `ss` for `ß`.

    Attributes:
        translations: Of each German word, which English ones stand beside it, and how often.
    """

    def __init__(self, *, path: Path) -> None:
        self.translations: dict[str, Counter[str]] = defaultdict(Counter)
        self._all: Counter[str] = Counter()
        self._medical: Counter[str] = Counter()
        for line in path.read_text("utf-8").splitlines():
            if "::" in line and not line.startswith("#"):
                self._read(line)

    def uses(self, word: str) -> Uses:
        """Return how a word of either language is used."""
        return Uses(self._all[word], self._medical[word])

    def _read(self, line: str) -> None:
        german, english = (side.split("|") for side in line.split("::", 1))
        is_medical = bool(_MEDICAL.search(line))
        for ours, theirs in zip(german, english, strict=False):
            of_german, of_english = set(_words(ours)), set(_words(theirs))
            for word in of_german:
                self.translations[word].update(of_english)
            self._all.update(of_german | of_english)
            if is_medical:
                self._medical.update(of_german | of_english)


def _words(segment: str) -> Iterator[str]:
    """Yield what a segment has that is one word."""
    for item in _ASIDE.sub(" ", segment.casefold()).split(";"):
        plain = _FILLING.sub(" ", f"{item} ").strip(" .!?,")
        if _WORD.fullmatch(plain):
            yield plain
