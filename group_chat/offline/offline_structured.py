"""The offline rules for the classifier's questions."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from data_models.errors import ModelOutputError
from group_chat.offline.extraction import findings_in
from services.language.phrases import says
from services.language.reader import ANOTHER, CLEAR, OPEN, PURPOSE

Answer = TypeVar("Answer", bound=BaseModel)

SCENARIO_EXTRACTOR = "scenario_extractor"

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
    try:
        asked = orjson.loads(text)
    except orjson.JSONDecodeError:
        asked = None
    row: Mapping[str, Any] = asked if isinstance(asked, dict) else {"message": text}
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
