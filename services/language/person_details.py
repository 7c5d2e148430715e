"""The full name and the date of birth of somebody who is to be registered or looked up. Pure."""

import re
from datetime import date

from services.language.folding import fold
from services.language.full_dates import full_dates
from services.language.phrases import words_for

_WORD = re.compile(r"[^\W\d_][\w'’-]*|[,(?!;:.\d]")
_NAME_WORDS = range(2, 7)


def full_name_in(text: str) -> str | None:
    """Return the first and family name that `text` gives; None where it gives no two words."""
    named: list[str] = []
    for word in [*_WORD.findall(text), ","]:
        is_around = fold(word)[0] in words_for("around_person")
        if word[0].isalpha() and not is_around:
            named.append(word)
        elif len(named) in _NAME_WORDS and named[-1][0].isupper():
            return " ".join(named)
        else:
            named = []
    return None


def birth_date_in(text: str) -> date | None:
    """Return the one whole date of `text`; None where it has none, or has two readings."""
    days = {day for found in full_dates(text) for day in found.readings}
    return next(iter(days)) if len(days) == 1 else None
