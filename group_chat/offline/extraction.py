"""The offline rules for reading fields out of what the user said earlier."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from data_models.errors import ModelOutputError
from data_models.scenario import FieldDefinition
from services.scenarios.session.answers import pattern_of, value_in

_STATED, _SEEN = 0.97, 0.9
_END = re.compile(r"[,;\n]| and |\.(?:\s|$)")
_AGE = re.compile(r"(?i)\b(?:i am|i'm|aged?|she is|he is|patient is)\s+(\d{1,3})\b")
_BORN = re.compile(r"(?i)\bborn (?:on |in )?([^,;.\n]{4,30})")


def findings_in(text: str) -> dict[str, Any]:
    """Return the findings of a question that `services.scenarios.session.extraction` has written.

    Raises:
        ModelOutputError: it is not of that form.
    """
    try:
        asked = orjson.loads(text)
        fields = [_field(row) for row in asked["fields"]]
        turns = [str(turn) for turn in asked["turns"]]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise ModelOutputError("the question cannot be read") from None
    found = (_newest(field, turns) for field in fields)
    return {"found": [row for row in found if row is not None]}


def _field(row: Mapping[str, Any]) -> FieldDefinition:
    return FieldDefinition(name=row["name"], display_name=row["label"], value_type=row["type"])


def _newest(field: FieldDefinition, turns: Sequence[str]) -> dict[str, Any] | None:
    for turn in reversed(turns):
        for quote, words, confidence in _candidates(field, turn):
            value = value_in(field, words)
            if value is not None:
                row = {"field": field.name, "value": _written(value), "quote": quote.strip()}
                return row | {"confidence": confidence}
    return None


def _candidates(field: FieldDefinition, turn: str) -> Iterator[tuple[str, str, float]]:
    """Yield quotes, the words in them that hold the value, and how sure they are."""
    label = re.escape(field.label).replace(r"\ ", r"[ _]")
    stated = rf"(?i)\b(?:{label}|{re.escape(field.name)})\b(?: is|:| =|,)\s*"
    for found in re.finditer(stated, turn):
        rest = _END.split(turn[found.end() :], maxsplit=1)[0]
        yield turn[found.start() : found.end() + len(rest)], rest, _STATED
    special = _AGE if "age" in field.name.split("_") else _BORN if "birth" in field.name else None
    for match in special.finditer(turn) if special is not None else ():
        yield match[0], match[1], _STATED
    shape = pattern_of(field)
    for match in shape.finditer(turn) if shape is not None else ():
        yield match[0], match[0], _SEEN


def _written(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
