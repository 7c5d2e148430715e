"""Every phrase that languages have for chart questions, with what it may be. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import takewhile
from typing import Any

from services.language.charts.chart_file import ChartWords, chart_file
from services.language.charts.chart_pieces import Label, LabelKind, NameIs
from services.language.words.folding import fold
from services.language.words.people_words import common_words, of_people
from services.language.words.vocabulary import LANGUAGES, concept_rows


def entries_of(words: ChartWords, language: str) -> Iterator[tuple[str, Label]]:
    """Yield every phrase of a language's file with what it may be."""
    said: tuple[tuple[LabelKind, Mapping[Any, tuple[str, ...]]], ...] = (
        ("aspect", words.aspects),
        ("part", words.parts),
        ("frame", words.frames),
        ("unit", words.units),
        ("not_chart", words.not_chart),
    )
    for kind, phrases_of in said:
        for value, phrases in phrases_of.items():
            yield from ((phrase, Label(kind, value)) for phrase in phrases)
    yield from _places(words)
    around = {side: said for side, said in words.relations.items() if side != "within"}
    yield from ((phrase, Label("frame", "around")) for said in around.values() for phrase in said
                if phrase in around.get("at", ()) or " " in phrase)  # fmt: skip
    for topic in words.topics:
        yield from ((phrase, Label("topic", topic)) for phrase in topic.words)
    yield from names_in(words, language)
    kinds: tuple[tuple[LabelKind, tuple[str, ...]], ...] = (
        ("before", words.before),
        ("then", words.at_that_time),
        ("for_it", words.for_it),
        ("above", words.above),
        ("below", words.below),
        ("people", words.people),
        ("stop", (*words.stop, *words.negations)),
        ("beyond", words.beyond),
        ("excluding", words.excluding),
    )
    for kind, phrases in kinds:
        yield from ((phrase, Label(kind, "")) for phrase in phrases)


def _places(words: ChartWords) -> Iterator[tuple[str, Label]]:
    """Yield what counts from an end: the second highest, the third last."""
    yield from ((phrase, Label("place", 2)) for phrase in words.last_but_one)
    for place, heads in words.places.items():
        for end in ("minimum", "maximum", "latest"):
            for phrase in (f"{head}{each}" for head in heads for each in words.aspects[end]):
                yield phrase, Label("place", place)
                if end != "latest":
                    yield phrase, Label("aspect", end)


def names_in(words: ChartWords, language: str) -> Iterator[tuple[str, Label]]:
    """Yield the names of a language's file, and what it is to be without an organ."""
    for organ, done in words.removals.items():
        label = Label("name", NameIs("procedures", done))
        yield from ((f"{organ} {deed}", label) for deed in words.removed)
    for tool, names in words.names.items():
        for name, phrases in names.items():
            label = Label("name", NameIs(tool, name))
            # Of another language the name is the English one, and no word of it.
            said = (name, *phrases) if language == "en" or not phrases else phrases
            yield from ((phrase, label) for phrase in said)


def shared_in(words: ChartWords) -> Iterator[tuple[str, Label]]:
    """Yield what of the English file every language reads: names, and genes with their markers."""
    yield from names_in(words, "en")
    genes = (one for one in words.topics if one.tool == "biomarkers" and one.name)
    yield from ((phrase, Label("topic", one)) for one in genes for phrase in one.words)


@cache
def chart_nouns(*tools: str) -> frozenset[str]:
    """Return the single words, folded, by which any language asks for a part of a chart.

    Args:
        tools: With any, only names of what these find: `fracture`, `Dialyse`.
    """
    return frozenset(
        fold(phrase)[0]
        for language, words in _of_all_languages()
        for phrase, label in entries_of(words, language)
        if label.kind == "name" or (label.kind == "topic" and not tools)
        if " " not in phrase and (not tools or label.value.tool in tools)
    )


@cache
def measured_nouns() -> frozenset[str]:
    """Return the single words, folded, for what is measured: `sodium`, `Kalium`, `LDH`.

    A word of common language is one only where a question of a chart is asked by it: not `job`.
    """
    asked = [words.names.get("results", {}) for _, words in _of_all_languages()]
    coded = {name: row.get("words", ()) for name, row in concept_rows()["results"].items()}
    used = common_words() | of_people("letter_pairs")  # as messages are read, HER2 is "her"
    told = (one for one in _single_words(coded) if "".join(takewhile(str.isalpha, one)) not in used)
    ends = ("", *of_people("ends_of_values"))  # `Kaliumwert`
    return frozenset(f"{one}{end}" for one in _single_words(*asked).union(told) for end in ends)


def _single_words(*tables: Mapping[str, Iterable[str]]) -> frozenset[str]:
    rows = (row for one in tables for row in one.items())
    said = (phrase for name, phrases in rows for phrase in (name, *phrases))
    return frozenset(fold(phrase)[0] for phrase in said if " " not in phrase)


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
    return ((language, chart_file(language)) for language in LANGUAGES)
