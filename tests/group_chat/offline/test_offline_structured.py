"""What the offline rules read in the few messages that reach the classifier's model."""

import json

import pytest
from pydantic import BaseModel

from data_models.errors import ModelOutputError
from data_models.patient_context_models import PatientContextDecision
from group_chat.offline.offline_structured import OfflineStructured

INSTRUCTIONS = "A patient ID matches the regular expression ^patient_[0-9]+$ as a whole."


async def decide(
    message: str, *, active: str | None = "patient_4", known: tuple[str, ...] = ("patient_15",)
) -> tuple[str, str | None]:
    roster = [*([active] if active else []), *known]
    question = {"active_patient_id": active, "known_patient_ids": roster, "message": message}
    decision = await OfflineStructured().ask(
        purpose="patient_context",
        instructions=INSTRUCTIONS,
        text=json.dumps(question),
        answer=PatientContextDecision,
    )
    return decision.action, decision.patient_id


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("did the patient change therapy?", ("UNCHANGED", None)),
        ("has patient_23 had surgery?", ("ACTIVATE_NEW", "patient_23")),
        ("has PATIENT_15 had surgery?", ("SWITCH_EXISTING", "patient_15")),
        ("don't switch to patient_15", ("UNCHANGED", None)),
        ("compare with patient_15's scan", ("ACTIVATE_NEW", None)),
        ("patient_15 and patient_23", ("ACTIVATE_NEW", None)),
        ("go to the other patient", ("SWITCH_EXISTING", "patient_15")),
        ("start from scratch", ("CLEAR", None)),
        ("do not clear anything", ("UNCHANGED", None)),
        ("clear the fluid?", ("CLEAR", None)),
        ("patient_4 again", ("UNCHANGED", None)),
    ],
)
async def test_a_message_is_read_carefully(message: str, expected: tuple[str, str | None]) -> None:
    assert await decide(message) == expected


async def test_without_a_patient_nothing_is_turned_to() -> None:
    assert await decide("good morning", active=None, known=()) == ("NONE", None)


async def test_the_other_of_two_is_asked_for() -> None:
    answer = await decide("the other patient", known=("patient_15", "patient_23"))
    assert answer == ("ACTIVATE_NEW", None)


class Word(BaseModel):
    """Another question."""

    word: str


@pytest.mark.parametrize("purpose", ["entities", "patient_context"])
async def test_a_question_it_does_not_know_is_refused(purpose: str) -> None:
    with pytest.raises(ModelOutputError):
        await OfflineStructured().ask(
            purpose=purpose, instructions="", text="patient_4", answer=Word
        )
