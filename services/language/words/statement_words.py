"""The words by which sentences state something of a patient, in every language that is known."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from services.language.words.statement_phrases import (
    FoundPhrase,
    Phrase,
    named_by,
    named_concepts,
    named_of_themselves,
    phrases_of,
    said_by,
)
from services.language.words.statement_tables import (
    all_of,
    by_word,
    numbers_of,
    parts_of_year,
    places_of,
    read_names,
    shared,
    statement_files,
    stem,
    translated_names,
)

_BEGINNING = 6
_HERE = Path(__file__).parents[1]
_ERRANDS = frozenset({"errands"})
_ByTwo: TypeAlias = Mapping[tuple[str, ...], Sequence[Phrase]]


@dataclass(frozen=True, slots=True)
class StatementWords:
    """Vocabulary of statements, in lower case; most lists are told in `en/statements.yaml`.

    Attributes:
        phrases: By first word, the longest first.
        concepts: Names of the table of concepts, by their stems, in the same order.
        longer: Of both those of several words, by the first two.
        names: Stems of drugs, tests, diagnoses and procedures, and how their names end.
        neutral: Stems that claim nothing: of common language, or sides and numbers, which are
            compared as such.
        spoken: Stems of the words of all phrases that say how something is, and not what.
        named: For stems of the words of names, what these name: a group, or stems in English.
        translated: Stems of names in other languages than the record's.
        happening: Stems of what happened to a thing, which a row of it alone does not say, and
            the beginnings of words that do.
        better: For names of tests the course that is better, `rising` or `falling`.
        in_capitals: Short names that are words of a language in small letters.
        panels: For names of tests the stems by which those of one kind are called.
        ills: For names of tests the illness for which a drug is given that is told for them.
    """

    phrases: Mapping[str, Sequence[Phrase]]
    concepts: Mapping[str, Sequence[Phrase]]
    longer: tuple[_ByTwo, _ByTwo]
    joints: frozenset[str]
    imperatives: frozenset[str]
    advising: frozenset[str]
    abbreviations: frozenset[str]
    names: frozenset[str]
    endings: tuple[str, ...]
    not_names: frozenset[str]
    common: frozenset[str]
    soft: frozenset[str]
    filling: frozenset[str]
    fillers: frozenset[str]
    exclusive: Mapping[str, tuple[str, int]]
    polar: frozenset[str]
    ending: frozenset[str]
    neutral: frozenset[str]
    spoken: frozenset[str]
    named: Mapping[str, frozenset[frozenset[str]]]
    translated: frozenset[str]
    happening: Mapping[str, tuple[str, ...]]
    sides: Mapping[str, str]
    places: Mapping[str, tuple[str, ...]]
    months: Mapping[str, int]
    numbers: Mapping[str, int]
    nth: Mapping[str, int]
    parts_of_year: Mapping[str, tuple[int, ...]]
    times: Mapping[str, int]
    counted: Mapping[str, str]
    refusing: frozenset[str]
    deeds: Mapping[str, frozenset[str]]
    panels: Mapping[str, frozenset[str]]
    better: Mapping[str, str]
    ills: Mapping[str, str]
    in_capitals: frozenset[str]

    def found_in(self, words: Sequence[str]) -> Iterator[FoundPhrase]:
        """Yield the phrases in `words` from the left, the longest at each place."""
        end, said, stems = 0, tuple(words), tuple(map(stem, words))
        for at, word in enumerate(said):
            if at < end or (word not in self.phrases and stems[at] not in self.concepts):
                continue
            phrase = _first_at(at, said, self.phrases, self.longer[0])
            least = len(phrase.words) if phrase is not None else 0
            phrase = _first_at(at, stems, self.concepts, self.longer[1], least) or phrase
            if phrase is not None:
                end = at + len(phrase.words)
                yield FoundPhrase(at, end, phrase.tags, said_by(phrase.tags))


def _first_at(
    at: int,
    words: tuple[str, ...],
    phrases: Mapping[str, Sequence[Phrase]],
    longer: _ByTwo,
    longer_than: int = 0,
) -> Phrase | None:
    """Return the longest phrase that begins at a place, if it is longer than so many words."""
    for one in longer.get(words[at : at + 2], ()):
        size = len(one.words)
        if size <= longer_than:
            return None
        if words[at : at + size] == one.words:
            return one
    alone = phrases[words[at]][-1] if not longer_than and words[at] in phrases else None
    return alone if alone is not None and len(alone.words) == 1 else None


def _by_two(phrases: Mapping[str, Sequence[Phrase]]) -> _ByTwo:
    found: dict[tuple[str, ...], list[Phrase]] = {}
    for one in (each for row in phrases.values() for each in row if len(each.words) > 1):
        found.setdefault(one.words[:2], []).append(one)
    return found


_KINDS = ("drugs", "tests", "diagnoses", "procedures", "vaccines")


@lru_cache(maxsize=1)
def statement_words() -> StatementWords:
    """Return the vocabulary of all languages, read once."""
    files = statement_files()
    names = read_names()
    endings = ("drug_endings", "diagnosis_endings", "procedure_endings")
    phrases, concepts = phrases_of(files, names), named_concepts()
    exclusive = _exclusive(files)
    as_listed: dict[str, Any] = {
        one: numbers_of(files, one) for one in ("months", "numbers", "nth", "times")
    }
    return StatementWords(
        phrases=phrases,
        concepts=concepts,
        longer=(_by_two(phrases), _by_two(concepts)),
        spoken=_spoken(phrases) - _claiming(files),
        named=_named((*phrases.values(), *named_of_themselves(concepts)), files),
        translated=frozenset(stem(word) for said, _ in translated_names() for word in said.split()),
        joints=all_of(files, "joints") | {",", ";", ")", "–", "—"},
        imperatives=all_of(files, "imperatives"),
        advising=all_of(files, "advising"),
        abbreviations=all_of(files, "abbreviations"),
        names=frozenset(stem(word) for kind in _KINDS for word in names[kind].split()),
        endings=tuple(ending for kind in endings for ending in names[kind].split()),
        not_names=frozenset(names["not_names"].split()),
        common=frozenset(names["common"].split()),
        soft=_stems_of(names["soft"]),
        filling=_stems_of(names["filling"]),
        fillers=frozenset(names["fillers"].split()),
        exclusive=exclusive,
        polar=frozenset(word for word, (group, _) in exclusive.items() if group == "polarity"),
        ending=frozenset(stem(word) for word in all_of(files, "ended") if " " not in word),
        neutral=_neutral(files),
        happening=_happening(files),
        sides=by_word(files, "sides"),
        places=places_of(files),
        parts_of_year=parts_of_year(files),
        counted=by_word(files, "counted"),
        refusing=_stems_of(
            " ".join(w for one in files for w in one.get("happening", {}).get("declined", ()))
        ),
        deeds=_deeds(files),
        panels=_panels(names),
        better=_better(names),
        ills={f"={one}": f"={ill}" for ill, tests in names["ills"].items() for one in tests},
        in_capitals=frozenset(names["in_capitals"].split()),
        **as_listed,
    )


VARIANT = re.compile(r"[ac-ik-np-tvwy]\d{2,4}[ac-ik-np-tvwy]")
"""One amino acid for another: `T790M`."""


@lru_cache(maxsize=20_000)
def is_clinical_name(stemmed: str) -> bool:
    """Whether a stem is, or looks like, the name of a drug, a test, a diagnosis or a procedure."""
    words = statement_words()
    if stemmed in words.names or VARIANT.fullmatch(stemmed):
        return True
    return len(stemmed) > 6 and stemmed.endswith(words.endings) and stemmed not in words.not_names


def _named(
    phrases: Iterable[Sequence[Phrase]], files: Sequence[Mapping[str, Any]]
) -> dict[str, frozenset[frozenset[str]]]:
    """Return for stems of the words of names what these name, and for others what is alike."""
    found: dict[str, set[frozenset[str]]] = {}
    for group in (row for one in files for row in one.get("alike", ())):
        for word in map(stem, group):
            found.setdefault(word, set()).update(
                shared(frozenset({stem(other)})) for other in group
            )
    for place, english in places_of(files).items():
        found.setdefault(stem(place), set()).update(
            shared(frozenset({stem(one)})) for one in english
        )
    for row in phrases:
        for phrase in row:
            for word in phrase.words if (named := named_by(phrase)) else ():
                found.setdefault(stem(word), set()).update(named)
    return {word: shared(frozenset(named)) for word, named in found.items()}


def _spoken(phrases: Mapping[str, Sequence[Phrase]]) -> frozenset[str]:
    """Return the stems of the words of phrases that name nothing."""
    plain = (
        one
        for row in phrases.values()
        for one in row
        if not (named_by(one) or one.tags == _ERRANDS or all(t[:5] == "link:" for t in one.tags))
    )
    return frozenset(stem(word) for one in plain for word in one.words)


def _panels(names: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return for the names of tests how those of one kind are called together."""
    rows = names["panels"].items()
    return {f"={test}": _stems_of(words) for words, tests in rows for test in tests}


def _better(names: Mapping[str, Any]) -> dict[str, str]:
    """Return for names of tests which course is better."""
    rows = (("rising", names["better"]["higher"]), ("falling", names["better"]["lower"]))
    return {one: course for course, tests in rows for test in tests for one in (f"={test}", test)}


def group_of(word: str) -> str:
    """Return of which group, such as sides, a stem is one of which one alone holds; else ""."""
    return statement_words().exclusive.get(word, ("",))[0]


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _exclusive(files: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    """Return the group of each word of which one holds, and which of them it is."""
    files = list(files)
    rows = [row for one in files for row in one.get("exclusive", {}).items()]
    found = {
        stem(word): (group, which)
        for group, sides in rows
        for which, words in enumerate(sides)
        for word in words.split()
    }
    others = by_word(files, "sides").items()
    return {stem(word): found[side] for word, side in others} | found


def _neutral(files: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the stems of words that claim nothing: common ones, sides and numbers."""
    tables = ("sides", "numbers", "times", "months")
    words = {word for one in files for key in tables for word in one.get(key, {})}
    words.update(all_of(files, "neutral"))
    words.update(word for one in files for row in one.get("sides", {}).values() for word in row)
    body = {stem(word) for word in all_of(files, "body")}
    return ordinary_words().union(map(stem, words)) - body - _claiming(files)


def _claiming(files: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(map(stem, all_of(files, "claiming")))


def _happening(files: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the stems of what may happen to a thing, with the beginnings of words for it."""
    groups: dict[str, list[str]] = {}
    for one in files:
        for kind, row in one.get("happening", {}).items():
            groups.setdefault(kind, []).extend(row)
    found: dict[str, tuple[str, ...]] = {}
    for row in groups.values():
        begun = tuple(dict.fromkeys(stem(word)[:_BEGINNING] for word in row))
        found.update((stem(word), begun) for word in row)
    return found


def _deeds(files: Sequence[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return the stems of the words that tell of each kind of deed."""
    found: dict[str, set[str]] = {}
    for one in files:
        for kind, row in one.get("deeds", {}).items():
            words = {stem(max(phrase.split(), key=len)) for phrase in row}
            found.setdefault(kind, set()).update(words)
    return {kind: frozenset(words) for kind, words in found.items()}


@lru_cache(maxsize=1)
def ordinary_words() -> frozenset[str]:
    """Return stems of common words of English and German.

    Frequent words that no source holds for clinical; `python -m scripts.ordinary_words` writes
    them. A word that is rarer than these is taken for a name of something. Whose words they are
    stands in `docs/contributing.md`.
    """
    texts = (one.read_text("utf-8") for one in _HERE.glob("ordinary_words.*.txt"))
    return frozenset(word for text in texts for word in text.split())
