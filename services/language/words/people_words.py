"""The words beside names, and the words of common language that are names too: lists as data."""

import re
from collections.abc import Mapping
from functools import cache, reduce
from itertools import chain
from pathlib import Path

from services.language.words.letters import folded
from services.language.words.statement_tables import read_table

_HERE = Path(__file__).parents[1]
_WRITTEN_OUT = re.compile(r"\b(?=\w{4})\w*[aou]e\w*", re.IGNORECASE)


@cache
def of_people(*names: str) -> frozenset[str]:
    """Return the words of lists of `people_words.yaml` together, folded."""
    return frozenset().union(*(_lists()[name] for name in names))


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    lists = read_table(_HERE / "people_words.yaml")
    lists["no_names"] += chain(*read_table(_HERE / "en" / "in_english.yaml")["slips"].values())
    return {name: frozenset(map(folded, words)) for name, words in lists.items()}


@cache
def names_that_are_words() -> frozenset[str]:
    """Return words of common language that are family names as well, folded."""
    return of_people("family_too", "surnames_too", "surnames") | frozenset(_words_of("names"))


@cache
def common_words() -> frozenset[str]:
    """Return words of the common language of five languages, folded."""
    words = {word for one in (_HERE / "common_words").glob("*.txt") for word in _words_of(one.stem)}
    return frozenset(words) | _beside()


@cache
def names_in_english() -> frozenset[str]:
    """Return names that are words of other languages, and none of English: `estrella`."""
    return frozenset(_words_of("names")).difference(_words_of("en"), _beside())


def in_one_letter(text: str) -> str:
    """Return `text` with umlauts in one letter where only so it has a common word: "dafuer"."""
    return _WRITTEN_OUT.sub(lambda one: _in_one_letter(one[0]), text)


def _in_one_letter(word: str) -> str:
    umlauts = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"), ("Ae", "Ä"), ("Oe", "Ö"), ("Ue", "Ü"))
    plain = reduce(lambda said, one: said.replace(*one), umlauts, word)
    return plain if folded(word) not in common_words() and folded(plain) in common_words() else word


def _words_of(name: str) -> list[str]:
    return (_HERE / "common_words" / f"{name}.txt").read_text(encoding="utf-8").split()


def _beside() -> frozenset[str]:
    return of_people(
        "told_apart_by", "seasons", "opening", "people", "staff", "relatives", "described_by",
        "before_names", "qualities", "eponym_heads",
    )  # fmt: skip
