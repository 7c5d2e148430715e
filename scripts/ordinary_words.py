"""Writes the lists of common language anew: `python -m scripts.ordinary_words`.

A word is common language if it is frequent (package `wordfreq`) and may not be a claim about a
patient. It may be one in English by its usual meanings in WordNet (`scripts.wordnet`),
by the entries of medicine in the dictionary Ding, or because ICD-10-CM (package
`simple-icd-10-cm`) has it far oftener than common language; in German by the entries of medicine
and by what it is translated with. What no source can tell is picked by hand, in
`ordinary_words.yaml`.

WordNet and Ding are the Debian packages `wordnet-base` and `trans-de-en`. No package is needed
where the lists are only read.
"""

import math
import re
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import yaml

from scripts.wordnet import ClinicalMeanings, WordNet
from services.language.words import statement_words as lists
from services.language.words.statement_tables import stem, stems_told
from services.language.words.statement_words import is_clinical_name, statement_words

_MEDICAL = re.compile(r"\[(?:med|anat|pharm|psych|biochem)\.\]")
_ASIDE = re.compile(r"\{[^}]*\}|\([^)]*\)|\[[^\]]*\]|/[^/]*/|<[^>]*>")
_FILLING = re.compile(
    r"\b(?:to|sb|sth|etw|jdm|jdn|jds|sich|oneself|an?|von|mit|of|with|from)(?=[\s.'])\.?"
)
_WORD = re.compile(r"[a-zäöü]+")


class Uses(NamedTuple):
    """In how many entries a word stands, and in how many of medicine."""

    entries: int
    medical: int


class Ding:
    """Its entries by single words, in lower case and with `ss` for `ß`.

    Attributes:
        translations: Of each German word, which English ones stand beside it, and how often.
    """

    def __init__(self, *, path: Path) -> None:
        self.translations: dict[str, Counter[str]] = defaultdict(Counter)
        self._all: Counter[str] = Counter()
        self._medical: Counter[str] = Counter()
        for line in path.read_text("utf-8").splitlines():
            if "::" in line and not line.startswith("#"):
                self._read(line)

    def uses(self, word: str) -> Uses:
        """Return how a word of either language is used."""
        return Uses(self._all[word], self._medical[word])

    def _read(self, line: str) -> None:
        german, english = (side.split("|") for side in line.split("::", 1))
        is_medical = bool(_MEDICAL.search(line))
        for ours, theirs in zip(german, english, strict=False):
            of_german, of_english = set(_words(ours)), set(_words(theirs))
            for word in of_german:
                self.translations[word].update(of_english)
            self._all.update(of_german | of_english)
            if is_medical:
                self._medical.update(of_german | of_english)


def _words(segment: str) -> Iterator[str]:
    """Yield what a segment has that is one word."""
    for item in _ASIDE.sub(" ", segment.casefold()).split(";"):
        plain = _FILLING.sub(" ", f"{item} ").strip(" .!?,")
        if _WORD.fullmatch(plain):
            yield plain


_PICKED = Path(__file__).with_name("ordinary_words.yaml")
_LEAST_CHARS = 3
_LEAST_ZIPF = {"en": 3.3, "de": 3.5}
"""How frequent a word has to be: 3 is once in a million words, 4 is ten times."""
_LEAST_FORM_ZIPF = 2.5
"""A form that is this frequent is as frequent as its base: `crept`."""
_CLOSED_CLASS_ZIPF = 5.0
"""WordNet has no pronouns and conjunctions; what else it lacks is no common language."""
_OFTEN_ZIPF = 4.5
_MEDICAL_SHARE = 0.25
"""Of the entries of a frequent word; of a rarer one, one entry of medicine is enough."""
_CLAIMS_SHARE = 0.34
"""Of a German word's translations."""
_ICD_FACTOR = 3.0
_NO_DISEASES = frozenset("UVWXYZ")
_CATEGORY_CHARS = 4
"""Chapters of causes and circumstances, and finer codes, repeat the words of common language."""
_NEVER_SEEN = 1e-8
_LINE_CHARS = 98


class CommonLanguage:
    """Tells by the sources which words are common language."""

    def __init__(self, *, wordnet: WordNet, ding: Ding, kept: frozenset[str]) -> None:
        self._wordnet = wordnet
        self._meanings = ClinicalMeanings(wordnet=wordnet)
        self._ding = ding
        self._kept = kept
        self._frequencies: dict[str, dict[str, float]] = {
            language: import_module("wordfreq").get_frequency_dict(language, "large")
            for language in _LEAST_ZIPF
        }

    def words(self, language: str) -> Iterator[str]:
        """Yield the words of a language that claim nothing."""
        claims_nothing = self._is_english if language == "en" else self._is_german
        for word in self._frequencies[language]:
            is_word = word.isalpha() and len(word) >= _LEAST_CHARS
            is_frequent = is_word and self._zipf(word, language) >= _LEAST_ZIPF[language]
            if is_frequent and claims_nothing(word):
                yield word

    def _is_english(self, word: str) -> bool:
        counted = self._wordnet.counted(word)
        if not counted:
            is_known = self._zipf(word, "en") >= _CLOSED_CLASS_ZIPF
            return is_known and self._ding.uses(word).entries > 0 and not self._is_medical(word)
        names = [one for one in counted if self._wordnet.is_name(one)]
        return len(names) * 2 < len(counted) and not (
            self._may_claim(word) or self._meanings.is_claim(stem(word))
        )

    def _is_german(self, word: str) -> bool:
        if self._is_medical(word, "de"):
            return False
        english, german = (self._frequencies[one].get(word, 0.0) for one in ("en", "de"))
        if english > german and self._meanings.is_claim(word):
            return False  # in German texts it is English
        into = {
            one: count
            for one, count in self._ding.translations[word].items()
            if self._wordnet.lemmas(one)
        }
        claims = [count for one, count in into.items() if self._may_claim(one)]
        return sum(claims) < sum(into.values()) * _CLAIMS_SHARE

    def _may_claim(self, english: str) -> bool:
        if english in self._kept:
            return False
        return self._meanings.is_claim(english) or self._is_medical(english)

    def _is_medical(self, word: str, language: str = "en") -> bool:
        forms = {word, *(lemma for lemma, _ in self._wordnet.lemmas(word))}
        return any(self._is_of_medicine(one, language) or self._is_of_icd(one) for one in forms)

    def _is_of_medicine(self, word: str, language: str) -> bool:
        uses = self._ding.uses(word)
        if self._zipf(word, language) < _OFTEN_ZIPF:
            return uses.medical > 0
        return uses.medical > 0 and uses.medical >= uses.entries * _MEDICAL_SHARE

    def _is_of_icd(self, word: str) -> bool:
        share = self._icd[word] / self._icd.total()
        return share > self._frequencies["en"].get(word, _NEVER_SEEN) * _ICD_FACTOR

    def _zipf(self, word: str, language: str) -> float:
        frequencies = self._frequencies[language]
        own = _zipf_of(frequencies.get(word, 0.0))
        if language != "en" or own < _LEAST_FORM_ZIPF:
            return own
        bases = (lemma for lemma, _ in self._wordnet.lemmas(word))
        return max(own, *(_zipf_of(frequencies.get(one, 0.0)) for one in (word, *bases)))

    @cached_property
    def _icd(self) -> Counter[str]:
        """How often each word stands in the titles of the categories of diseases."""
        icd = import_module("simple_icd_10_cm")
        codes = [
            one
            for one in icd.get_all_codes()
            if one[0].isalpha()
            and one[0] not in _NO_DISEASES
            and len(one.replace(".", "")) <= _CATEGORY_CHARS
        ]
        texts = {
            text
            for one in codes
            for text in (icd.get_description(one), *icd.get_inclusion_term(one))
        }
        return Counter(word for one in texts for word in re.findall("[a-z]{3,}", one.lower()))


def main() -> int:
    """Write the lists, and say how long they are."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--ding", type=Path, default=Path("/usr/share/trans/de-en"))
    given = parser.parse_args()
    picked = {
        (kind, language): frozenset(word for row in groups for word in row.split())
        for kind, languages in yaml.safe_load(_PICKED.read_text("utf-8")).items()
        for language, groups in languages.items()
    }
    common = CommonLanguage(
        wordnet=WordNet(folder=given.wordnet), ding=Ding(path=given.ding), kept=picked["kept", "en"]
    )
    claims = {stem(word) for language in _LEAST_ZIPF for word in picked["claims", language]}
    written: set[str] = set()
    for language in _LEAST_ZIPF:
        stems = _without_claims(map(stem, common.words(language))) - claims
        stems |= {stem(word) for word in picked["kept", language]}
        stems -= written
        written |= stems
        target = Path(lists.__file__).with_name(f"ordinary_words.{language}.txt")
        target.write_text("\n".join(_lines(sorted(stems))) + "\n", encoding="utf-8")
        print(f"{target.name}: {len(stems):,} words")
    return 0


def _without_claims(stems: Iterable[str]) -> set[str]:
    """Return the stems that our own tables do not hold for claims."""
    known = statement_words()
    claims = (
        stems_told("judging")
        | known.happening.keys()
        | stems_told("family")
        | stems_told("reactions")
        | known.translated
    )
    return {one for one in stems if one not in claims and not is_clinical_name(one)}


def _zipf_of(frequency: float) -> float:
    return math.log10(frequency) + 9 if frequency else 0.0


def _lines(words: Iterable[str]) -> Iterator[str]:
    line = ""
    for word in words:
        if len(line) + len(word) > _LINE_CHARS:
            yield line.rstrip()
            line = ""
        line += f"{word} "
    yield line.rstrip()


if __name__ == "__main__":
    raise SystemExit(main())
