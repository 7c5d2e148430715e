"""The exact sentence forms by which clinicians state something, compiled from their files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from services.language.words.vocabulary import read_document

StatementKind: TypeAlias = Literal[
    "allergy", "medication", "code status", "measurement", "social", "note"
]
Polarity: TypeAlias = Literal["present", "absent"]

LANGUAGES = ("en", "de")
_AFTER_LEAD = r"[\s,:\u2026\u2013\u2014-]"
_WHOLE = ("own", "of_patient", "notes", "joins", "corrections", "rather_than", "withdraws",
          "may_withdraw", "withdraws_all")  # fmt: skip
_WORDS = ("adds", "relatives", "no_part", "no_detail")
_ANYWHERE = ("doubts", "guards", "note_guards", "tags")


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of sentence."""

    kind: StatementKind
    polarity: Polarity
    pattern: re.Pattern[str]
    about: str
    only_if_held: bool


@dataclass(frozen=True, slots=True)
class Grammar:
    """The forms of one language, compiled; its file explains them and names the other patterns."""

    patterns: Mapping[str, re.Pattern[str]]
    figures: tuple[re.Pattern[str], ...]
    forms: tuple[Form, ...]

    def __getitem__(self, name: str) -> re.Pattern[str]:
        """Return the pattern that the file calls so."""
        return self.patterns[name]


@cache
def grammars() -> tuple[Grammar, ...]:
    """Return the forms of every language that is known."""
    return tuple(_compile(read_document(one, "held_statements")) for one in LANGUAGES)


def _compile(words: Mapping[str, Any]) -> Grammar:
    parts = {name: f"(?:{'|'.join(values)})" for name, values in words["parts"].items()}

    def pattern(text: str) -> re.Pattern[str]:
        for name, part in parts.items():
            text = text.replace(f"%{name}%", part)
        return re.compile(text, re.IGNORECASE)

    forms = [
        Form(
            row["kind"],
            row.get("polarity", "present"),
            pattern(one),
            row.get("about", ""),
            row.get("only_if_held", False),
        )
        for row in words["forms"]
        for one in row["sentences"]
    ]
    patterns = {name: pattern(words[name]) for name in _WHOLE}
    patterns |= {name: pattern(rf"\b(?:{'|'.join(words[name])})\b") for name in _WORDS}
    patterns |= {name: pattern("|".join(words[name])) for name in _ANYWHERE}
    patterns |= {
        "leads": pattern(rf"^(?:(?:{'|'.join(words['leads'])}){_AFTER_LEAD}+)+"),
        "trails": pattern(rf",?\s+(?:{'|'.join(words['trails'])})$"),
        "refused": pattern(rf"^([^\W\d].*?),?\s+(?:{'|'.join(words['refused'])})$"),
        "correcting": pattern(rf"^(?:{'|'.join(words['correcting'])}){_AFTER_LEAD}"),
        "no_value": pattern(rf"^(?:{'|'.join(words['no_value'])})(?:\s|$)"),
    }
    return Grammar(patterns, tuple(map(pattern, words["figures"])), tuple(forms))
