"""A named allergy that is not recorded is said, with those that are; a mention is no allergy."""

import pytest

from tests.group_chat.offline.conftest import conversation


@pytest.mark.parametrize("thing", ["contrast", "latex"])
@pytest.mark.slow
async def test_what_is_not_recorded_is_said_with_the_allergies_that_are(thing: str) -> None:
    talk = conversation()
    said = (await talk.say(f"is she allergic to {thing}?")).said[-1][1]
    assert f"“{thing}” (1 allergy): not in the record." in said
    assert "**Penicillin (rash)**" in said
    assert "CT chest" not in said


async def test_a_recorded_one_is_a_yes() -> None:
    talk = conversation()
    said = (await talk.say("is she allergic to penicillin?")).said[-1][1]
    assert "Yes: **Penicillin (rash)**" in said
