"""What a text looks like to a reader: full-width, accented and look-alike letters made plain."""

# The letters that look alike are what this file is about.
# ruff: noqa: RUF001

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

# Letters of other scripts that a reader takes for Latin ones, after case folding.
_LOOK_ALIKES = {
    **dict(zip("аеорсхуіјѕткнвмԁԛԝһ", "aeopcxyijstkhbmdqwh", strict=True)),  # Cyrillic
    **dict(zip("αεορτνιχκυ", "aeoptvixku", strict=True)),  # Greek
    "ı": "i",
    "ſ": "s",
    "\N{SOFT HYPHEN}": "",
}
_GREEK_CAPITALS = {"Ν": "n", "Η": "h", "Υ": "y", "Χ": "x", "Ρ": "p"}
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63", "-")
_INVISIBLE = {"Cf", "Mn", "Me"}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII_RUN_OR_ONE = re.compile(r"[\x00-\x7f]+|.", re.DOTALL)


@lru_cache(maxsize=64)
def fold(text: str) -> tuple[str, Sequence[int]]:
    """Return `text` folded, and for each folded character the index of the one it comes from.

    Each character is folded by itself, so the parts of a text fold to the parts of its folding.
    Folded means: compatibility forms resolved (full-width, ligatures), lower case, look-alike
    letters and digits as ASCII, marks and invisible characters gone.
    """
    if text.isascii():
        return text.lower(), range(len(text))
    folded: list[str] = []
    origin: list[int] = []
    for part in _ASCII_RUN_OR_ONE.finditer(text):
        if part[0].isascii():  # most of a text in most languages
            folded.append(part[0].lower())
            origin.extend(range(part.start(), part.end()))
            continue
        plain = _plain(part[0])
        folded.append(plain)
        origin.extend([part.start()] * len(plain))
    return "".join(folded), origin


@lru_cache(maxsize=4_096)
def _plain(character: str) -> str:
    if character in _GREEK_CAPITALS:
        return _GREEK_CAPITALS[character]
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    return "".join(
        _plain_part(part) for part in decomposed if unicodedata.category(part) not in _INVISIBLE
    )


def _plain_part(part: str) -> str:
    if part in _DASHES:
        return "-"
    digit = unicodedata.decimal(part, None)
    return _LOOK_ALIKES.get(part, part) if digit is None else str(digit)


def with_plain_letters(text: str) -> str:
    """Return `text` with look-alike and invisible characters resolved, ASCII left as it is."""
    return text if text.isascii() else _NOT_ASCII.sub(lambda one: _plain(one[0]), text)


_APOSTROPHES = re.compile("[\u2019'`\u00b4]")
_ELIDED = re.compile("(?<!\\w)(?:l|d|j|m|n|s|t|c|qu)[\u2019'`\u00b4]")
_TOKEN = re.compile(
    r"[a-z0-9.]*\d[a-z0-9.%]*[a-z0-9%]|[^\W_]\+(?!\w)|[^\W_]+|[<>]=?|[,;?&/%]|#(?!\d)"
)
_WORDS = re.compile(r"[^\W_]+|[\u2600-\u27bf\U0001f100-\U0001faff]")
_SKIN = dict.fromkeys(range(0x1F3FB, 0x1F400))


@lru_cache(maxsize=512)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words and pictures of `text` folded, apostrophes closed: `don't` is `dont`."""
    plain = with_plain_letters(text.translate(_SKIN)).lower()
    return tuple(_WORDS.findall(_APOSTROPHES.sub("", plain)))


@lru_cache(maxsize=2_048)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return the words of `text` folded; apostrophes are closed, elided articles gone."""
    plain = _APOSTROPHES.sub("", _ELIDED.sub("", with_plain_letters(text).lower()))
    return tuple(_TOKEN.findall(plain.replace("_", " ")))
