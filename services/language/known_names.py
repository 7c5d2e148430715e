"""Which words are people's names anywhere: a published list, so that a stranger is told."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from nicknames import NickNamer

_HERE = Path(__file__).parent
LIST = _HERE / "people_names.txt"
"""Some 120,000 first and family names, folded; `python -m scripts.people_names` writes them."""


def is_known_name(word: str) -> bool:
    """Whether a folded word is somebody's first or family name anywhere."""
    return f"\n{word}\n" in _names()


def is_ordinary_name(word: str) -> bool:
    """Whether a name, folded, is an English word in small letters as well: `bridge`."""
    return word in _ordinary()


def is_short_for(word: str, given: Collection[str]) -> bool:
    """Whether a folded word is what bearers of one of the first names are called: `peggy`."""
    return not _short_forms().canonicals_of(word).isdisjoint(given)


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
