"""A month that is named without its year: "potassium in January". Pure."""

import re
from dataclasses import dataclass
from functools import cache

from services.language.expressions import any_of
from services.language.times import month_names, time_words

_DAY_BEFORE = re.compile(r"\d(?:st|nd|rd|th)?\.? ?\Z")


@dataclass(frozen=True, slots=True)
class BareMonth:
    """A month of a year that nobody named: what is asked of it is told of each.

    Attributes:
        number: From 1; 0 for none.
        text: The words that say so.
    """

    number: int = 0
    text: str = ""


def month_named(text: str, language: str) -> tuple[BareMonth, str]:
    """Return the month that folded `text` names alone, and the text without it."""
    found = _form(language).search(text)
    if found is None or _DAY_BEFORE.search(text, 0, found.start()):
        return BareMonth(), text
    number = month_names(time_words(language).locale)[found["month"]]
    return BareMonth(number, found[0].strip()), text.replace(found[0], " ", 1)


@cache
def _form(language: str) -> re.Pattern[str]:
    words = time_words(language)
    within, month = any_of(words.in_), any_of(month_names(words.locale))
    return re.compile(rf"(?<!\w)(?:{within}) (?P<month>{month})\.?(?!\w| ?\d)")
