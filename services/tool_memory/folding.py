"""Text as references are compared: accents, case and typographic signs folded."""

import re
import unicodedata
from collections.abc import Sequence

from rapidfuzz.distance import DamerauLevenshtein

FUZZY_LEAST = 0.75
FUZZY_LEAST_LETTERS = 3

_SIGNS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": " - "}
)
_TOKEN = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"'s\b|(?<=s)'(?=\s|$)", re.IGNORECASE)


def listed(text: str) -> tuple[str, ...]:
    """Return the words of `text`: a list of words reads as words."""
    return tuple(text.split())


def plain(text: str) -> str:
    """Return `text` without accents and typographic signs; case stays."""
    text = text.translate(_SIGNS)
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(one for one in decomposed if not unicodedata.combining(one))


def tokens_of(text: str) -> list[str]:
    """Return the words and numbers of `text`, folded."""
    return _TOKEN.findall(_POSSESSIVE.sub("", plain(text)).casefold())


def similarity(word: str, token: str) -> float:
    """Return 1 for the same token, 0.75 to 1 for a likely misspelling of it, else 0."""
    if word == token:
        return 1.0
    if not (_may_be_misspelt(word) and _may_be_misspelt(token)):
        return 0.0
    return DamerauLevenshtein.normalized_similarity(word, token, score_cutoff=FUZZY_LEAST)


def best_similarity(word: str, tokens: Sequence[str]) -> float:
    """Return how well the best of `tokens` fits."""
    return max((similarity(word, token) for token in tokens), default=0.0)


def _may_be_misspelt(token: str) -> bool:
    return len(token) >= FUZZY_LEAST_LETTERS and token.isalpha()
