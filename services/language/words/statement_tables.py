"""Reads the tables of words by which sentences state something, before they are stemmed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

from services.language.charts.chart_file import chart_file
from services.language.words.vocabulary import LANGUAGES

FOLDER = Path(__file__).parents[1]
# As in vocabulary.py: the one in C takes a tenth of the time.
_LOADER: type[yaml.BaseLoader] = vars(yaml).get("CBaseLoader", yaml.BaseLoader)
_NO_PLURAL = ("ss", "us", "is")
_SHORT_CHARS = 4
_TRANSLATED = ("problems", "procedures", "immunizations", "allergies")


def read_table(path: Path) -> dict[str, Any]:
    """Return a file of words; every scalar of it is text."""
    # Without types: "no" and "on" are words here.
    text = path.read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, Loader=_LOADER)  # noqa: S506
    return content


def all_of(files: Iterable[Mapping[str, Any]], key: str) -> frozenset[str]:
    """Return the phrases of a list in all files, in lower case."""
    return frozenset(str(word).lower() for one in files for word in one.get(key, ()))


@cache
def statement_files() -> Sequence[Mapping[str, Any]]:
    """Return the tables of statements of all languages."""
    return [read_table(FOLDER / language / "statements.yaml") for language in LANGUAGES]


@cache
def stems_told(name: str) -> frozenset[str]:
    """Return the stems of a list of statements, of all languages; see `en/statements.yaml`."""
    return frozenset(map(stem, all_of(statement_files(), name)))


@cache
def saying(*names: str) -> frozenset[str]:
    """Return the words of all languages that tell one of `names`; see `en/word_lists.yaml`."""
    lists = {name: all_of(_word_lists(), name) for name in names}
    if missing := [name for name, words in lists.items() if not words]:
        raise KeyError(*missing)
    return frozenset().union(*lists.values())


@cache
def _word_lists() -> Sequence[Mapping[str, Any]]:
    paths = (FOLDER / language / "word_lists.yaml" for language in LANGUAGES)
    return [read_table(path) for path in paths if path.is_file()]


@cache
def shared(tags: frozenset[Any]) -> frozenset[Any]:
    """Return the first that is equal: thousands of words say one of a few hundred things."""
    return tags


def by_word(files: Iterable[Mapping[str, Any]], key: str) -> dict[str, str]:
    """Return what each word of the rows of a table is a word for."""
    rows = [row for one in files for row in one.get(key, {}).items()]
    return {word: kind for kind, words in rows for word in words}


def numbers_of(files: Iterable[Mapping[str, Any]], key: str) -> dict[str, int]:
    """Return the numbers that words of a table are."""
    return {name: int(number) for one in files for name, number in one.get(key, {}).items()}


def parts_of_year(files: Iterable[Mapping[str, Any]]) -> dict[str, tuple[int, ...]]:
    """Return the months of "spring" and "early"."""
    rows = [row for one in files for row in one.get("parts_of_year", {}).items()]
    return {part: tuple(map(int, months.split())) for part, months in rows}


def places_of(files: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the parts of the body in the words of records."""
    rows = [row for one in files for row in one.get("places", {}).items()]
    return {word: tuple(said.split()) for word, said in rows}


def translated_names() -> Iterator[tuple[str, str]]:
    """Yield names of other languages, in the forms in which they are written, and the English."""
    for language in LANGUAGES:
        if language == "en":
            continue
        for kind in _TRANSLATED:
            for english, said in chart_file(language).names.get(kind, {}).items():
                for phrase in said:  # no "colon" of "colo"
                    endings = ("", "e", "en", "n") if len(phrase) > _SHORT_CHARS else ("",)
                    yield from ((f"{phrase}{ending}", english) for ending in endings)


def read_names() -> dict[str, Any]:
    """Return the names that sentences may state of a patient, by their kinds."""
    return read_table(FOLDER / "clinical_names.yaml")


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
    is_variant = plain[-2:-1].isdigit()  # `C797S`
    if len(plain) > 3 and plain.endswith("s") and not (is_variant or plain.endswith(_NO_PLURAL)):
        return plain[:-1]
    return plain
