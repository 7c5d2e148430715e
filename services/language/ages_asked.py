"""The year of life that a question about the chart is meant of: "at age 10". Pure."""

import re
from functools import cache
from typing import NamedTuple

from services.language.chart_words import lexicon
from services.language.folding import fold

OLDEST_YEARS = 120


class Age(NamedTuple):
    """So many years, or months, of life; 0 at birth."""

    count: int
    is_months: bool = False


BIRTH = Age(0)


def age_in(text: str, language: str) -> tuple[Age | None, str]:
    """Return the age that folded `text` names, and the text without it.

    "When she was 10 weeks pregnant" names none: behind the number the question ends.
    """
    for phrase, rest in lexicon(language).words.at_birth.items():
        without = re.sub(rf"(?<!\w){re.escape(fold(phrase)[0])}(?!\w)", rest, text)
        if without != text:
            return BIRTH, without
    found = _pattern(language).search(text)
    if found is None or int(found["years"]) > OLDEST_YEARS:
        return None, text
    age = Age(int(found["years"]), is_months=found["months"] is not None)
    return age, f"{text[: found.start()]} {text[found.end() :]}"


@cache
def _pattern(language: str) -> re.Pattern[str]:
    words = lexicon(language).words
    before, years, months = (
        "|".join(re.escape(fold(each)[0]) for each in phrases) or r"\b\B"
        for phrases in (words.at_age, words.years_of_age, words.months_of_age)
    )
    unit = rf"(?: (?:{years}))?|(?P<months> (?:{months}))"
    return re.compile(
        rf"(?<!\w)(?:{before}) (?P<years>\d{{1,3}})(?:{unit})(?= *[?.!,;]| *\Z)"
    )
