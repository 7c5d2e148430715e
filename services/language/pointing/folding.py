"""Text as references are compared: accents, case and typographic signs folded."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

FUZZY_LEAST = 0.75
FUZZY_LEAST_LETTERS = 3

_SIGNS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": " - "}
)
_TOKEN = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"'s\b|(?<=s)'(?=\s|$)", re.IGNORECASE)


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


def similar_tokens(word: str, by_length: Mapping[int, Sequence[str]]) -> dict[str, float]:
    """Return the tokens that `word` may be a misspelling of, with 0.75 to 1 each.

    Args:
        word: Folded.
        by_length: Tokens that may be misspelt, grouped, since a letter more costs as one changed.
    """
    if not may_be_misspelt(word):
        return {}
    size = len(word)
    near = range(math.ceil(size * FUZZY_LEAST), int(size / FUZZY_LEAST) + 1)
    choices = [token for length in near for token in by_length.get(length, ())]
    found = process.extract(
        word,
        choices,
        scorer=DamerauLevenshtein.normalized_similarity,
        score_cutoff=FUZZY_LEAST,
        limit=None,
    )
    return {token: score for token, score, _ in found}


def may_be_misspelt(token: str) -> bool:
    """Whether a token is compared by similarity: letters only, at least three."""
    return len(token) >= FUZZY_LEAST_LETTERS and token.isalpha()
