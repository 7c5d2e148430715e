"""Whether words that are quoted for a value can mean it. Rules over words; pure."""

import re
from collections.abc import Sequence

from services.language.figures.full_dates import full_dates
from services.language.replies.yes_no import truth_in
from services.language.requests.clock import day_in
from services.language.words.folding import words_of
from services.language.words.vocabulary import numbers_of_all

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d{1,15}(?:[.,]\d{1,9})?")


def may_mean(kind: str, value: object, quote: str) -> bool:
    """Whether a value of the type `kind` can be what `quote` says.

    Numbers have to stand there, as digits or as a word; a whole date, a yes or a no that stand
    there have to be the value; every word of a text has to stand there.
    """
    match kind:
        case "integer" | "number":
            return value in _numbers(quote)
        case "date":
            days = {day.isoformat() for found in full_dates(quote) for day in found.readings}
            is_day = len(words_of(quote)) > 1 or any(map(str.isdigit, quote))
            return value in days if days else is_day or day_in(quote) is not None
        case "boolean":
            return truth_in(quote) in (None, value)
        case _:
            return not isinstance(value, str) or set(words_of(value)) <= set(words_of(quote))


def without_words(text: str, used: Sequence[str]) -> str:
    """Return `text` with each of the `used` words gone where it stands first; "…" in its place."""
    for quote in used:
        if quote:
            text = text.replace(quote, " … ", 1)
    return text


def _numbers(quote: str) -> set[float]:
    if written := {float(one.replace(",", ".")) for one in _NUMBER.findall(quote)}:
        return written
    known = numbers_of_all()
    return {float(known[word]) for word in words_of(quote) if word in known}
