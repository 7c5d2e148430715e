"""A user's own complaint is talked about; the open chart has no part in it."""

import pytest

from tests.group_chat.offline.conftest import conversation


@pytest.mark.parametrize("told", ["I have a headache since yesterday", "my back hurts"])
async def test_a_complaint_is_asked_about(told: str) -> None:
    said = (await conversation().say(f"@GeneralHealth {told}")).said[-1][1]
    assert said.endswith("How strong is it now, from 1 to 10?")
    assert "no diagnosis" in said


async def test_nothing_of_the_open_chart_stands_in_it() -> None:
    said = (await conversation().say("@GeneralHealth my own back hurts today")).said[-1][1]
    assert "patient-4" not in said
    assert "Osimertinib" not in said


async def test_what_is_told_of_the_patient_is_no_answer_about_it() -> None:
    talk = conversation()
    await talk.say("my back hurts today")
    assert (await talk.say("she takes 5 mg of bisoprolol since last week")).speakers == [
        "Orchestrator"
    ]
