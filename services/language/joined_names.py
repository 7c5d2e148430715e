"""Names that are read as one word, whatever they say: "Documentation of drugs". Pure."""

import re
from collections.abc import Collection
from functools import lru_cache

from services.language.statement_tables import stem

_TAG = re.compile(r"\s*\([^()]*\)$")


def without_tag(name: str) -> str:
    """Return a name of a record without its kind: `Review of systems (procedure)`."""
    return _TAG.sub("", name)


def word_of(name: str) -> str:
    """Return the word, a stem, that stands for a name."""
    return stem("".join(filter(str.isalnum, name)))


def with_joined(text: str, names: Collection[str]) -> str:
    """Return `text` with each of `names` as one word."""
    if not names:
        return text
    return _pattern(frozenset(names)).sub(lambda found: word_of(found[0]), text)


@lru_cache(maxsize=128)
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda one: (-len(one), one))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)
