"""Whether a row says certain words. Pure."""

from itertools import pairwise

from data_models.chart_view import ViewRow
from services.language.utterance import ChartQuestion
from services.language.words.folding import fold, tokens_of
from services.records.concepts.words import is_compound_of, roots_of, words_of

_TELLING_CHARS = 4
_WORDS_BEFORE = 8
_IDLE_LETTERS = frozenset("as")


def has_words(row: ViewRow, name: str) -> bool:
    """Whether the row says every word of `name`, also as a code, or within a longer word."""
    codes = (pair.rpartition("|")[2] for pair in row.code)
    return says_all(" ".join((row.name, row.value, row.detail, *codes)), name)


def says_all(said: str, name: str) -> bool:
    """Whether `said` has every word of `name`; letters count where they tell one from another."""
    have = tokens_of(fold(said)[0])
    *before, last = tokens_of(fold(name)[0]) or [""]
    wanted = [word for word in before if len(word) > 1 or word not in _IDLE_LETTERS]
    wanted += [last] if any(map(str.isalnum, last)) and last != "s" else []  # hepatitis A
    return bool(wanted) and all(
        any(is_word(word, each) for each in have) or word in map("".join, pairwise(have))
        for word in wanted  # "birads": BI-RADS
    )


def is_called(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether a row is called just as was typed: "viral sinusitis" is no chronic one."""
    said = question.said if question.said != question.name else ""
    return bool(said) and words_of(row.name.partition(" (")[0]) == words_of(said)


def is_word(wanted: str, said: str) -> bool:
    """Whether a word is `wanted`, in the plural, or a longer one that begins so."""
    stem = wanted.removesuffix("s")
    # "Lives" begins no liver.
    is_longer = len(stem) >= _TELLING_CHARS + (stem != wanted) and said.startswith(stem)
    is_longer |= is_compound_of(stem, said)
    if said == wanted or is_longer:
        return True
    return roots_of(said) == roots_of(wanted)


def passage(text: str, sought: str) -> str:
    """Return the part of a long text around the first word that was looked for."""
    flat = " ".join(text.split())
    said = flat.split(" ")
    wanted = [word for word in tokens_of(fold(sought)[0]) if len(word) > 1]
    at = next(
        (
            number
            for number, word in enumerate(said)
            for own in tokens_of(fold(word)[0])
            if any(is_word(each, own) for each in wanted)
        ),
        0,
    )
    start = max(0, at - _WORDS_BEFORE)
    return f"{'… ' if start else ''}{' '.join(said[start:])}"
