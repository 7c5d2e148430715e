"""Words that point at something shown before, and figures. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from services.language.utterance import Reference
from services.language.words.folding import words_of
from services.language.words.vocabulary import LANGUAGES, folded, numbers_of_all, replies

_FIGURE = re.compile(r"(?<![\w.,/-])[-+]?\d{1,9}(?:[.,]\d{1,6})?(?![\w/-]|[.,]\d)")
_PLACE_WORDS = 3
_KINDS: tuple[Literal["other", "several", "it"], ...] = ("other", "several", "it")


def references_in(text: str) -> tuple[Reference, ...]:
    """Return what `text` points at: places of a list first, then "the other", "both", "it"."""
    words = words_of(text)
    places = tuple(_places(words))
    found = [Reference("ordinal", places)] if places else []
    said = f" {' '.join(words)} "
    kind = next((one for one in _KINDS if any(each in said for each in _pointing()[one])), None)
    return (*found, Reference(kind)) if kind is not None else tuple(found)


def place_in(text: str) -> int | None:
    """Return the place of a list that the whole of `text` says: "2", "no. 2", "the second one"."""
    if (number := number_alone_in(text)) is not None:
        return number
    words = words_of(text)
    if len([word for word in words if word not in _NUMBERING]) > _PLACE_WORDS:
        return None
    pointed = references_in(text)
    is_one = len(pointed) == 1 and len(pointed[0].places) == 1
    places = _places(words) if is_one else ()
    return next((place for place in places if place > 0), None)


def places_alone_in(text: str) -> tuple[int, ...]:
    """Return the places that `text` says and nothing else: "the first two", "the last note".

    "The note" alone is the last one.
    """
    words = [word for word in words_of(text) if word not in _NOTES]
    is_bare = all(word in _ordinals() or word in _nouns() or word in _AROUND for word in words)
    is_one = bool({"note", "notiz"}.intersection(words_of(text)))
    return (tuple(_places(words)) or (-1,) * is_one) if is_bare else ()


def number_alone_in(text: str) -> int | None:
    """Return the number that the whole of `text` is: "2", "#2", "option 2", "Nummer 2"."""
    words = [word for word in words_of(text) if word not in _NUMBERING]
    is_number = len(words) == 1 and words[0].isascii() and words[0].isdigit()
    return int(words[0]) if is_number and len(words[0]) <= 2 else None


def numbers_in(text: str) -> tuple[float, ...]:
    """Return the figures of `text` outside of dates and ids, and its number words."""
    figures = [float(each.replace(",", ".")) for each in _FIGURE.findall(text)]
    known = numbers_of_all()
    said = (word for word in words_of(text) if word in known and word not in _VAGUE)
    return (*figures, *[float(known[word]) for word in said])


# Articles that are number words too.
_VAGUE = frozenset({"one", "ein", "eine", "un", "une", "uno", "una"})


def _places(words: Sequence[str]) -> Iterator[int]:
    """Yield the places said: an ordinal with "one" or "option" behind it, or by itself."""
    ordinals, nouns = _ordinals(), _nouns()
    is_bare = all(word in ordinals or word in nouns or word in _AROUND for word in words)
    for at, word in enumerate(words):
        if word in ordinals and (is_bare or (at + 1 < len(words) and words[at + 1] in nouns)):
            yield ordinals[word]


_NUMBERING = frozenset({"number", "no", "nr", "nummer", "option", "the", "die", "der", "das"})
_NOTES = frozenset(words_of("note notes notiz notizen"))
_AROUND = frozenset(words_of("the and please take then der die das den dem und dann bitte"))


@cache
def _ordinals() -> Mapping[str, int]:
    said = [one for language in LANGUAGES for one in replies(language).ordinals.items()]
    return {words_of(word)[0]: place for word, place in reversed(said)}


@cache
def _nouns() -> frozenset[str]:
    return frozenset(
        folded(n)[0] for language in LANGUAGES for n in replies(language).ordinal_nouns
    )


@cache
def _pointing() -> Mapping[str, frozenset[str]]:
    return {
        kind: frozenset(
            f" {' '.join(folded(phrase))} "
            for language in LANGUAGES
            for phrase in replies(language).pointing.get(kind, ())
        )
        for kind in _KINDS
    }
