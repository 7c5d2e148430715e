"""Whether a sentence only repeats what the record says, word for word."""

import re
from dataclasses import dataclass
from functools import lru_cache

from services.language.statement_parts import REFERENCE
from services.language.written_dates import FoundDate, WrittenDate, dates_in, recorded_date

_WORDS = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*%?")
_PARTS = re.compile(r"[:;|•—]\s")
_LONG_QUOTE_WORDS = 4
_SHORT_TEXT_CHARS = 400


@dataclass(frozen=True, slots=True)
class Quotable:
    """All that one row or document says, as words.

    Attributes:
        title: What it is called.
        text: What it says, its name and values included.
    """

    title: str
    text: str
    dates: tuple[WrittenDate, ...]
    sources: tuple[str, ...]


@lru_cache(maxsize=4_000)
def quotable(title: str, text: str, date: str, sources: tuple[str, ...]) -> Quotable:
    """Return what a row says, made comparable."""
    own = recorded_date(date) if date else None
    dates = [reading for found in dates_in(text[:4_000]) for reading in found.readings]
    return Quotable(
        words_of(title), words_of(f"{title} {text}"), (*dates, *((own,) if own else ())), sources
    )


def words_of(text: str) -> str:
    """Return the words of a text in lower case, parted by single blanks, one at each end."""
    return f" {' '.join(_WORDS.findall(REFERENCE.sub(' ', text).lower()))} "


@dataclass(frozen=True, slots=True)
class Repeated:
    """A sentence as what it may repeat: its parts as words, and its dates."""

    parts: tuple[str, ...]
    dates: tuple[FoundDate, ...]


def repeated(sentence: str) -> Repeated:
    """Return what a sentence may repeat of a row."""
    body = REFERENCE.sub(" ", sentence)
    found = dates_in(body)
    for one in reversed(found):
        body = f"{body[: one.start]} {body[one.end :]}"
    parts = (words_of(part) for part in _PARTS.split(f"{body} "))
    return Repeated(tuple(part for part in parts if part.strip()), tuple(found))


def is_quote(said: Repeated, of: Quotable) -> bool:
    """Whether all parts of a sentence stand in one row, and its dates too.

    Of a long text a part is only a quote with some words: "apixaban: 10 mg" may be of two drugs.
    """
    if not said.parts or any(part not in of.text for part in said.parts):
        return False
    if not all(any(r.fits(day) for r in one.readings for day in of.dates) for one in said.dates):
        return False
    if len(of.text) <= _SHORT_TEXT_CHARS:
        return True
    long = [part for part in said.parts if part.count(" ") > _LONG_QUOTE_WORDS]
    short = (part for part in said.parts if part not in long and part not in of.title)
    return bool(long) and not any(map(str.isdigit, "".join(short)))
