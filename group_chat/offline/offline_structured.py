"""The offline rules for the classifier's questions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from data_models.errors import ModelOutputError
from group_chat.offline.extraction import findings_in

Answer = TypeVar("Answer", bound=BaseModel)

SCENARIO_EXTRACTOR = "scenario_extractor"
PATIENT_CONTEXT = "patient_context"

_CLEAR = re.compile(
    r"(?i)^\W*(?:(?:please|can you|could you|let'?s|i want to|now)\W+)*"
    r"(?:clear|reset|forget|wipe|erase|start over|start from scratch)\b"
)
_NEVER_MIND = re.compile(r"(?i)^\W*forget (?:about )?(?:it|that|this)\W*$")
_NEGATED = re.compile(r"(?i)\b(?:do not|don'?t|never|not|without|no need)\b")
_IN_PASSING = re.compile(
    r"(?i)\b(?:compare|compared|comparing|like|than|versus|vs|similar|unlike|same as|both|and)\b"
)
_ELSEWHERE = re.compile(
    r"(?i)\b(?:other|another|different|previous|next|first|second|last) patient\b"
)
_PATTERN = re.compile(r"regular expression (\S{1,200}) as a whole")
_TOKEN = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)


class OfflineStructured:
    """The `StructuredModel` of the offline rules.

    What a text plainly says about patients is decided by rules before any model is asked. The
    little that reaches this class is read carefully: where it is not plain who is meant, the
    answer is an activation without an id, which means that the user is asked.
    """

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        """See `StructuredModel.ask`."""
        if purpose == SCENARIO_EXTRACTOR:
            return answer.model_validate(findings_in(text))
        if purpose != PATIENT_CONTEXT:
            raise ModelOutputError("the offline rules know no such question")
        action, patient_id = _decide(_question_of(text, instructions))
        decision = {"action": action, "patient_id": patient_id, "reasoning": "offline rules"}
        try:
            return answer.model_validate(decision)
        except ValidationError:
            raise ModelOutputError("the offline rules do not know that shape") from None


@dataclass(frozen=True, slots=True)
class _Question:
    """A message and the patients it may be about; `named` are the ids in it."""

    message: str
    active: str | None
    known: tuple[str, ...]
    named: tuple[str, ...]

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(one for one in self.known if one != self.active)


def _decide(question: _Question) -> tuple[str, str | None]:
    negated = _NEGATED.search(question.message) is not None
    stay = ("UNCHANGED" if question.active else "NONE", None)
    if _CLEAR.search(question.message):
        never_mind = _NEVER_MIND.search(question.message) is not None
        return stay if negated or never_mind else ("CLEAR", None)
    if negated:
        return stay
    elsewhere = [one for one in question.named if one != question.active]
    if elsewhere:
        return _towards(elsewhere, question)
    if _ELSEWHERE.search(question.message):
        return _towards(list(question.others), question)
    return stay


def _towards(patients: list[str], question: _Question) -> tuple[str, str | None]:
    """Turn to the one patient that is meant; where that is not plain, let the user be asked."""
    plain = len(patients) == 1 and not _IN_PASSING.search(question.message)
    if not plain:
        return "ACTIVATE_NEW", None
    return "SWITCH_EXISTING" if patients[0] in question.known else "ACTIVATE_NEW", patients[0]


def _question_of(text: str, instructions: str) -> _Question:
    """Read the question as the analyzer writes it; other text is a message about nobody."""
    try:
        asked = orjson.loads(text)
    except orjson.JSONDecodeError:
        asked = {"message": text}
    row: Mapping[str, Any] = asked if isinstance(asked, dict) else {"message": text}
    message = str(row.get("message", ""))
    known = tuple(str(one) for one in row.get("known_patient_ids") or ())
    active = row.get("active_patient_id")
    return _Question(
        message=message,
        active=str(active) if active else None,
        known=known,
        named=tuple(dict.fromkeys(_named(message, known, instructions))),
    )


def _named(message: str, known: tuple[str, ...], instructions: str) -> list[str]:
    """Return the ids in `message`: the roster's in the roster's spelling, new ones as typed."""
    spelling = {one.casefold(): one for one in known}
    pattern = _PATTERN.search(instructions)
    fits = re.compile(pattern[1] if pattern else r"(?!)", re.IGNORECASE)
    tokens = [token.strip(".-_") for token in _TOKEN.findall(message)]
    return [
        spelling.get(token.casefold(), token)
        for token in tokens
        if token.casefold() in spelling or fits.fullmatch(token)
    ]
