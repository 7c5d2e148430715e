"""Whom a sentence begins with by name."""

import re
from bisect import bisect_left
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from nicknames import NickNamer

from services.language.words.people_words import common_words, names_that_are_words
from services.language.words.statement_tables import stem
from services.language.words.statement_words import (
    is_clinical_name,
    ordinary_words,
    statement_words,
)

_PERSON = re.compile(
    r"(?!(?:D(?:ie|er|as)|[KS]?[Ee]ine?|Ihre?|The|His|Her) )"
    r"(?P<name>[A-ZÄÖÜ][a-zà-ÿ]+ [A-ZÄÖÜ][a-zà-ÿ]+)(?:['’]s)? "
    r"(?:has|had|is|was|takes|took|lives|denies|hat|hatte|ist|war|nimmt|leidet)\b"
)
_DOCTOR = re.compile(
    r"\b(?:Dr|Prof|Doctor|Doktor)\b\.? (?P<name>[A-ZÄÖÜ][\w'’-]+(?: [A-ZÄÖÜ][\w'’-]+)*)(?![\w'’,-])"
)
_HERE = Path(__file__).parents[1]
LIST = _HERE / "people_names.txt"
"""Some 120,000 first and family names, folded; `python -m scripts.people_names` writes them."""


def person_named_in(text: str) -> frozenset[str]:
    """Return the words of a name that a sentence begins with: `John Miller has …`."""
    if (found := _PERSON.match(text.lstrip())) is None:
        return frozenset()
    words = {stem(word) for word in found["name"].split()}
    known = statement_words().phrases
    is_name = not any(word in known or is_clinical_name(word) for word in words)
    return frozenset(words) if is_name else frozenset()


def doctors_named_in(text: str) -> list[frozenset[str]]:
    """Return the words of the name behind each title: `Dr. Helen Fry`; none of who is addressed."""
    return [frozenset(map(stem, one["name"].split())) for one in _DOCTOR.finditer(text)]


@lru_cache(maxsize=8_192)  # of a message each word is asked for by several rules
def is_known_name(word: str) -> bool:
    """Whether a folded word is somebody's first or family name anywhere."""
    names = _names()

    def name_at(place: int) -> str:
        return names[names.rindex("\n", 0, place) + 1 : names.index("\n", place)]

    # The list is sorted, so no more than twenty names of it are looked at.
    place = 1 + bisect_left(range(1, len(names)), word, key=name_at)
    return place < len(names) and name_at(place) == word


def is_ordinary_name(word: str) -> bool:
    """Whether a name, folded, is an English word in small letters as well: `bridge`."""
    return word in _ordinary()


def is_only_a_name(word: str) -> bool:
    """Whether a folded word is a name, and no English word as well: `doyle`, no `last wheat`."""
    is_word = is_ordinary_name(word) or stem(word) in ordinary_words() or word in common_words()
    return is_known_name(word) and not (is_word or word in names_that_are_words())


def is_short_for(word: str, given: Collection[str]) -> bool:
    """Whether a folded word is what bearers of one of the first names are called: `peggy`."""
    is_begun = bool(word[2:]) and any(one.startswith(word) for one in given)  # `beth`
    return is_begun or not _short_forms().canonicals_of(word).isdisjoint(given)


@lru_cache(maxsize=1)
def _names() -> str:
    # One text of a megabyte: as a set it would take fifteen.
    return f"\n{LIST.read_text('utf-8')}"


@lru_cache(maxsize=1)
def _ordinary() -> frozenset[str]:
    # Made of the English spelling dictionary SCOWL, less the words of common language.
    return frozenset((_HERE / "names_that_are_ordinary.txt").read_text("utf-8").split())


@lru_cache(maxsize=1)
def _short_forms() -> NickNamer:
    return NickNamer()
