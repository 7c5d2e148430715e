"""In which list of a chart a name stands, and names that are read as one word. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from services.language.words.same_names import kinds_of_groups
from services.language.words.statement_phrases import FoundPhrase
from services.language.words.statement_tables import read_names, saying, stem

_LISTS = {
    "medication": ("drugs", "drug_endings"),
    "problem": ("diagnoses", "diagnosis_endings"),
    "procedure": ("procedures", "procedure_endings"),
    "immunization": ("vaccines", "vaccine_endings"),
}
_LONG_CHARS = 6
"""Of shorter words the ending says nothing."""
_ILLNESSES = frozenset({"disease", "disorder", "syndrome", "failure", "insufficiency"})


@lru_cache(maxsize=4_000)
def kind_of_name(name: str) -> str:
    """Return `medication`, `problem` or `procedure` for a stem or a group; "" for anything else."""
    if name in (kinds := kinds_of_groups()):
        return kinds[name]
    words = [stem(word) for word in name.removeprefix("=").split()]
    if not _ILLNESSES.isdisjoint(words):
        return "problem"
    for kind, (names, endings) in _kinds().items():
        if any(
            word in names or (len(word) > _LONG_CHARS and word.endswith(endings)) for word in words
        ):
            return kind
    return ""


@lru_cache(maxsize=1)
def _kinds() -> dict[str, tuple[frozenset[str], tuple[str, ...]]]:
    content = read_names()
    return {
        kind: (
            frozenset(stem(word) for word in content[names].split()),
            tuple(content[endings].split()),
        )
        for kind, (names, endings) in _LISTS.items()
    }


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


def which_of_kind(lower: Sequence[str], found: Sequence[FoundPhrase]) -> Iterator[str]:
    """Yield whether what follows was the first or the last of a kind: "her last visit was"."""
    kinds = {one.end: one.start for one in found if one.said.topics}
    for at in (one.start for one in found if "asserts" in one.tags):
        start = kinds.get(at, at)
        while at not in kinds and start and lower[start - 1] in saying("of_a_stay"):
            start -= 1
        last = [one.tags for one in found if one.end == start and "newest" in one.tags]
        if start < at and last and "current" not in last[0]:
            yield "last_of_kind"
        if 0 < start < at and stem(lower[start - 1]) in saying("at_first"):
            yield "first_of_kind"
