"""The offline rules for the classifier's questions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
        read = {"patient": _decide(_question_of(text)), "task": "answer", "agent": "nobody"}
        try:
            return answer.model_validate(read)
        except ValidationError:
            raise ModelOutputError("the offline rules do not know that shape") from None


@dataclass(frozen=True, slots=True)
class _Question:
    """A message and the patients it may be about besides the open one, by the refs they have."""

    message: str
    others: Mapping[str, str]

    @property
    def named(self) -> list[str]:
        """The refs of those whose id stands in the message."""
        words = {word.strip(".-_").casefold() for word in _TOKEN.findall(self.message)}
        return [ref for ref, row in self.others.items() if row.split(",")[0].casefold() in words]


def _decide(question: _Question) -> str:
    negated = says(question.message, "negation")
    if says(question.message, "clears"):
        never_mind = says(question.message, "never_mind")
        return OPEN if negated or never_mind else CLEAR
    if negated:
        return OPEN
    if question.named:
        return _towards(question.named, question)
    if says(question.message, "other_patient"):
        return _towards(list(question.others), question)
    return OPEN


def _towards(refs: list[str], question: _Question) -> str:
    """Turn to the one patient that is meant; where that is not plain, let the user be asked."""
    plain = len(refs) == 1 and not says(question.message, "in_passing")
    return refs[0] if plain else ANOTHER


def _question_of(text: str) -> _Question:
    """Read the question as the reader writes it; other text is a message about nobody."""
    try:
        asked = orjson.loads(text)
    except orjson.JSONDecodeError:
        asked = {"message": text}
    row: Mapping[str, Any] = asked if isinstance(asked, dict) else {"message": text}
    listed = row.get("patients")
    others = dict(listed) if isinstance(listed, dict) else {}
    others.pop(OPEN, None)
    return _Question(str(row.get("message", "")), {ref: str(one) for ref, one in others.items()})
