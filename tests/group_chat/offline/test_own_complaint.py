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


@pytest.mark.parametrize(
    ("said", "honest"),
    [("she takes 5 mg of bisoprolol since last week", "only as what you wrote"),
     ("what time is it?", "I did not understand")],
)  # fmt: skip
async def test_what_is_no_answer_is_not_looked_up_in_the_chart(said: str, honest: str) -> None:
    talk = conversation()
    await talk.say("@GeneralHealth my back hurts today")
    told = (await talk.say(f"@GeneralHealth {said}")).said[-1][1]
    assert honest in told
    assert "Osimertinib" not in told
