"""The words of chart questions, as the file of a language has them."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from data_models.values import ClosedValue
from services.language.utterance import Aspect, Part, Relation
from services.language.words.vocabulary import read_words


class TopicSpec(ClosedValue):
    """A tool, and words that ask for it."""

    tool: str
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    name: str = ""
    words: tuple[str, ...]


def _apart(topics: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return each topic by itself, of those that stand by their names below one tool."""
    found = list[Mapping[str, Any]]()
    for one in topics:
        shared = {field: value for field, value in one.items() if field != "named"}
        named = one.get("named", {one.get("name", ""): one.get("words")})
        found += [{**shared, "name": name, "words": words} for name, words in named.items()]
    return found


class ChartWords(ClosedValue):
    """The file of one language; its head explains the fields."""

    aspects: Mapping[Aspect, tuple[str, ...]]
    places: Mapping[int, tuple[str, ...]] = Field(default_factory=dict)
    ordinals: Mapping[int, tuple[str, ...]] = Field(default_factory=dict)
    last_but_one: tuple[str, ...] = ()
    above: tuple[str, ...]
    below: tuple[str, ...]
    parts: Mapping[Part, tuple[str, ...]]
    people: tuple[str, ...]
    frames: Mapping[str, tuple[str, ...]]
    topics: Annotated[tuple[TopicSpec, ...], BeforeValidator(_apart)]
    names: Mapping[str, Mapping[str, tuple[str, ...]]]
    endings: Mapping[str, tuple[str, ...]]
    compounds: tuple[str, ...] = ()
    inflections: tuple[str, ...] = ()
    plural: tuple[str, str] = ("", "")
    cased: Mapping[str, str] = Field(default_factory=dict)
    not_chart: Mapping[str, tuple[str, ...]]
    stop: tuple[str, ...]
    beyond: tuple[str, ...] = ()
    excluding: tuple[str, ...] = ()
    either: frozenset[str] = frozenset()
    relative: tuple[str, ...] = ()
    negations: frozenset[str] = frozenset()
    denials: frozenset[str] = frozenset()
    joints: tuple[str, ...]
    connectors: tuple[str, ...]
    head_first: bool = False
    openers: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    ones: tuple[str, ...] = ()
    which: tuple[str, ...] = ()
    apart: Mapping[str, str] = Field(default_factory=dict)
    asking: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    unit_before: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    unit_after: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    relations: Mapping[Relation, tuple[str, ...]] = Field(default_factory=dict)
    both_sides: frozenset[str] = frozenset()
    edges_of_stay: frozenset[str] = frozenset()
    for_it: tuple[str, ...] = ()
    expletives: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    of_all_time: tuple[str, ...] = ()
    specimens: tuple[str, ...] = ()
    at_that_time: tuple[str, ...] = ()
    units: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    at_birth: Mapping[str, str] = Field(default_factory=dict)
    at_age: tuple[str, ...] = ()
    years_of_age: tuple[str, ...] = ()
    months_of_age: tuple[str, ...] = ()
    stages_of_life: Mapping[str, tuple[int, int]] = Field(default_factory=dict)
    compared: tuple[str, ...] = ()
    now: tuple[str, ...] = ()
    on_it: tuple[str, ...] = ()
    since_age: tuple[str, ...] = ()
    before_age: tuple[str, ...] = ()
    spellings: Mapping[str, str] = Field(default_factory=dict)
    digraphs: Mapping[str, str] = Field(default_factory=dict)
    drug_endings: Mapping[str, str] = Field(default_factory=dict)
    counted_as: Mapping[str, str] = Field(default_factory=dict)
    sided: frozenset[str] = frozenset()
    removals: Mapping[str, str] = Field(default_factory=dict)
    removed: tuple[str, ...] = ()
    is_now: tuple[str, ...] = ()
    was_then: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    kin: frozenset[str] = frozenset()
    markers: Mapping[str, str] = Field(default_factory=dict)


@cache
def chart_file(language: str) -> ChartWords:
    """Return the file of `language`; reading it takes a tenth of a second.

    Raises:
        ConfigurationError: it cannot be read or used.
    """
    return read_words(language, "chart", ChartWords)
