"""Finds out what a message means for the choice of patient; the model is asked last.

It is asked the one question of the reader, so that what else it read is asked of nobody again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import structlog

from data_models.errors import ModelError
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContextDecision
from services.identity.names.person import Person
from services.language import reader
from services.language.told.held_statements import withdrawn_value
from services.language.words.phrases import says
from services.model_port import StructuredModel
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import Reading
from services.patient_context.reading.rules import activation, staying
from services.patient_context.reading.snapshot import neutralise

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a message means.

    Attributes:
        problem: If the model failed: what happened, one sentence for the user.
        read: All that the model read in the message; None if it failed.
    """

    decision: PatientContextDecision
    problem: str = ""
    read: reader.MessageReading | None = None


class PatientContextAnalyzer:
    """Reads messages. It keeps nothing between them, so a switch leaves nothing to reset."""

    def __init__(
        self,
        *,
        model: StructuredModel | None,
        pattern: PatientIdPattern,
        team: reader.ReaderTeam | None = None,
    ) -> None:
        self._model = model
        self._pattern = pattern
        self._team = team or reader.ReaderTeam(())
        self._instructions = reader.instructions(self._team, with_patients=True)

    async def ask(
        self, reading: Reading, people: Mapping[PatientId, Person | None] = MappingProxyType({})
    ) -> Analysis:
        """Let the model read what the rules leave open; without one, only what is plain.

        Args:
            people: Whom the user may open, and who they are, as far as that is known; nobody else
                is offered.
        """
        if self._model is None:
            return Analysis(_by_rules(reading))
        # Who was typed comes first.
        every = dict.fromkeys([*reading.named, *reading.digits, *reading.others])
        others = [one for one in every if one in people and one != reading.active]
        others = others[: reader.PATIENTS_LIMIT]
        typed = frozenset([*reading.named, *reading.digits])
        rows = ["" if reading.active is None else _row(reading.active, people, typed=typed)]
        rows += [_row(one, people, typed=typed) for one in others]
        try:
            read = await self._model.ask(
                purpose=reader.PURPOSE,
                instructions=self._instructions,
                text=reader.question(neutralise(reading.text), patients=rows),
                answer=reader.addressed_shape(self._team, len(others)),
            )
        except ModelError as error:
            _log.warning("patient_context_model_failed", code=error.code)
            told = error.user_message.split(". ")[0].rstrip(".")
            return Analysis(_undecided(reading), f"{told}.")
        place = reader.place_of(read.patient)
        meant = others[place] if place is not None and place < len(others) else None
        return Analysis(_decision(read, meant, reading), read=read)


def _row(
    patient_id: PatientId, people: Mapping[PatientId, Person | None], *, typed: frozenset[PatientId]
) -> str:
    """Return who a candidate is: name, sex and year of birth, and the id only if the user typed it.

    It is all that a model is told of another patient (page 10.2).
    """
    if (person := people.get(patient_id)) is None:
        return str(patient_id)
    sex = "" if person.sex == "unknown" else person.sex
    born = f"born {person.birth_date[:4]}" if person.birth_date else ""
    shown = str(patient_id) if patient_id in typed else ""
    return ", ".join(filter(None, (shown, person.name, sex, born)))


def _decision(
    read: reader.AddressedReading, meant: PatientId | None, reading: Reading
) -> PatientContextDecision:
    if read.patient == reader.CLEAR:
        return PatientContextDecision(action="CLEAR", reasoning="the reader")
    if meant is not None:
        return activation(reading, meant)
    if read.patient == reader.ANOTHER or reader.place_of(read.patient) is not None:
        return PatientContextDecision(action="ACTIVATE_NEW", reasoning="the reader")
    return staying(reading, "the reader")


def _by_rules(reading: Reading) -> PatientContextDecision:
    """Go where one typed id alone is meant; a refusal stays, a plain wish clears."""
    if says(reading.text, "negation"):
        return staying(reading, "a refusal")
    if says(reading.text, "clears") and withdrawn_value(reading.text) is None:
        is_wish = not says(reading.text, "never_mind")
        wish = PatientContextDecision(action="CLEAR", reasoning="a wish to clear")
        return wish if is_wish else staying(reading, "a wish that is dropped")
    others = {one for one in reading.named if one != reading.active}
    if len(others) == 1 and not says(reading.text, "in_passing"):
        return activation(reading, others.pop())
    return _undecided(reading)


def _undecided(reading: Reading) -> PatientContextDecision:
    """Fail closed: never go on with the active patient where another may be named."""
    if reading.may_name_another:
        return PatientContextDecision(action="ACTIVATE_NEW", reasoning="no model read it")
    return staying(reading, "no model read it and nobody else is named")
