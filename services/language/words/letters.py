"""Letters as names are compared: folded, and written out in Latin where a script differs."""

# The letters that look alike are what this file is about.
# ruff: noqa: RUF001

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from services.language.words.expressions import expressions

APOSTROPHES = (
    "'`\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER APOSTROPHE}\N{ACUTE ACCENT}"
    "\N{LEFT SINGLE QUOTATION MARK}"
)
_WITHOUT_MARK = {
    "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ß": "ss", "ð": "d", "þ": "th", "ı": "i",
    "ħ": "h", "ŋ": "ng", "ĸ": "k", "ſ": "s",
}  # fmt: skip
# Letters that a reader takes for Latin ones, where they stand among Latin letters.
_LOOK_ALIKES = {
    **dict(zip("аеорсхуіјѕткнвмԁԛԝһ", "aeopcxyijstkhbmdqwh", strict=True)),
    **dict(zip("αεορτνιχκυ", "aeoptvixku", strict=True)),
}
_OTHER_SCRIPTS = dict(
    pair.split("=")
    for script in ("cyrillic", "greek")
    for pair in expressions("letters").words(script)
)
_INVISIBLE = {"Cf", "Mn", "Me"}
_VOWELS = frozenset("aeiouy")
_LEAST_MAC = 5
_UNHEARD = _VOWELS | {"h"}
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}


@lru_cache(maxsize=8_192)
def folded(word: str) -> str:
    """Return `word` in small Latin letters without marks: `Çelik` and `celik` are one.

    Look-alike letters among Latin ones become those; a word wholly in Cyrillic or Greek letters is
    written out. Letters of other scripts stay.
    """
    if word.isascii():
        return word.lower()
    plain = [
        each
        for each in unicodedata.normalize("NFKD", word).casefold()
        if unicodedata.category(each) not in _INVISIBLE
    ]
    bare = [unicodedata.normalize("NFD", each)[0] for each in word.casefold() if each.isalpha()]
    if bare and all(each in _OTHER_SCRIPTS for each in bare):
        plain = [_OTHER_SCRIPTS.get(each, each) for each in plain]
        return "".join(plain).replace("-", "")
    return "".join(_WITHOUT_MARK.get(each) or _LOOK_ALIKES.get(each, each) for each in plain)


@lru_cache(maxsize=8_192)
def spellings(name: str) -> frozenset[str]:
    """Return how a word of a name may be written: folded, and with `ue` for `ü`."""
    lowered = unicodedata.normalize("NFC", name).casefold()
    written_out = "".join(_UMLAUTS.get(each, each) for each in lowered)
    found = {folded(name), folded(written_out)}
    found |= {f"mc{one[3:]}" for one in found if one.startswith("mac") and len(one) > _LEAST_MAC}
    return frozenset(filter(None, found))


@lru_cache(maxsize=8_192)
def sounds(word: str) -> str:
    """Return how a folded word sounds, by its consonants: `kwitzon` as `quitzon`."""
    for one in expressions("letters").words("sounds"):
        written, _, sound = one.partition("=")
        word = word.replace(written, sound)
    begins = "e" if word[:1] in _VOWELS else word[:1]
    return begins + "".join(one for one, _ in groupby(word[1:]) if one not in _UNHEARD)


def letter_runs(text: str) -> list[str]:
    """Return the words between the signs of a text: Sorensen of `Çelik-Sørensen`."""
    plain = text if text.isalpha() else "".join(each if each.isalpha() else " " for each in text)
    return plain.split()


def has_apostrophe(text: str) -> bool:
    """Whether an apostrophe of whatever form stands in `text`."""
    return any(one in text for one in APOSTROPHES)


def is_without_spaces(word: str) -> bool:
    """Whether `word` is of a script that writes no spaces between words, as Chinese."""
    return any("\u3040" <= each <= "\u9fff" for each in word)


_MOSTLY_CAPITALS = 0.6


def is_shouted(raws: Sequence[str]) -> bool:
    """Whether capitals say nothing, for most words have them."""
    long = [one for one in raws if len(one) > 2]
    if len(long) < 3:
        return bool(long) and all(one.isupper() for one in raws)
    shouted = sum(one.isupper() for one in long) / len(long) > _MOSTLY_CAPITALS
    return shouted or (len(long) > 4 and all(one[0].isupper() for one in long))
