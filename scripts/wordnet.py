"""What English words usually mean, by WordNet 3.0 (Debian package `wordnet-base`).

The format is that of `wndb(5WN)`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_POS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_TYPES = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_ABOVE = ("@", "@i")
_DETACHED = {
    "n": (("s", ""), ("es", ""), ("ies", "y"), ("men", "man")),
    "v": (
        *(("s", ""), ("es", ""), ("es", "e"), ("ies", "y"), ("ed", ""), ("ed", "e")),
        *(("ied", "y"), ("ing", ""), ("ing", "e")),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e"), ("ier", "y"), ("iest", "y")),
    "r": (),
}
"""The endings that WordNet's own `morphy` takes off, and a doubled consonant besides."""


_SELDOM = 20
_FIRST = 2
"""Of a word that was seen less often, the first two meanings of each part of speech are usual."""


class Sense(NamedTuple):
    """One meaning: a part of speech and where it stands in that part's file."""

    pos: str
    at: int


class Pointer(NamedTuple):
    """How a meaning, or one word of it (counted from 1, 0 for all), leads to another."""

    symbol: str
    to: Sense
    of_word: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """A set of words with one meaning, the number of the file that it is of, where it leads."""

    words: tuple[str, ...]
    file: int
    pointers: tuple[Pointer, ...]


class WordNet:
    """The files of WordNet, read once."""

    def __init__(self, *, folder: Path) -> None:
        self._folder = folder
        self._above: dict[Sense, frozenset[Sense]] = {}
        self._lemmas: dict[str, list[tuple[str, str]]] = {}

    def usual(self, word: str, *, least_share: float) -> list[Sense]:
        """Return the meanings that a word, or what it is a form of, usually has.

        Args:
            least_share: Of all occurrences of the word in the texts in which its meanings were
                counted.
        """
        counted = self.counted(word)
        total = sum(counted.values())
        first = _FIRST if total < _SELDOM else 0
        places = self._places(word)
        return [
            one
            for one, count in counted.items()
            if places[one] < first or count >= total * least_share > 0
        ]

    def counted(self, word: str) -> Counter[Sense]:
        """Return how often each meaning of a word was seen."""
        found: Counter[Sense] = Counter()
        for lemma, pos in self.lemmas(word):
            for place, one in enumerate(self._index[lemma, pos]):
                found[one] += self._counts[lemma, pos, place + 1]
        return found

    def lemmas(self, word: str) -> list[tuple[str, str]]:
        """Return what a word may be a form of, with the parts of speech."""
        if word not in self._lemmas:
            self._lemmas[word] = self._find_lemmas(word)
        return self._lemmas[word]

    def _find_lemmas(self, word: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for pos in _POS:
            bases = {word, *self._irregular[pos].get(word, ()), *_detached(word, pos)}
            found += [(base, pos) for base in sorted(bases) if (base, pos) in self._index]
        return found

    def is_name(self, sense: Sense) -> bool:
        """Whether a meaning is one person, place or thing, or is of one: `Boston`, `American`."""
        return self.meanings[sense].words[0][:1].isupper()

    def above(self, sense: Sense) -> frozenset[Sense]:
        """Return a meaning and all that it is a kind of."""
        if sense not in self._above:
            kinds = (one.to for one in self.meanings[sense].pointers if one.symbol in _ABOVE)
            self._above[sense] = frozenset({sense}).union(*map(self.above, kinds))
        return self._above[sense]

    def led_to(self, sense: Sense, symbols: str, words: frozenset[str]) -> Iterator[Sense]:
        """Yield where a meaning leads by some symbols, of some of its words only."""
        meaning = self.meanings[sense]
        for one in meaning.pointers:
            own = not one.of_word or meaning.words[one.of_word - 1].lower() in words
            if one.symbol in symbols.split() and own:
                yield one.to

    def named(self, text: str) -> Sense:
        """Return the meaning that is written `disease.n.1`."""
        lemma, pos, place = text.split(".")
        return self._index[lemma, pos][int(place) - 1]

    def _places(self, word: str) -> dict[Sense, int]:
        return {
            one: place
            for lemma, pos in self.lemmas(word)
            for place, one in enumerate(self._index[lemma, pos])
        }

    @cached_property
    def meanings(self) -> dict[Sense, Meaning]:
        """All meanings."""
        return {
            Sense(pos, int(fields[0])): _meaning(fields)
            for pos, name in _POS.items()
            for fields in self._lines(f"data.{name}")
        }

    @cached_property
    def _index(self) -> dict[tuple[str, str], list[Sense]]:
        """The meanings of each word, the most frequent first."""
        return {
            (fields[0], pos): [Sense(pos, int(at)) for at in fields[-int(fields[2]) :]]
            for pos, name in _POS.items()
            for fields in self._lines(f"index.{name}")
        }

    @cached_property
    def _counts(self) -> Counter[tuple[str, str, int]]:
        found: Counter[tuple[str, str, int]] = Counter()
        for key, place, count in self._lines("cntlist.rev"):
            lemma, _, rest = key.partition("%")
            found[lemma, _TYPES[rest[0]], int(place)] += int(count)
        return found

    @cached_property
    def _irregular(self) -> dict[str, dict[str, list[str]]]:
        found: dict[str, dict[str, list[str]]] = {pos: defaultdict(list) for pos in _POS}
        for pos, name in _POS.items():
            for form, *bases in self._lines(f"{name}.exc"):
                found[pos][form] += bases
        return found

    def _lines(self, name: str) -> Iterator[list[str]]:
        for line in (self._folder / name).read_text("utf-8").splitlines():
            if not line.startswith("  "):  # the licence
                yield line.partition(" | ")[0].split()


def _meaning(fields: list[str]) -> Meaning:
    """Read `offset file type count (word id)… count (symbol offset pos source/target)…`."""
    count = int(fields[3], 16)
    words = tuple(word.partition("(")[0] for word in fields[4 : 4 + 2 * count : 2])
    start = 5 + 2 * count
    pointers = tuple(
        Pointer(
            fields[at],
            Sense(fields[at + 2].replace("s", "a"), int(fields[at + 1])),
            int(fields[at + 3][:2], 16),
        )
        for at in range(start, start + 4 * int(fields[start - 1]), 4)
    )
    return Meaning(words, int(fields[1]), pointers)


def _detached(word: str, pos: str) -> Iterator[str]:
    for ending, base in _DETACHED[pos]:
        if word.endswith(ending):
            plain = word.removesuffix(ending) + base
            yield plain
            if len(plain) > 3 and plain[-1] == plain[-2]:
                yield plain[:-1]


_ROOTS = """
condition.n.1 symptom.n.1 psychological_state.n.1 feeling.n.1 trait.n.1 isolation.n.1 habit.n.1
unemployment.n.1 unfortunate.n.1 ill.a.1 weak.a.1 dead.a.1 asleep.a.1 drunk.a.1 immobile.a.1
bare.a.1 unclothed.a.1 happy.a.1 unhappy.a.1 hostile.a.1 violent.a.1 jealous.a.1 covetous.a.1
married.a.1 unmarried.a.1

bodily_process.n.1 sexual_activity.n.1 death.n.1 accident.n.1 mishap.n.1 misfortune.n.1 die.v.1
injure.v.1 hurt.v.2 cut.v.1 sleep.v.1 walk.v.1 groan.v.1 complain.v.1

medical_procedure.n.1 medical_care.n.1 drug.n.1 diagnosis.n.1 medical_science.n.1 emptying.n.1
treat.v.3 bandage.v.1 transgression.n.1 violence.n.1 fight.n.2 attack.n.1 imprisonment.n.1
punishment.n.1 attack.v.1 fight.v.2 kill.v.1 hit.v.3 strike.v.1 beat.v.2 abuse.v.1
"""
"""All that is a kind of these is clinical: how one fares, what the body does or what befalls it,
what is done. Each is a word, its part of speech and which of its meanings."""
_CLINICAL_FILES = frozenset({8, 12, 29, 37})
"""Nouns of the body and of feeling, verbs of the body and of emotion."""
_THINGS = frozenset({5, 6, 8, 12, 13, 15, 17, 18, 19, 20, 27})
"""Animals, artifacts, bodies, feelings, food, places, objects, persons, phenomena, plants and
substances: what one has, takes, lives with or is."""
_DERIVED = r"+ \ = &"
"""Derived from, belonging to, a value of, similar to."""
_SHARE = 0.05
"""A meaning is usual that has this share of the occurrences of a word."""
_MOSTLY = 0.5


class ClinicalMeanings:
    """Tells by WordNet which words are claims about a patient."""

    def __init__(self, *, wordnet: WordNet) -> None:
        self._wordnet = wordnet
        self._roots = frozenset(wordnet.named(one) for one in _ROOTS.split())

    def is_claim(self, word: str) -> bool:
        """Whether a usual meaning of a word is clinical, or most of its use names a thing."""
        return self._is_thing(word) or any(
            self._is_clinical(one, word) for one in self._wordnet.usual(word, least_share=_SHARE)
        )

    def _is_thing(self, word: str) -> bool:
        """Whether half of the occurrences of a word name things; if none was seen, a meaning."""
        counted = self._wordnet.counted(word)
        things = [
            count for one, count in counted.items() if self._wordnet.meanings[one].file in _THINGS
        ]
        total = sum(counted.values())
        if total:
            return sum(things) >= total * _MOSTLY
        return bool(things)

    def _is_clinical(self, sense: Sense, word: str) -> bool:
        words = frozenset(lemma for lemma, _ in self._wordnet.lemmas(word))
        kin = self._wordnet.led_to(sense, _DERIVED, words)
        return self._is_of_root(sense) or any(map(self._is_of_root, kin))

    def _is_of_root(self, sense: Sense) -> bool:
        """Whether a meaning is clinical itself, not only by what it is derived from."""
        file = self._wordnet.meanings[sense].file
        return file in _CLINICAL_FILES or not self._roots.isdisjoint(self._wordnet.above(sense))
