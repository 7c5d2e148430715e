"""The offline rules for the classifier's questions."""

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from data_models.errors import ModelOutputError

Answer = TypeVar("Answer", bound=BaseModel)

PATIENT_CONTEXT = "patient_context"

_CLEAR = re.compile(
    r"(?i)^\W*(?:(?:please|can you|could you|let'?s|i want to|now)\W+)*"
    r"(?:clear|reset|forget|wipe|erase|start over|start from scratch)\b"
)
_NEGATED = re.compile(r"(?i)\b(?:do not|don'?t|never|not|without|no need)\b")


class OfflineStructured:
    """The `StructuredModel` of the offline rules.

    What a text may mean about patients is decided by rules before any model is asked; the little
    that reaches this class is read carefully: a wish to clear is only a question to the user,
    and who the patient is stays open where an id alone does not say it.
    """

    async def ask(
        self,
        *,
        purpose: str,
        instructions: str,
        text: str,
        answer: type[Answer],
    ) -> Answer:
        """See `StructuredModel.ask`."""
        if purpose != PATIENT_CONTEXT:
            raise ModelOutputError("the offline rules know no such question")
        action = "CLEAR" if _asks_to_clear(text) else "UNCHANGED"
        try:
            return answer.model_validate(
                {"action": action, "patient_id": None, "reasoning": "offline rules"}
            )
        except ValidationError:
            raise ModelOutputError("the offline rules do not know that shape") from None


def _asks_to_clear(text: str) -> bool:
    return _CLEAR.search(text) is not None and _NEGATED.search(text) is None
