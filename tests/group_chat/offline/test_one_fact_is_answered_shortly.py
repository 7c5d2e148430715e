"""Questions for one fact over the sample records: one short answer with its source."""

import pytest

from tests.group_chat.offline.conftest import conversation
from tests.tables import with_cases

LONGEST_CHARS = 1_500


@pytest.mark.slow
@with_cases("patient", "text", "said", "not_said")
async def test_one_fact_has_one_short_answer(
    patient: str, text: str, said: str, not_said: str
) -> None:
    talk = conversation(patient_id=patient)
    told = "\n".join(text for _, text in (await talk.say(text)).said)
    assert said in told
    assert not_said not in told
    assert len(told) <= LONGEST_CHARS


@pytest.mark.slow
async def test_what_came_since_an_event_is_told_behind_it() -> None:
    talk = conversation(patient_id="patient_4")
    told = "\n".join(
        text for _, text in (await talk.say("what happened since her last scan?")).said
    )
    _, event, behind = told.split("\n\n", 2)
    assert "CT chest and abdomen, restaging**, 2025-05-16" in event
    assert "Stereotactic radiosurgery" in behind
    assert "2024-" not in behind
