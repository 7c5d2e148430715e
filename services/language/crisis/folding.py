"""Text as the crisis rules read it: one spelling, no ornaments, places of sentences kept."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

_APOSTROPHE = re.compile(r"(?<=\w)['’‘`](?=\w)")
_DOTS = re.compile(r"\.{3,}|…")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ORNAMENT = re.compile(r"[^\w\s.!?;:\"*#$]|(?<=\s)\*|\*(?=\s|$)")
_QUOTES = re.compile(r"[“”„«»‘’']")
_SPACES = re.compile(r"\s+")


class Folding:
    """Folds text; `spellings` maps a word to how else people type it."""

    def __init__(self, *, spellings: Mapping[str, Sequence[str]]) -> None:
        self._words = {
            typed: word for word, variants in spellings.items() for typed in map(_plain, variants)
        }
        alternatives = "|".join(
            re.escape(typed) for typed in sorted(self._words, key=len, reverse=True)
        )
        self._typed = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if alternatives else None

    def __call__(self, text: str) -> str:
        """Return `text` folded: lower case, each word as the rules spell it."""
        folded = _plain(text)
        if self._typed is None:
            return folded
        return self._typed.sub(lambda found: self._words[found[0]], folded)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _APOSTROPHE.sub("", _INVISIBLE.sub("", text))
    text = _QUOTES.sub('"', _DOTS.sub(" ", text))
    return _SPACES.sub(" ", _ORNAMENT.sub(" ", text)).strip()
