"""What is decided without a model of the messages that the rules leave open."""

import pytest

from data_models.identifiers import PatientId
from services.patient_context.reading.analyzer import PatientContextAnalyzer
from services.patient_context.reading.reading import read_message
from tests.services.patient_context.world import PATTERN

OPEN, OTHER, THIRD = map(PatientId, ("patient_4", "patient_15", "patient_23"))


@pytest.mark.parametrize(
    ("message", "action", "patient"),
    [
        ("did the patient change therapy?", "UNCHANGED", None),
        ("wrong patient, I wanted patient_15", "SWITCH_EXISTING", OTHER),
        ("has patient_15 had surgery?", "SWITCH_EXISTING", OTHER),
        ("don't switch to patient_15", "UNCHANGED", None),
        ("compare with patient_15's scan", "ACTIVATE_NEW", None),
        ("patient_15 and patient_23", "ACTIVATE_NEW", None),
        ("start from scratch", "CLEAR", None),
        ("do not clear anything", "UNCHANGED", None),
        ("forget about it all", "CLEAR", None),
        ("clear the fluid?", "UNCHANGED", None),
        ("clear thursday 4pm for me", "UNCHANGED", None),
        ("clear my inbox", "UNCHANGED", None),
        ("back", "ACTIVATE_NEW", None),
        ("and back", "ACTIVATE_NEW", None),
        ("zurück zum ersten", "ACTIVATE_NEW", None),
    ],
)
async def test_only_one_id_that_is_typed_and_meant_opens(
    message: str, action: str, patient: str | None
) -> None:
    reading = read_message(message, active=OPEN, known=[OPEN, OTHER, THIRD], pattern=PATTERN)
    analysis = await PatientContextAnalyzer(model=None, pattern=PATTERN).ask(reading)
    assert analysis.problem == ""
    assert (analysis.decision.action, analysis.decision.patient_id) == (action, patient)
