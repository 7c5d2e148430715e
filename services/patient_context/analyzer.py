"""Finds out what a message means for the choice of patient; the model is asked last."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from data_models.errors import ModelError
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContextDecision
from services.model_port import StructuredModel
from services.patient_context.pattern import PatientIdPattern
from services.patient_context.prompt import instructions, question
from services.patient_context.reading import Reading, read_message
from services.patient_context.rules import decide_by_rules, staying

PURPOSE = "patient_context"
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a message means.

    Attributes:
        problem: If the model failed: what happened, one sentence for the user.
    """

    decision: PatientContextDecision
    problem: str = ""


class PatientContextAnalyzer:
    """Reads messages. It keeps nothing between them, so a switch leaves nothing to reset."""

    def __init__(self, *, model: StructuredModel, pattern: PatientIdPattern) -> None:
        self._model = model
        self._pattern = pattern
        self._instructions = instructions(pattern)

    async def analyze_patient_context(
        self, user_text: str, prior_patient_id: PatientId | None, known_patient_ids: Sequence[str]
    ) -> PatientContextDecision:
        """Return what `user_text` means while `prior_patient_id` is active.

        An activating action without an id means that the user has to be asked. A model that
        fails is no error here: who might be named is asked for, else nothing changes.
        """
        known = [PatientId(one) for one in known_patient_ids]
        reading = read_message(
            user_text, active=prior_patient_id, known=known, pattern=self._pattern
        )
        plain = decide_by_rules(reading)
        if plain is not None:
            return plain
        return (await self.ask(reading)).decision

    async def ask(self, reading: Reading) -> Analysis:
        """Let the model read what the rules leave open."""
        known = (*filter(None, [reading.active]), *reading.others)
        try:
            decision = await self._model.ask(
                purpose=PURPOSE,
                instructions=self._instructions,
                text=question(reading, known),
                answer=PatientContextDecision,
            )
        except ModelError as error:
            _log.warning("patient_context_model_failed", code=error.code)
            return Analysis(_after_failure(reading), _what_happened(error))
        return Analysis(decision)


def _after_failure(reading: Reading) -> PatientContextDecision:
    """Fail closed: never go on with the active patient where another may be named."""
    if reading.may_name_another:
        return PatientContextDecision(action="ACTIVATE_NEW", reasoning="the model failed")
    return staying(reading, "the model failed and nobody else is named")


def _what_happened(error: ModelError) -> str:
    return f"{error.user_message.split('. ')[0].rstrip('.')}."
