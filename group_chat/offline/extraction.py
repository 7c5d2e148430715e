"""The offline rules for reading fields out of what the user said earlier."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from data_models.errors import ModelOutputError
from data_models.scenario import FieldDefinition
from group_chat.offline.scenario import field_of
from services.language.field_answers import pattern_of, value_in
from services.language.field_statements import ages_in, births_in, statements_of

_STATED, _SEEN = 0.97, 0.9


def findings_in(text: str) -> dict[str, Any]:
    """Return the findings of a question that `services.scenarios.session.extraction` has written.

    Raises:
        ModelOutputError: it is not of that form.
    """
    try:
        asked = orjson.loads(text)
        fields = [field_of(row) for row in asked["fields"]]
        turns = [str(turn) for turn in asked["turns"]]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise ModelOutputError("the question cannot be read") from None
    found = (_newest(field, turns) for field in fields)
    return {"found": [row for row in found if row is not None]}


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
    for quote, words in statements_of((field.label, field.name), turn):
        yield quote, words, _STATED
    kinds = field.name.split("_")
    read = ages_in if "age" in kinds else births_in if "birth" in kinds else None
    for quote, words in read(turn) if read is not None else ():
        yield quote, words, _STATED
    shape = pattern_of(field)
    for match in shape.finditer(turn) if shape is not None else ():
        yield match[0], match[0], _SEEN


def _written(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
