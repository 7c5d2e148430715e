"""The form in which names are compared: no case, accents, plurals or British spelling."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from services.language.words.statement_words import ordinary_words

_WORD = re.compile(r"[a-z0-9]+")
_GREEK_PLURALS = ("stases", "noses", "boses", "lyses", "roses", "toses", "moses")
"""Of metastasis, diagnosis, thrombosis, dialysis, fibrosis, ptosis, ecchymosis."""
_SHORTEST_GREEK = 6
COMPOUND_CHARS = 5
_WITHIN_CHARS = 7
_LETTERS = 3
_SMALL = frozenset(["and", "of", "in", "the", "to", "for", "with", "by", "at", "per"])
_ENDINGS = ("ing", "ed", "e")
_ROOT_CHARS = 4
_FINAL_E = ("ole", "ine", "ide", "one", "ate", "ene", "ame")
_SHORTEST_FINAL_E = 7
"""Drugs and salts, which German and the INN of some countries write without it: Letrozol."""
_SPELLINGS = (
    *(("ae", "e"), ("oe", "e"), ("our", "or"), ("isation", "ization"), ("phth", "pth")),
    *(("ologie", "ology"), ("ektomie", "ectomy"), ("skopie", "scopy"), ("grafie", "graphy")),
    *(("graphie", "graphy"), ("kardio", "cardio"), ("koronar", "coronar")),
)
"""British ones, and German ones of what comes from Greek."""


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of `text` in the form in which they are compared."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    if not plain.isascii():
        plain = "".join(char for char in plain if not unicodedata.combining(char))
    return tuple(_compared(word) for word in _WORD.findall(plain))


def spelt_out(letters: str, said: Sequence[str]) -> tuple[str, ...]:
    """Return the words that `said` begins with and whose first letters these are: ROP, DSA."""
    if len(letters) < _LETTERS or letters in ordinary_words():  # all, low
        return ()
    telling = [number for number, word in enumerate(said) if word not in _SMALL]
    for places in (range(len(said))[: len(letters)], telling[: len(letters)]):
        if "".join(said[one][0] for one in places) == letters:
            return tuple(said[: places[-1] + 1])
    return ()


def phrase_of(text: str) -> str:
    """Return the words of `text` with one space between them."""
    return " ".join(words_of(text))


def is_compound_of(stem: str, word: str) -> bool:
    """Whether a longer word ends so: Transplantatabstoßung, and no intolerance of tolerance."""
    is_within = len(stem) >= _WITHIN_CHARS and stem in word[3:-2]  # hypothyroidism
    ends = len(stem) >= COMPOUND_CHARS and len(word) - len(stem) > 2 and word.endswith(stem)
    return is_within or ends


@lru_cache(maxsize=20_000)
def roots_of(text: str) -> tuple[str, ...]:
    """Return the roots of the words of `text`."""
    return tuple(map(root_of, words_of(text)))


def root_of(word: str) -> str:
    """Return what is left of a compared word in every form of a verb: driving, drives."""
    cut = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    return next((one for one in cut if len(one) >= _ROOT_CHARS), word)


def _compared(word: str) -> str:
    if len(word) < 4:
        return word
    for other, american in _SPELLINGS:
        if other in word:
            word = word.replace(other, american)
    if len(word) > _SHORTEST_GREEK and word.endswith(_GREEK_PLURALS):
        return f"{word[:-2]}is"
    if word.endswith("ies") and len(word) > _SHORTEST_GREEK:
        return f"{word[:-3]}y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    is_chemical = len(word) >= _SHORTEST_FINAL_E and word.endswith(_FINAL_E)
    return word[:-1] if is_chemical else word
