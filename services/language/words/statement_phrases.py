"""The phrases by which statements are read, and what each says."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from services.language.words.same_names import concept_names, group_of, names_of_cancers, wider_of
from services.language.words.statement_tables import all_of, shared, stem, translated_names

_SMALL_CHARS = 3
_LONG_CHARS = 6
_CUES = (
    "no", "recorded", "nothing", "current", "takes", "ended", "begun", "when", "newest", "before",
    "highest", "lowest", "rising", "falling", "high", "low", "normal", "asserts",
    "steady", "is_now", "objects_follow", "maybe", "about_patient", "general", "as_you_said",
    "approximately", "family", "weak", "splits", "doers", "first_person", "not_yet", "things_done",
    "errands",    "stages", "range", "tolerates", "clinical", "of_chart", "altered",
    "weight_change", "height_change", "than_lately", "planned", "outstanding",
)  # fmt: skip


_KINDS_OF_ROWS = (
    ("deed", "deeds"), ("often", "frequencies"), ("smoking", "smoking"), ("link", "links")
)  # fmt: skip
_OF_THINGS = frozenset({"things_done", "errands", "stages", "family"})


class Phrase(NamedTuple):
    """One or more words and what they say, such as `no`, `deed:booked`, `often:2/d`."""

    words: tuple[str, ...]
    tags: frozenset[str]


class Said(NamedTuple):
    """What tags say, by their kind, each tag without its prefix.

    Attributes:
        is_cue_only: Whether a phrase of such tags says how something is, and not what.
    """

    same: tuple[str, ...]
    means: tuple[str, ...]
    topics: tuple[str, ...]
    wider: tuple[str, ...]
    often: tuple[str, ...]
    is_cue_only: bool


@lru_cache(maxsize=20_000)
def said_by(tags: frozenset[str]) -> Said:
    """Return what `tags` say."""
    prefixes = ("same:", "means:", "topic:", "wider:", "often:")
    same, means, topics, wider, often = (
        tuple(tag.removeprefix(prefix) for tag in sorted(tags) if tag.startswith(prefix))
        for prefix in prefixes
    )
    is_of_thing = all(tag in _OF_THINGS or tag.startswith("topic:") for tag in tags)
    return Said(same, means, topics, wider, often, bool(same or means) or not is_of_thing)


class FoundPhrase(NamedTuple):
    """A phrase in a list of words: its first word, the one behind its last, and what it says."""

    start: int
    end: int
    tags: frozenset[str]
    said: Said


def _tagged(
    files: Sequence[Mapping[str, Any]], names: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield every phrase with one thing that it says."""
    for prefix, groups in (("same", names["same"]), ("topic", names["topics"])):
        yield from (
            (phrase, f"{prefix}:={group[0].lower()}") for group in groups for phrase in group
        )
    yield from (
        (phrase, f"wider:{wider}")
        for group in names["same"]
        for phrase in group
        for wider in wider_of(phrase)
    )
    for cue in _CUES:
        yield from ((phrase, cue) for phrase in all_of(files, cue))
    for prefix, key in _KINDS_OF_ROWS:
        rows = [row for one in files for row in one.get(key, {}).items()]
        yield from ((phrase, f"{prefix}:{kind}") for kind, row in rows for phrase in row)
    known = {phrase for group in names["same"] for phrase in group}
    yield from (
        (phrase, f"same:{group}" if (group := group_of(name)) else f"means:{name}")
        for phrase, name in translated_names()
        if phrase.lower() not in known
    )


def phrases_of(
    files: Sequence[Mapping[str, Any]], names: Mapping[str, Any]
) -> dict[str, tuple[Phrase, ...]]:
    """Return the phrases of all languages by their first word, the longest first."""
    tags: dict[tuple[str, ...], set[str]] = {}
    for phrase, tag in _tagged(files, names):
        tags.setdefault(tuple(phrase.lower().split()), set()).add(tag)
    for words, found in tags.items():
        if any("asserts" in tags.get((word,), ()) for word in words):
            found.add("asserts")
    by_first: dict[str, list[Phrase]] = {}
    for words, found in sorted(tags.items(), key=lambda row: -len(row[0])):
        by_first.setdefault(words[0], []).append(Phrase(words, shared(frozenset(found))))
    return {first: tuple(rows) for first, rows in by_first.items()}


def named_concepts() -> dict[str, tuple[Phrase, ...]]:
    """Return the names of the table of concepts by the first stem, the longest first."""
    by_first: dict[str, list[Phrase]] = {}
    for stems, one in sorted(concept_names().items(), key=lambda row: -len(row[0])):
        tags = {f"same:{one.group}", *(f"wider:{group}" for group in one.wider)}
        tags |= {"in_capitals"} if one.is_short else set()
        by_first.setdefault(stems[0], []).append(Phrase(stems, shared(frozenset(tags))))
    for word, name in names_of_cancers():
        if len(word) > _LONG_CHARS:
            tags = {f"means:{name.lower()}"}
            stems = tuple(map(stem, word.split()))
            by_first.setdefault(stems[0], []).insert(0, Phrase(stems, shared(frozenset(tags))))
    return {first: tuple(rows) for first, rows in by_first.items()}


def named_of_themselves(concepts: Mapping[str, Sequence[Phrase]]) -> Iterator[Sequence[Phrase]]:
    """Yield the names whose words say what they name: not `chest` of what is of the chest."""
    rows = [one for row in concepts.values() for one in row]
    kinds = {tag.partition(":")[2] for one in rows for tag in one.tags if tag[:6] == "wider:"}
    others = {f"same:{kind}": tuple(map(stem, kind[1:].split())) for kind in kinds}
    yield [
        one
        for one in rows
        if len(one.words) == 1 or all(others.get(tag, one.words) == one.words for tag in one.tags)
    ]


def named_by(phrase: Phrase) -> set[frozenset[str]]:
    """Return the groups, or the stems in English, that a phrase is a name of."""
    found: set[frozenset[str]] = set()
    for tag in phrase.tags:
        kind, _, name = tag.partition(":")
        if kind in ("same", "topic"):
            found.add(shared(frozenset({name})))
        elif kind == "means":
            stems = (stem(word) for word in name.split() if len(word) > _SMALL_CHARS)
            found.add(shared(frozenset(stems)))
    return found
