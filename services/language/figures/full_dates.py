"""Whole dates of a message, in the ways people write them. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from services.language.figures.time_words import time_words
from services.language.words.letters import folded
from services.language.words.people_words import of_people
from services.language.words.vocabulary import LANGUAGES, read_table

_ISO = re.compile(r"(?<![\w-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\w-])")
_DAY_FIRST = re.compile(r"(?<![\w.])(\d{1,2})\s?[./-]\s?(\d{1,2})\s?[./-]\s?(\d{4}|\d\d)(?=s?\b)")
_NAMED = re.compile(
    r"(?<!\w)(?:(\d{1,2})(?:st|nd|rd|th|er|º|°)?[\s./-]{1,2}(?:(?:de|of|di|del)\s)?([^\W\d_]{3,12})\.?"
    r"[\s,./-]{1,2}(?:(?:de|del|of)\s)?(\d{4}|['’]?\d{2})(?![:.,]\d)"
    r"|([^\W\d_]{3,12})\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s{1,2}(\d{4}))(?!\w)",
    re.IGNORECASE,
)
_SHORT_YEAR = re.compile(
    r"(?i)(?<![\w./-])['’]?\d{2}(?=['’]?[:,;.?!)]|['’]?\Z|['’]s"
    r"|\s+(?!we|wk|da|mo|mi|ho|h\b|k?g\b|cm|y|ja|wo|ta|st))(?![.,]\d)"
)
"""The 64 of `jg 64 Hb`, not the 38 of `born 38 weeks`."""
_YEAR = re.compile(r"(?<![\w./-])(?:19|20)\d{2}(?:(?=er\b)|(?![\w/-]|\.\d))")
_OF_ONE = re.compile(
    r"(?i)\b(?:the|our|my|der|die|den|dem|unser\w*) (?:von |aus |from )?"
    r"(?:(19\d\d)(?: (?:one|guy|lady|man|woman|chap|pt|patient)\b|(?=[:,]))|(\d\d)er(?=[:,]))"
    r"|\bb\. ?((?:19|20)\d\d)\b|\A(19\d\d) (?:guy|lady|man|woman|male|female)\b"
)
"""`the 1949 one`, `b. 1949`, `der von 1949: PSA`; of this century it is rather a scan."""
_TWO_DIGITS = re.compile(r"(?<!\w)['\u2019](\d\d)(?![\w%]|[.,]\d)(?!.*\w['\u2019](?!\w))")
_NEXT_WORD = re.compile(r"(?:[ ,(]{1,3}|['’]?(?=s\b))([^\W\d_]+)")
_LONG_AGO, _MONTHS = 20, 12
_NO_DAY = date.min
"""Read of a birth on 29 February 1970: nobody was born on it."""
_PLAIN = re.compile(r"(?<!\w)(\d\d)(\d\d)((?:19|20)\d\d)(?!\w)")
_COMPACT = re.compile(r"(?<!\w)((?:19|20)\d{2})(\d{2})(\d{2})(?!\w)")


@dataclass(frozen=True, slots=True)
class FullDate:
    """A day that a message names.

    Attributes:
        readings: The days it may be: 03/04/1957 is two.
        is_birth: Whether words say that it is a birth date.
    """

    start: int
    end: int
    readings: frozenset[date]
    is_birth: bool

    def is_long_ago(self, today: date | None) -> bool:
        """Whether it is so old that beside a name it is a birth date."""
        return today is not None and any(day.year + _LONG_AGO < today.year for day in self.readings)


@lru_cache(maxsize=64)  # of a message each name asks for them
def full_dates(text: str) -> Sequence[FullDate]:
    """Return the whole dates of `text`, in its order."""
    found = [
        *_all(_ISO, text, lambda one: {(int(one[1]), int(one[2]), int(one[3]))}),
        *_all(_DAY_FIRST, text, _either_way),
        *_all(_NAMED, text, _by_name),
        *_all(_COMPACT, text, lambda one: {(int(one[1]), int(one[2]), int(one[3]))}),
    ]
    # Eight digits alone may be anybody's number: `dob 23091967`.
    found += [one for one in _all(_PLAIN, text, _either_way) if _is_birth(text[: one.start])]
    found.sort(key=lambda one: one.start)
    ends = [0, *(one.end for one in found)]
    dated = (
        # The word for a birth is of one date: "born 21/07/1968, seen 26/06/2025".
        replace(
            one,
            is_birth=_is_birth(text[max(end for end in ends if end <= one.start) : one.start])
            or (
                (word := _NEXT_WORD.match(text[one.end :])) is not None
                and folded(word[1]) in of_people("born") | {"s"}
            ),  # `21 July 1968 (DOB)`, `1.5.60s`
        )
        for one in found
    )
    return [one for one in dated if one.is_birth or _NO_DAY not in one.readings]


def _all(
    pattern: re.Pattern[str], text: str, parts: Callable[[re.Match[str]], set[tuple[int, int, int]]]
) -> Iterator[FullDate]:
    for one in pattern.finditer(text):
        readings, said = set(), parts(one)
        for year, month, day in said:
            with suppress(ValueError):
                readings.add(date(year, month, day))
        if not readings and any(0 < month <= _MONTHS for _, month, _ in said):
            readings = {_NO_DAY}
        if readings:
            yield FullDate(one.start(), one.end(), frozenset(readings), is_birth=False)


def _either_way(one: re.Match[str]) -> set[tuple[int, int, int]]:
    first, second = int(one[1]), int(one[2])
    years = _years(one[3])
    found = {(each, second, first) for each in years}
    if "." not in one[0]:
        found |= {(each, first, second) for each in years}
    return found


def _by_name(one: re.Match[str]) -> set[tuple[int, int, int]]:
    day, name, year = (one[1], one[2], one[3]) if one[1] else (one[5], one[4], one[6])
    month = month_numbers().get(folded(name))
    return set() if month is None else {(each, month, int(day)) for each in _years(year)}


def _years(said: str) -> Sequence[int]:
    year = int(said.strip("'’"))
    return [year] if len(said) == 4 else [1900 + year, 2000 + year]


@lru_cache(maxsize=1)
def month_numbers() -> Mapping[str, int]:
    """Return the numbers of the months by their names in five languages, folded."""
    every = [*(time_words(one).months for one in LANGUAGES), read_table("months")["it"]]
    months = [each for one in every for each in enumerate(one, 1)]
    return {folded(name): number for number, names in months for name in names}


def birth_years(text: str) -> Sequence[str]:
    """Return the ends of years in which somebody was born by the text: `born in 1968`, `geb. 68`.

    "Aged" and "since" say nothing of a birth, nor does a year that stands with its day.
    """
    days = [(one.start, one.end) for one in full_dates(text)]
    found = []
    for one in (*_YEAR.finditer(text), *_SHORT_YEAR.finditer(text)):
        words = [folded(each) for each in re.findall(r"[^\W_]+|\*", text[: one.start()][-24:])][-2:]
        if len(one[0]) < 4 and words[1:] and words[-1] in of_people("within"):
            words.pop()  # `born in '56`
        words = words if len(one[0]) == 4 else words[-1:]
        is_in_day = any(start <= one.start() < end for start, end in days)
        words += [folded(each) for each in re.findall(r"\Aer\s+([^\W_]+)", text[one.end() :])]
        if not is_in_day and not (of_people("born") | {"*"}).isdisjoint(words):
            found.append(one[0].strip("'’"))
    return found + [str(one[one.lastindex or 0]) for one in _OF_ONE.finditer(text)]


def years_in(text: str) -> Sequence[int]:
    """Return the years of `text` that stand alone, in its order."""
    return [int(one[0]) for one in _YEAR.finditer(text)]


def with_whole_years(text: str, *, today: date) -> str:
    """Return `text` with its years of two digits whole: "'19" is 2019; no quoted figure is one."""

    def whole(short: re.Match[str]) -> str:
        century = today.year // 100 - (int(short[1]) > today.year % 100)
        return f"{century}{short[1]}"

    return _TWO_DIGITS.sub(whole, text)


def _is_birth(before: str) -> bool:
    """Whether one of the last words before a date says that somebody was born then."""
    words = [folded(one) for one in re.findall(r"d\.o\.b|[^\W\d_]+|\*", before[-40:].lower())][-4:]
    return any(one in of_people("born") | {"*", "d.o.b"} for one in words) or bool(
        re.search(r"\*\s*$", before)
    )


def birth_date_in(text: str) -> date | None:
    """Return the one whole date of `text`; None where it has none, or has two readings."""
    days = {day for found in full_dates(text) for day in found.readings}
    return next(iter(days)) if len(days) == 1 else None
