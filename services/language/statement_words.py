"""The words by which sentences state something of a patient, in every language that is known."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from services.language.vocabulary import LANGUAGES

_FOLDER = Path(__file__).parent
_CUES = (
    "no", "recorded", "nothing", "current", "takes", "ended", "begun", "when", "newest", "before",
    "highest", "lowest", "rising", "falling", "high", "low", "normal", "asserts",
    "steady", "is_now", "objects_follow", "maybe", "about_patient", "general", "as_you_said",
    "approximately", "family", "weak", "splits", "doers", "first_person", "not_yet", "things_done",
    "stages", "range", "tolerates", "clinical", "altered",
)  # fmt: skip


class Phrase(NamedTuple):
    """One or more words and what they say, such as `no`, `deed:booked`, `often:2/d`."""

    words: tuple[str, ...]
    tags: frozenset[str]


class FoundPhrase(NamedTuple):
    """A phrase in a list of words: its first word, the one behind its last, and what it says."""

    start: int
    end: int
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class StatementWords:
    """Vocabulary of statements; every word and phrase is in lower case.

    Attributes:
        phrases: By first word, the longest first.
        imperatives: First words of sentences that ask for something.
        names: Stems of drugs, tests, diagnoses and procedures, and how their names end.
        exclusive: For each word of a group of which one holds: the group, and which of them.
        denying: Stems that say that what is tested is not there: `absent`, `wild-type`.
        sides: Sides and heights in the body, by every word for them: `links` is `left`.
        places: Parts of the body in another language than the record's.
        counted: What kind of rows a plural counts.
        allergic: Stems by which something is said of an allergy.
        kin: Stems of relatives.
        judging: Stems that say how a finding, an organ or a course is, or that somebody knows it.
        judged: Stems of what is judged so.
        deeds: For each kind of deed the stems that tell of it.
    """

    phrases: Mapping[str, Sequence[Phrase]]
    imperatives: frozenset[str]
    abbreviations: frozenset[str]
    names: frozenset[str]
    endings: tuple[str, ...]
    not_names: frozenset[str]
    common: frozenset[str]
    soft: frozenset[str]
    filling: frozenset[str]
    fillers: frozenset[str]
    exclusive: Mapping[str, tuple[str, int]]
    denying: frozenset[str]
    sides: Mapping[str, str]
    places: Mapping[str, tuple[str, ...]]
    months: Mapping[str, int]
    numbers: Mapping[str, int]
    counted: Mapping[str, str]
    allergic: frozenset[str]
    kin: frozenset[str]
    judging: frozenset[str]
    judged: frozenset[str]
    deeds: Mapping[str, frozenset[str]]

    def found_in(self, words: Sequence[str]) -> Iterator[FoundPhrase]:
        """Yield the phrases in `words` from the left, the longest at each place."""
        at, count = 0, len(words)
        while at < count:
            step = 1
            for phrase in self.phrases.get(words[at], ()):
                size = len(phrase.words)
                if size == 1 or tuple(words[at : at + size]) == phrase.words:
                    yield FoundPhrase(at, at + size, phrase.tags)
                    step = size
                    break
            at += step


@lru_cache(maxsize=1)
def statement_words() -> StatementWords:
    """Return the vocabulary of all languages, read once."""
    files = [_read(_FOLDER / language / "statements.yaml") for language in LANGUAGES]
    names = read_names()
    kinds = ("drugs", "tests", "diagnoses", "procedures")
    endings = ("drug_endings", "diagnosis_endings", "procedure_endings")
    return StatementWords(
        phrases=_phrases(files, names),
        imperatives=_all(files, "imperatives"),
        abbreviations=_all(files, "abbreviations"),
        names=frozenset(stem(word) for kind in kinds for word in names[kind].split()),
        endings=tuple(ending for kind in endings for ending in names[kind].split()),
        not_names=frozenset(names["not_names"].split()),
        common=frozenset(names["common"].split()),
        soft=_stems_of(names["soft"]),
        filling=_stems_of(names["filling"]),
        fillers=frozenset(names["fillers"].split()),
        exclusive={
            stem(word): (group, which)
            for one in files
            for group, sides in one.get("exclusive", {}).items()
            for which, words in enumerate(sides)
            for word in words.split()
        },
        denying=frozenset(stem(word) for one in files for word in one.get("denying", ())),
        sides={
            word: side
            for one in files
            for side, row in one.get("sides", {}).items()
            for word in row
        },
        places=_places(files),
        months={name: int(month) for one in files for name, month in one.get("months", {}).items()},
        numbers={
            name: int(number) for one in files for name, number in one.get("numbers", {}).items()
        },
        counted={
            word: kind
            for one in files
            for kind, row in one.get("counted", {}).items()
            for word in row
        },
        allergic=frozenset(stem(word) for word in _all(files, "allergic")),
        kin=frozenset(stem(word) for word in _all(files, "family")),
        judging=frozenset(stem(word) for word in _all(files, "judging")),
        judged=frozenset(stem(word) for word in _all(files, "judged")),
        deeds=_deeds(files),
    )


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return `word` in lower case, without plural and in one spelling: `anaemias` is `anemia`."""
    plain = word.lower().replace("’", "'").removesuffix("'s")
    for old, new in (("ae", "e"), ("oe", "e"), ("tumour", "tumor"), ("ä", "a"), ("ö", "o")):
        plain = plain.replace(old, new)
    plain = plain.replace("ü", "u").replace("ß", "ss").replace("-", "")
    if len(plain) > 4 and plain.endswith("ies"):
        return f"{plain[:-3]}y"
    if len(plain) > 5 and plain.endswith(("ases", "oses", "ises", "yses")):
        return f"{plain[:-2]}is" if not plain.endswith(("diseases", "doses")) else plain[:-1]
    if len(plain) > 3 and plain.endswith("s") and not plain.endswith(("ss", "us", "is")):
        return plain[:-1]
    return plain


@lru_cache(maxsize=20_000)
def is_clinical_name(stemmed: str) -> bool:
    """Whether a stem is, or looks like, the name of a drug, a test, a diagnosis or a procedure."""
    words = statement_words()
    if stemmed in words.names:
        return True
    return len(stemmed) > 6 and stemmed.endswith(words.endings) and stemmed not in words.not_names


def read_names() -> dict[str, Any]:
    """Return the names that sentences may state of a patient, by their kinds."""
    return _read(_FOLDER / "clinical_names.yaml")


def _read(path: Path) -> dict[str, Any]:
    # Without types: "no" and "on" are words here.
    text = path.read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    return content


def _all(files: Iterable[Mapping[str, Any]], key: str) -> frozenset[str]:
    return frozenset(str(word).lower() for one in files for word in one.get(key, ()))


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _places(files: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the parts of the body in the words of records."""
    rows = [row for one in files for row in one.get("places", {}).items()]
    return {word: tuple(said.split()) for word, said in rows}


def _deeds(files: Sequence[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return the stems of the words that tell of each kind of deed."""
    found: dict[str, set[str]] = {}
    for one in files:
        for kind, row in one.get("deeds", {}).items():
            words = {stem(word) for phrase in row for word in phrase.split()}
            found.setdefault(kind, set()).update(words)
        for deed in one.get("own_deeds", ()):
            found.setdefault(deed, set()).add(stem(deed))
    return {kind: frozenset(words) for kind, words in found.items()}


def _tagged(
    files: Sequence[Mapping[str, Any]], names: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield every phrase with one thing that it says."""
    for prefix, groups in (("same", names["same"]), ("topic", names["topics"])):
        yield from (
            (phrase, f"{prefix}:={group[0].lower()}") for group in groups for phrase in group
        )
    for cue in _CUES:
        yield from ((phrase, cue) for phrase in _all(files, cue))
    for prefix, key in (("deed", "deeds"), ("often", "frequencies"), ("smoking", "smoking")):
        rows = [row for one in files for row in one.get(key, {}).items()]
        yield from ((phrase, f"{prefix}:{kind}") for kind, row in rows for phrase in row)
    for who in _all(files, "first_person"):
        for deed in _all(files, "own_deeds"):
            for tag in (f"deed:{deed}", "first_person", "doers"):
                yield f"{who} {deed}", tag


def _phrases(
    files: Sequence[Mapping[str, Any]], names: Mapping[str, Any]
) -> dict[str, tuple[Phrase, ...]]:
    tags: dict[tuple[str, ...], set[str]] = {}
    for phrase, tag in _tagged(files, names):
        tags.setdefault(tuple(phrase.lower().split()), set()).add(tag)
    for words, found in tags.items():
        if any("asserts" in tags.get((word,), ()) for word in words):
            found.add("asserts")
    by_first: dict[str, list[Phrase]] = {}
    for words, found in sorted(tags.items(), key=lambda row: -len(row[0])):
        by_first.setdefault(words[0], []).append(Phrase(words, frozenset(found)))
    return {first: tuple(rows) for first, rows in by_first.items()}
