"""Whether a row says certain words. Pure."""

from functools import lru_cache
from itertools import pairwise

from data_models.chart_view import ViewRow
from services.language.utterance import ChartQuestion
from services.language.words.folding import tokens_of
from services.records.concepts.table import concept_table
from services.records.concepts.words import is_compound_of, roots_of, spelt_out, words_of

_TELLING_CHARS = 4
_OF_MANY_NAMES = frozenset({"results", "medications"})
_WORDS_BEFORE = 8
_IDLE_LETTERS = frozenset("as")


def has_words(row: ViewRow, *names: str) -> bool:
    """Whether the row says every word of a name, also as a code, by first letters, or within."""
    codes = (pair.rpartition("|")[2] for pair in row.code)
    said, called = " ".join((row.name, row.value, row.detail, *codes)), words_of(row.name)
    return any(says_all(said, one) or spelt_out(one.casefold(), called) for one in names)


def says_all(said: str, name: str) -> bool:
    """Whether `said` has every word of `name`; letters count where they tell one from another."""
    have = tokens_of(said)
    *before, last = tokens_of(name) or [""]
    wanted = [word for word in before if len(word) > 1 or word not in _IDLE_LETTERS]
    wanted += [last] if any(map(str.isalnum, last)) and last != "s" else []  # hepatitis A
    letters = _forms_of(have)[1]
    return bool(wanted) and all(
        is_word_of(word, have)
        or (word in letters and word in map("".join, pairwise(have)))  # "birads": BI-RADS
        for word in wanted
    )


def is_called(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether a row is called just as was typed: "viral sinusitis" is no chronic one.

    Another name of a value or a drug tells no row apart: neither "Kalium" nor "Eliquis".
    """
    said = question.said if question.said != question.name else ""
    others = concept_table().also_called(question.name)
    if question.tool in _OF_MANY_NAMES and " ".join(words_of(said)) in others:
        return False
    return bool(said) and words_of(row.name.partition(" (")[0]) == words_of(said)


def is_word_of(wanted: str, said: tuple[str, ...]) -> bool:
    """Whether one of the words is `wanted`, in the plural, or a longer one that begins so."""
    roots, letters = _forms_of(said)
    if wanted in said or roots_of(wanted) in roots:
        return True
    stem = wanted.removesuffix("s")
    begins = len(stem) >= _TELLING_CHARS + (stem != wanted)  # "lives" begins no liver
    return stem in letters and any(
        (begins and one.startswith(stem)) or is_compound_of(stem, one) for one in said
    )


@lru_cache(maxsize=2_048)
def _forms_of(said: tuple[str, ...]) -> tuple[frozenset[tuple[str, ...]], str]:
    """Return the roots of words, and the letters of all: what neither has is no word of theirs."""
    return frozenset(map(roots_of, said)), "".join(said)


def passage(text: str, sought: str) -> str:
    """Return the part of a long text around the first word that was looked for."""
    flat = " ".join(text.split())
    said = flat.split(" ")
    wanted = [word for word in tokens_of(sought) if len(word) > 1]
    tokens = enumerate(map(tokens_of, said))
    at = next((n for n, own in tokens if any(is_word_of(one, own) for one in wanted)), 0)
    start = max(0, at - _WORDS_BEFORE)
    return f"{'… ' if start else ''}{' '.join(said[start:])}"
