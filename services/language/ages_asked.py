"""The year of life that a question about the chart is meant of: "at age 10". Pure."""

import re
from functools import cache

from services.language.chart_words import lexicon
from services.language.folding import fold

OLDEST_YEARS = 120


def age_in(text: str, language: str) -> tuple[int | None, str]:
    """Return the age in years that folded `text` names, 0 at birth, and the text without it.

    "When she was 10 weeks pregnant" names none: behind the number the question ends.
    """
    for phrase, rest in lexicon(language).words.at_birth.items():
        without = re.sub(rf"(?<!\w){re.escape(fold(phrase)[0])}(?!\w)", rest, text)
        if without != text:
            return 0, without
    found = _pattern(language).search(text)
    if found is None or int(found["years"]) > OLDEST_YEARS:
        return None, text
    return int(found["years"]), f"{text[: found.start()]} {text[found.end() :]}"


@cache
def _pattern(language: str) -> re.Pattern[str]:
    words = lexicon(language).words
    before, behind = (
        "|".join(re.escape(fold(each)[0]) for each in phrases) or r"\b\B"
        for phrases in (words.at_age, words.years_of_age)
    )
    return re.compile(
        rf"(?<!\w)(?:{before}) (?P<years>\d{{1,3}})(?: (?:{behind}))?(?= *[?.!,;]| *\Z)"
    )
