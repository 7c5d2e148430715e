"""The offline rules for structured questions: whom a message means, what fields were stated."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from data_models.errors import ModelOutputError
from data_models.scenario import FieldDefinition
from group_chat.offline.prompt import object_of
from group_chat.offline.scenario import field_of
from services.language.field_answers import pattern_of, value_in
from services.language.field_statements import ages_in, births_in, statements_of
from services.language.phrases import says
from services.language.reader import ANOTHER, CLEAR, OPEN, PURPOSE

Answer = TypeVar("Answer", bound=BaseModel)

SCENARIO_EXTRACTOR = "scenario_extractor"

_STATED, _SEEN = 0.97, 0.9
_TOKEN = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)


class OfflineStructured:
    """The `StructuredModel` of the offline rules.

    What a text plainly says about patients is decided by rules before any model is asked. The
    little that reaches this class is read carefully: where it is not plain who is meant, the
    answer is somebody else, which means that the user is asked.
    """

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        """See `StructuredModel.ask`."""
        if purpose == SCENARIO_EXTRACTOR:
            return answer.model_validate(findings_in(text))
        if purpose != PURPOSE:
            raise ModelOutputError("the offline rules know no such question")
        read = {"patient": _read(text), "task": "answer", "agent": "nobody"}
        try:
            return answer.model_validate(read)
        except ValidationError:
            raise ModelOutputError("the offline rules do not know that shape") from None


def _read(text: str) -> str:
    """Return the ref of whom the message of a question is about; another where that is not plain.

    The question is as the reader writes it; other text is a message about nobody.
    """
    row = object_of(text)
    message, listed = str(row.get("message", "")), row.get("patients")
    others = {ref: str(one) for ref, one in listed.items()} if isinstance(listed, dict) else {}
    others.pop(OPEN, None)
    negated = says(message, "negation")
    if negated or says(message, "clears"):
        return OPEN if negated or says(message, "never_mind") else CLEAR
    words = {word.strip(".-_").casefold() for word in _TOKEN.findall(message)}
    named = [ref for ref, one in others.items() if one.split(",")[0].casefold() in words]
    meant = named or (list(others) if says(message, "other_patient") else [])
    is_plain = len(meant) == 1 and not says(message, "in_passing")
    is_of_others = bool(named) or says(message, "other_patient")
    return (meant[0] if is_plain else ANOTHER) if is_of_others else OPEN


def findings_in(text: str) -> dict[str, Any]:
    """Return the findings of a question that `services.scenarios.session.extraction` has written.

    Raises:
        ModelOutputError: it is not of that form.
    """
    asked = object_of(text)
    try:
        fields = [field_of(row) for row in asked["fields"]]
        turns = [str(turn) for turn in asked["turns"]]
    except (KeyError, TypeError):
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
