"""Numbers and tokens of a message that may be a patient's, by their form and the words before."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.language.full_dates import FullDate
from services.language.mentions import Message
from services.language.people_words import of_people
from services.language.statement_words import statement_words

# Bounded, so that a long run of letters is read once.
_LIKE_AN_ID = re.compile(
    r"(?<!\w)[A-Za-z]{5,20}(?:[ _-]|[_-]\s{1,2})?[0-9]{1,20}(?:[-/.,][0-9]{1,20})?(?!\w)"
)
_SPLIT = re.compile(r"[_-]\s")
_GOES_ON = re.compile(r"[0-9][-/.,][0-9]")
_LETTERS = re.compile(r"[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]+")
_CALLED = frozenset({"patient", "patientin", "patiente", "paciente", "paziente"})
_WORD_LEAST_CHARS = 5


_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{2,63}")
_SPACED = re.compile(r"(?<![\w-])[A-Za-z]{1,6} \d{4,12}(?![\w-])")
_NUMBER_LEAST_CHARS = 5
_LABELLED_LEAST_CHARS = 3


def number_tokens(message: Message, dates: Sequence[FullDate]) -> Iterable[str]:
    """Yield what may be a number of a patient and is no date.

    Short ones only where they are called so, or begin the message: `next: 4713`, `4713 potassium`.
    """
    for one in _TOKEN.finditer(message.text):
        token = one.group().rstrip("._-/")
        if any(date.start < one.end() and one.start() < date.end for date in dates):
            continue
        if not any(map(str.isdigit, token)):
            continue
        is_called = any(labelled_numbers(message, [token], within=1))
        before = [word.text for word in message.words if word.end <= one.start()]
        begins = of_people("opening", "moves_on").issuperset(before)
        begins = begins and is_bare_number(message, token)
        if begins or len(token) >= (_LABELLED_LEAST_CHARS if is_called else _NUMBER_LEAST_CHARS):
            yield token
    yield from (one.group() for one in _SPACED.finditer(message.text))


def is_bare_number(message: Message, token: str) -> bool:
    """Whether nothing but its place says that four digits may be a patient's number: no year is."""
    is_short = len(token) == _NUMBER_LEAST_CHARS - 1 and token.isdigit()
    is_year = token.startswith(("19", "20"))
    return is_short and not is_year and not any(labelled_numbers(message, [token], within=1))


def labelled_numbers(message: Message, tokens: Sequence[str], *, within: int = 3) -> Iterable[str]:
    """Yield the tokens that one of so many words before them calls a patient's number."""
    lowered = message.text.casefold()
    for token in tokens:
        at = lowered.find(token.casefold())
        words = [one.text for one in message.words if one.end <= at][-within:]
        if any(one in of_people("numbers") for one in words):
            yield token


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
    for found in _LIKE_AN_ID.finditer(text):
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
    for word, number in pairwise(_WORD.findall(text)):
        if word.lower() in _CALLED and numbers.get(number.lower(), 1) != 1:
            return f"{word} {number}"
    return None
