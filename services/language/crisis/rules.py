"""Reads the crisis files, and tells whether a message is a person's call for help. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.errors import ConfigurationError
from data_models.values import ClosedValue
from services.language.words.vocabulary import yaml_in

# Text as the crisis rules read it: one spelling, no ornaments, places of sentences kept.

_APOSTROPHE = re.compile(r"(?<=\w)['’‘`](?=\w)")
_DOTS = re.compile(r"\.{3,}|…")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ORNAMENT = re.compile(r"[^\w\s.!?;:\"*#$]|(?<=\s)\*|\*(?=\s|$)")
_QUOTES = re.compile(r"[“”„«»‘’']")
_SPACES = re.compile(r"\s+")


class Folding:
    """Folds text; `spellings` maps a word to how else people type it."""

    def __init__(self, *, spellings: Mapping[str, Sequence[str]]) -> None:
        self._words = {
            typed: word for word, variants in spellings.items() for typed in map(_plain, variants)
        }
        alternatives = "|".join(
            re.escape(typed) for typed in sorted(self._words, key=len, reverse=True)
        )
        self._typed = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if alternatives else None

    def __call__(self, text: str) -> str:
        """Return `text` folded: lower case, each word as the rules spell it."""
        folded = _plain(text)
        if self._typed is None:
            return folded
        return self._typed.sub(lambda found: self._words[found[0]], folded)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _APOSTROPHE.sub("", _INVISIBLE.sub("", text))
    text = _QUOTES.sub('"', _DOTS.sub(" ", text))
    return _SPACES.sub(" ", _ORNAMENT.sub(" ", text)).strip()


RULES_FILE = Path(__file__).parent / "crisis.yaml"
OTHER_FILES = (Path(__file__).parent / "crisis.de.yaml",)
CrisisKind: TypeAlias = Literal["self_harm", "poisoning", "emergency", "violence"]
_NESTING = 3
"""How deep definitions use one another."""
_DEFINITION = re.compile(r"<([a-z]+)>")
_SENTENCE_END = re.compile(r"[.!?;]")
_QUOTED = re.compile(r'"[^"]*(?:"|$)')


class RuleSpec(BaseModel):
    """One rule as the file writes it; the head of the file explains the fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    kind: CrisisKind
    needs: tuple[str, ...] = Field(min_length=1)
    find: str
    before: str | None = None
    after: str | None = None
    unless: str | None = None
    with_: str | None = Field(default=None, alias="with")


class RulesFile(ClosedValue):
    """The whole file."""

    language: str
    to_talk: str = "To talk to somebody: {line}."
    answers: Mapping[CrisisKind, str]
    spellings: Mapping[str, tuple[str, ...]]
    definitions: Mapping[str, str]
    reported: str
    labelled: str
    rules: tuple[RuleSpec, ...] = Field(min_length=1)


class _Rule:
    """One rule. It is compiled when a word of it is first met, or by `CrisisRules.compile`."""

    def __init__(self, *, spec: RuleSpec, definitions: Mapping[str, str]) -> None:
        self.kind = spec.kind
        self.needs = frozenset(spec.needs)
        self._spec = spec
        self._definitions = definitions

    @cached_property
    def patterns(self) -> "_Patterns":
        """What the rule looks for, compiled."""
        spec, definitions = self._spec, self._definitions
        return _Patterns(
            find=_compiled(spec.find, definitions),
            before=_compiled_if(spec.before, definitions),
            after=_compiled_if(spec.after, definitions),
            unless=_compiled_if(spec.unless, definitions),
            with_=_compiled_if(spec.with_, definitions),
        )

    def finds(self, text: str) -> Iterator[int]:
        """Yield where in the folded `text` the rule is met."""
        look = self.patterns
        if look.with_ is not None and look.with_.search(text) is None:
            return
        for found in look.find.finditer(text):
            start, end = found.span()
            if look.before is not None and look.before.search(text[:start].rstrip()):
                continue
            if look.after is not None and look.after.search(text[end:]):
                continue
            if look.unless is not None and look.unless.search(_sentence(text, start, end)):
                continue
            yield start


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patterns:
    """Attributes are named like the fields of `RuleSpec`."""

    find: re.Pattern[str]
    before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    with_: re.Pattern[str] | None


class CrisisRules:
    """The rules of one file. Holds nothing of any message.

    They can be asked at once; `compile` spares the first messages the work, and tells what of it
    cannot be done.
    """

    def __init__(self, *, file: RulesFile) -> None:
        self.answers = file.answers
        self.to_talk = file.to_talk
        self._folding = Folding(spellings=file.spellings)
        self._rules = tuple(_Rule(spec=spec, definitions=file.definitions) for spec in file.rules)
        self._needed = frozenset(word for rule in self._rules for word in rule.needs)
        self._reported = _compiled(file.reported, file.definitions)
        self._labelled = _compiled(file.labelled, file.definitions)

    def compile(self) -> None:
        """Compile every rule, which takes a tenth of a second; safe in a thread.

        Raises:
            ConfigurationError: a rule is not usable.
        """
        try:
            for rule in self._rules:
                _ = rule.patterns
        except (re.error, KeyError) as error:
            kind = type(error).__name__
            raise ConfigurationError(
                f"a rule of {RULES_FILE.name} is not usable: {kind}"
            ) from error

    def crisis_in(self, text: str) -> CrisisKind | None:
        """Return what kind of help `text` calls for; None for everything else.

        The first rule of the file that is met outside reported speech counts.
        """
        folded = self._folding(self._without_transcript(text))
        said = {*filter(folded.__contains__, self._needed)}
        met = [rule for rule in self._rules if said & rule.needs] if said else []
        if not met:
            return None
        handed_on = list(self._handed_on(folded))
        for rule in met:
            for start in rule.finds(folded):
                if not any(first <= start < last for first, last in handed_on):
                    return rule.kind
        return None

    def _without_transcript(self, text: str) -> str:
        """Return `text` without the lines that begin with somebody else's label, as in `Pt: …`."""
        return "\n".join(line for line in text.splitlines() if not self._labelled.match(line))

    def _handed_on(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the quotations in which a clinician hands on what somebody else said."""
        for found in _QUOTED.finditer(text):
            if self._reported.search(text[: found.start()]):
                yield found.span()


def load_rules(path: Path = RULES_FILE) -> CrisisRules:
    """Return the rules in `path`.

    Raises:
        ConfigurationError: the file is absent, no YAML, or not usable; the text says where.
    """
    try:
        return CrisisRules(file=RulesFile.model_validate(yaml_in(path)))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path.name} cannot be read") from error
    except (ValidationError, re.error, KeyError) as error:
        raise ConfigurationError(f"{path.name} is not usable: {type(error).__name__}") from error


def load_other_rules() -> tuple[CrisisRules, ...]:
    """Return the rules of the other languages, each with its own answers.

    Raises:
        ConfigurationError: a file is absent, no YAML, or not usable; the text says where.
    """
    return tuple(load_rules(path) for path in OTHER_FILES)


def _compiled(pattern: str, definitions: Mapping[str, str]) -> re.Pattern[str]:
    for _ in range(_NESTING):
        pattern = _DEFINITION.sub(lambda found: definitions[found[1]], pattern)
    return re.compile(pattern)


def _compiled_if(pattern: str | None, definitions: Mapping[str, str]) -> re.Pattern[str] | None:
    return None if pattern is None else _compiled(pattern, definitions)


def _sentence(text: str, start: int, end: int) -> str:
    """Return the sentence of `text` that holds the span."""
    begins = max((found.end() for found in _SENTENCE_END.finditer(text, 0, start)), default=0)
    ends = _SENTENCE_END.search(text, end)
    return text[begins : ends.start() if ends is not None else len(text)]
