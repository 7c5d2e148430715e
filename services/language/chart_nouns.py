"""The words by which any language asks for things of a chart."""

from collections.abc import Iterator
from functools import cache

from services.language.chart_entries import entries_of
from services.language.chart_file import ChartWords
from services.language.folding import fold
from services.language.vocabulary import LANGUAGES, read_words


@cache
def chart_nouns() -> frozenset[str]:
    """Return the single words, folded, by which any language asks for a part of a chart."""
    return frozenset(
        fold(phrase)[0]
        for language, words in _of_all_languages()
        for phrase, label in entries_of(words, language)
        if label.kind in ("topic", "name") and " " not in phrase
    )


@cache
def measured_nouns() -> frozenset[str]:
    """Return the single words, folded, for what is measured: `sodium`, `Kalium`."""
    return frozenset(
        fold(phrase)[0]
        for _, words in _of_all_languages()
        for name, phrases in words.names.get("results", {}).items()
        for phrase in (name, *phrases)
        if " " not in phrase
    )


@cache
def names_of(*tools: str) -> frozenset[str]:
    """Return the single words, folded, that name what these tools find: `fracture`, `Dialyse`."""
    return frozenset(
        fold(phrase)[0]
        for language, words in _of_all_languages()
        for phrase, label in entries_of(words, language)
        if label.kind == "name" and label.value.tool in tools and " " not in phrase
    )


@cache
def words_of_questions() -> frozenset[str]:
    """Return every word, folded, with which any language asks for anything of a chart."""
    return frozenset(
        token
        for language, words in _of_all_languages()
        for phrase, _ in entries_of(words, language)
        for part in phrase.split()
        for token in fold(part)[:1]
    )


def _of_all_languages() -> Iterator[tuple[str, ChartWords]]:
    return ((language, read_words(language, "chart", ChartWords)) for language in LANGUAGES)
