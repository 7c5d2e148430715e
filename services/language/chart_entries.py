"""Every phrase that the file of a language has for chart questions, with what it may be. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from services.language.chart_file import ChartWords
from services.language.chart_pieces import Label, LabelKind, NameIs


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
