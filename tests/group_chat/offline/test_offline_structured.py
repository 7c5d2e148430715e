"""What the offline rules read in the few messages that reach the classifier's model."""

import pytest
from pydantic import BaseModel

from data_models.errors import ModelOutputError
from group_chat.offline.offline_structured import OfflineStructured
from services.language.reader import AddressedReading, question


async def decide(message: str, *others: str, is_open: bool = True) -> str:
    asked = question(message, patients=["patient_4" if is_open else "", *others])
    reading = await OfflineStructured().ask(
        purpose="reader", instructions="", text=asked, answer=AddressedReading
    )
    return reading.patient


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("did the patient change therapy?", "open"),
        ("has patient_23 had surgery?", "p2"),
        ("has PATIENT_15 had surgery?", "p1"),
        ("don't switch to patient_15", "open"),
        ("compare with patient_15's scan", "another"),
        ("patient_15 and patient_23", "another"),
        ("go to the other patient", "another"),
        ("start from scratch", "clear"),
        ("do not clear anything", "open"),
        ("clear the fluid?", "open"),
        ("clear thursday 4pm for me", "open"),
        ("clear my inbox", "open"),
        ("forget about it all", "clear"),
        ("wipe the chat please", "clear"),
        ("patient_4 again", "open"),
    ],
)
async def test_a_message_is_read_carefully(message: str, expected: str) -> None:
    assert await decide(message, "patient_15, Zoë Çelik, born 1979-11-02", "patient_23") == expected


async def test_without_a_patient_nothing_is_turned_to() -> None:
    assert await decide("good morning", is_open=False) == "open"


async def test_the_only_other_is_turned_to() -> None:
    assert await decide("go to the other patient", "patient_15") == "p1"


class Word(BaseModel):
    """Another question."""

    word: str


@pytest.mark.parametrize("purpose", ["entities", "reader"])
async def test_a_question_it_does_not_know_is_refused(purpose: str) -> None:
    with pytest.raises(ModelOutputError):
        await OfflineStructured().ask(
            purpose=purpose, instructions="", text="patient_4", answer=Word
        )
