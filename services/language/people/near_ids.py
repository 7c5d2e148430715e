"""Tokens of a message that look like ids: letters with figures behind them. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from services.language.words.statement_words import statement_words

# Bounded, so that a long run of letters is read once.
_TOKEN = re.compile(
    r"(?<!\w)[A-Za-z]{5,20}(?:[ _-]|[_-]\s{1,2})?[0-9]{1,20}(?:[-/.,][0-9]{1,20})?(?!\w)"
)
_SPLIT = re.compile(r"[_-]\s")
_GOES_ON = re.compile(r"[0-9][-/.,][0-9]")
_LETTERS = re.compile(r"[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]+")
_CALLED = frozenset({"patient", "patientin", "patiente", "paciente", "paziente", "pt", "pat"})
_OF_NUMBERS = frozenset({"number", "no", "nr", "nummer"})
_WORD_LEAST_CHARS = 5


@dataclass(frozen=True, slots=True)
class TokenLikeId:
    """Letters and figures that belong together.

    Attributes:
        word: The letters that it begins with, as `word_of_id` returns them.
        goes_on: Whether more figures follow behind a sign, as in `patient_4-42`.
        is_split: Whether a space stands behind its sign, as in `patient_ 4`.
    """

    text: str
    word: str
    goes_on: bool
    is_split: bool


def tokens_like_ids(text: str) -> Iterator[TokenLikeId]:
    """Yield the tokens of `text` that look like ids, in its order."""
    for found in _TOKEN.finditer(text):
        token = found[0]
        yield TokenLikeId(
            text=token,
            word=word_of_id(token),
            goes_on=_GOES_ON.search(token) is not None,
            is_split="_" in token and _SPLIT.search(token) is not None,
        )


def word_of_id(text: str) -> str:
    """Return the letters that an id begins with; "" where they are too few for slips to tell."""
    letters = _LETTERS.match(text)
    word = letters[0].lower() if letters is not None else ""
    return word if len(word) >= _WORD_LEAST_CHARS else ""


def number_in_words(text: str) -> str | None:
    """Return `patient fifteen`: a number in words where a patient's stands."""
    numbers = statement_words().numbers
    words = [one for one in _WORD.findall(text) if one.lower() not in _OF_NUMBERS]
    for word, number in pairwise(words):
        if word.lower() in _CALLED and numbers.get(number.lower(), 1) != 1:
            return f"{word} {number}"
    return None
