"""Whether texts name one of many people, however the name is written. Pure."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from services.language.pointing.folding import plain
from services.language.words.people_words import of_people

CHECKED_LIMIT_CHARS = 10_000_000
"""A longer text is taken to name another patient: nobody looks through it."""
_PIECE_CHARS = 50_000
_NAME_CHARS = 300
_NAME_WORDS = 4
_OF_A_NAME = frozenset({"id", "name", "email"})
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_WORD = re.compile(r"[^\W_]+")
_BREAK = re.compile(r"[\x00-/:-@\[-`{-\x7f]")  # never inside a word, whatever is folded
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_SPELT = re.compile(r"([aou])e")
_SPELT_LEAST_CHARS = 5
# Soft hyphens, joiners, marks of direction: nobody sees them.
_UNSEEN = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
# Where two words may have been written as one: `ScanDoyle`, `doyle2026`.
_SEAM = re.compile(
    r"(?<=[a-z\u00df-\u00ff])(?=[A-Z\u00c0-\u00de])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
_Form: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Forms:
    """What is looked for, by its first word."""

    by_first: Mapping[str, Collection[_Form]]

    def are_in(self, words: Sequence[str], but: Collection[str] = ()) -> bool:
        """Whether one of them stands in `words` that is not one of the words `but` alone."""
        return any(
            tuple(words[at : at + len(form)]) == form
            for at, word in enumerate(words)
            if word in self.by_first
            for form in self.by_first[word]
            if not (word in but and len(form) == 1)
        )


def names_one_of(row: Mapping[str, Any], others: Collection[str], *, called: str = "") -> bool:
    """Whether `row` holds one of `others`, ids or names of people, as whole words.

    Case, accents, what stands between the words and what nobody sees make no difference. Takes
    time in proportion to the text, of which it holds a piece at a time.

    Args:
        called: The name of whom the row is about, as in an address book. Beside a given name of
            his own his family name alone is no other's.
    """
    if not others:
        return False
    forms = _forms(others if isinstance(others, frozenset) else frozenset(others))
    but = _own_words(called, forms)
    return any(
        _is_in(text, forms, but if key in _OF_A_NAME else ())
        for key, value in row.items()
        for text in (str(key), *_texts(value))
    )


def _own_words(called: str, forms: _Forms) -> Collection[str]:
    words = words_of(called)
    titles = of_people("titles_of_men", "titles_of_women", "titles_of_patients")
    if len(words) > _NAME_WORDS or not of_people("relatives").isdisjoint(words):
        return ()  # "Anna, daughter of Doyle" tells of the patient
    given = (one for one in words if len(one) > 1 and one not in titles)
    has_given = any((one,) not in forms.by_first.get(one, ()) for one in given)
    return frozenset(words) if has_given else ()


def words_of(text: str) -> _Form:
    """Return the words and numbers of `text` without case and accents."""
    return tuple(_WORD.findall(_FOREIGN.sub(lambda found: _plain_run(found[0]), text).lower()))


@lru_cache(maxsize=4_096)  # a language has few runs of letters that are not ASCII
def _plain_run(run: str) -> str:
    return plain(run).casefold().translate(_LETTERS)


def _is_in(text: str, forms: _Forms, but: Collection[str]) -> bool:
    if len(text) > CHECKED_LIMIT_CHARS:
        return True
    return any(forms.are_in(words, but) for piece in _pieces(text) for words in _readings(piece))


def _pieces(text: str) -> Iterator[str]:
    """Cut a text between words; a name across a cut is whole in the next piece."""
    start = 0
    while len(text) - start > _PIECE_CHARS:
        if (cut := _BREAK.search(text, start + _PIECE_CHARS)) is None:
            break
        yield text[start : cut.start()]
        again = _BREAK.search(text, cut.start() - _NAME_CHARS, cut.start())
        start = (again or cut).start()
    yield text[start:]


def _readings(piece: str) -> Iterator[_Form]:
    """Yield the words of a piece: as it is, without what nobody sees, with words apart that touch.

    Not one for all: what nobody sees may stand inside a word or between two.
    """
    yield words_of(piece)
    seen = _UNSEEN.sub("", piece)
    if len(seen) != len(piece):
        yield words_of(seen)
    apart = _SEAM.sub(" ", seen)
    if len(apart) != len(seen):
        yield words_of(apart)


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value)
    elif node is not None:
        yield str(node)


def prepare(others: frozenset[str]) -> None:
    """Make ready to look for `others`: with thousands of patients that takes a tenth of a second.

    Call in a thread.
    """
    _forms(others)


@lru_cache(maxsize=8)  # 10 MB each for 5,000 patients
def _forms(others: frozenset[str]) -> _Forms:
    by_first: dict[str, set[_Form]] = {}
    for one in others:
        for form in _spellings(one):
            if form:
                by_first.setdefault(form[0], set()).add(form)
    return _Forms(by_first)


def _spellings(name: str) -> Iterator[_Form]:
    """Yield the words of a name, its numbers apart, its umlauts in two letters and in one."""
    words = words_of(name)
    yield words
    if _SEAM.search(name):
        yield words_of(_SEAM.sub(" ", name))
    if not name.isascii():
        yield words_of(unicodedata.normalize("NFC", name).casefold().translate(_SPELT_OUT))
    if any(map(_SPELT.search, words)):
        yield tuple(w if len(w) < _SPELT_LEAST_CHARS else _SPELT.sub(r"\1", w) for w in words)
