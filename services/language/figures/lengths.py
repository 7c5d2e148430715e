"""Times of which no days are made: "in 3 months", "2 years before", "before age 12", "on 3.4."."""

import re
from collections.abc import Iterable, Mapping, Sequence

from services.language.words.folding import fold


def length_pattern(
    number: str,
    *,
    units: Mapping[str, Sequence[str]],
    several: Iterable[str],
    within: Iterable[str],
    relations: tuple[Sequence[str], ...],
    age: Iterable[str],
    months: Iterable[str],
) -> re.Pattern[str]:
    """Return the pattern of them in one language.

    Args:
        number: An expression for a number.
        relations: What stands behind a length, before and after, and what else before an age.
        months: Their names; a day of a month without its year is of no year that is known.
    """
    unit = any_of(one for every in units.values() for one in every)
    length = rf"(?:{number}|{any_of(several)}) (?:{unit})"
    before, after, *_ = relations
    named = rf"(?:{any_of(within)}) {length}|{length}(?= (?:{any_of((*before, *after))}))"
    related = any_of(one for every in relations for one in every)
    aged = rf"(?:{related}) (?:{any_of(age)}) (?:{number})"
    day, month = r"\d{1,2}(?:st|nd|rd|th|\.|er)?", rf"(?:{any_of(months)})\.?"
    dated = rf"\d{{1,2}}\.\s?\d{{1,2}}\.(?!\s?\d)|{day}(?: of| de)? {month}|{month} {day}"
    return re.compile(rf"(?<!\w)(?:{named}|{aged}|{dated})(?!\w)")


def any_of(phrases: Iterable[str]) -> str:
    """Return an expression for one of `phrases`, longest first; one that never fits for none."""
    every = sorted((fold(phrase)[0] for phrase in phrases), key=len, reverse=True)
    return "|".join(re.escape(one) for one in every) or r"(?!)"


def sign_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of a figure or one of `words`: without any, no other form needs a try."""
    return re.compile(rf"\d|(?<!\w)(?:{any_of(words)})")
