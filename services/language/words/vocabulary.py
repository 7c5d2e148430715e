"""The words of each language, read from its folder; adding a language is adding a folder."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from data_models.errors import ConfigurationError
from data_models.plain_yaml import read_yaml
from data_models.values import ClosedValue
from services.language.utterance import Command
from services.language.words.folding import words_of

_FOLDER = Path(__file__).parents[1]
_FIRST = ("en", "de", "fr", "es")
LANGUAGES = (
    *_FIRST,
    *sorted({path.parent.name for path in _FOLDER.glob("*/replies.yaml")} - set(_FIRST)),
)
"""ISO 639-1, in the order in which a phrase of two languages is understood; each has a folder."""
_File = TypeVar("_File")


def language_of_tag(tag: str) -> str:
    """Return the first language of `de-AT,en;q=0.5` or `de_AT`; "" where it has no folder."""
    language = re.split(r"[-_,;\s]", tag.strip(), maxsplit=1)[0].casefold()
    return language if language in LANGUAGES else ""


class Replies(ClosedValue):
    """What people say in reply, and orders that are a whole message; the English file explains."""

    yes: tuple[str, ...]
    soft_yes: tuple[str, ...]
    go_on: tuple[str, ...]
    no: tuple[str, ...]
    fillers: tuple[str, ...]
    changes: tuple[str, ...]
    unsure: tuple[str, ...]
    also_true: tuple[str, ...]
    also_false: tuple[str, ...]
    commands: Mapping[Command, tuple[str, ...]]
    compares: tuple[str, ...]
    was_for: tuple[str, ...]
    was: tuple[str, ...] = ()
    ordinals: Mapping[str, int]
    ordinal_nouns: tuple[str, ...]
    numbers: Mapping[str, int]
    pointing: Mapping[str, tuple[str, ...]]
    small: tuple[str, ...] = Field(description="Small words that tell the language.")


@cache
def replies(language: str) -> Replies:
    """Return the words of `language`, one of `LANGUAGES`.

    Raises:
        ConfigurationError: the file cannot be read or used.
    """
    return read_words(language, "replies", Replies)


@cache
def folded(phrase: str) -> tuple[str, ...]:
    """Return the words of a phrase of a file as texts are compared with them."""
    return tuple(words_of(phrase))


@cache
def words_with_number(language: str) -> Mapping[str, int]:
    """Return the number words of `language`, folded."""
    return {words_of(word)[0]: number for word, number in replies(language).numbers.items()}


@cache
def numbers_of_all() -> Mapping[str, int]:
    """Return the number words of all languages, folded; of two that share one, the first."""
    every = [one for each in reversed(LANGUAGES) for one in words_with_number(each).items()]
    return dict(every)


def read_words(language: str, name: str, kind: type[_File]) -> _File:
    """Return the file `name` of `language`.

    Raises:
        ConfigurationError: it cannot be read or used; the text says which file.
    """
    try:
        return TypeAdapter(kind).validate_python(read_document(language, name))
    except ValidationError as error:
        raise ConfigurationError(f"{language}/{name}.yaml is not usable: {error}") from error


@cache
def drug_names() -> Mapping[str, tuple[str, ...]]:
    """Return ingredients of drugs, each with its brands and other names; of no language."""
    return {str(name): tuple(map(str, said)) for name, said in _drugs()["drugs"].items()}


@cache
def drug_classes() -> Mapping[str, Mapping[str, Any]]:
    """Return the classes of drugs: `words`, `members` and, where there is one, `atc`."""
    return {str(name): row for name, row in _drugs()["classes"].items()}


@cache
def drug_words() -> frozenset[str]:
    """Return the names of drugs and of their classes, folded."""
    known = (*drug_names().items(), *((name, row["words"]) for name, row in drug_classes().items()))
    return frozenset(folded(one)[0] for name, others in known for one in (name, *others) if one)


@cache
def _drugs() -> Mapping[str, Any]:
    return read_table("drug_names")


@cache
def concept_rows() -> Mapping[str, Any]:
    """Return what people call that which records hold as codes; the head of the file explains."""
    return read_table("concepts")


def read_table(name: str) -> Mapping[str, Any]:
    """Return what a file holds: `concepts` of no language, `en/pointing` of one."""
    rows: Mapping[str, Any] = yaml_in(_FOLDER / f"{name}.yaml")
    return rows


def yaml_in(path: Path) -> Any:
    """Return what a file of ours holds."""
    return read_yaml(path.read_text(encoding="utf-8"))


def read_document(language: str, name: str) -> Any:
    """Return what the file `name` of `language` holds.

    Raises:
        ConfigurationError: it cannot be read; the text says which file.
    """
    path = _FOLDER / language / f"{name}.yaml"
    try:
        return yaml_in(path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{language}/{path.name} is not usable: {error}") from error
