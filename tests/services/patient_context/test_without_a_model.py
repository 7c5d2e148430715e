"""What is decided without a model of the messages that the rules leave open."""

from data_models.identifiers import PatientId
from services.patient_context.reading.analyzer import PatientContextAnalyzer
from services.patient_context.reading.reading import read_message
from tests.services.patient_context.world import PATTERN
from tests.tables import with_cases

OPEN, OTHER, THIRD = map(PatientId, ("patient_4", "patient_15", "patient_23"))


@with_cases("message", "action", "patient")
async def test_only_one_id_that_is_typed_and_meant_opens(
    message: str, action: str, patient: str | None
) -> None:
    reading = read_message(message, active=OPEN, known=[OPEN, OTHER, THIRD], pattern=PATTERN)
    analysis = await PatientContextAnalyzer(model=None, pattern=PATTERN).ask(reading)
    assert analysis.problem == ""
    assert (analysis.decision.action, analysis.decision.patient_id) == (action, patient)
