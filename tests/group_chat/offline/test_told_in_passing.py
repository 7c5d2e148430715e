"""What somebody told of a drug is shown beside what the record says of it."""

from tests.group_chat.offline.conftest import conversation

STOPPED = "she told me she stopped osimertinib last week because of a rash"


async def test_a_drug_that_was_told_to_be_stopped_is_not_answered_as_if_nobody_said_so() -> None:
    talk = conversation()
    before = (await talk.say("is she on osimertinib?")).said[-1][1]
    assert STOPPED not in before
    await talk.say(STOPPED)
    said = (await talk.say("is she on osimertinib?")).said[-1][1]
    assert "**Osimertinib**" in said
    assert f"not from the record: “{STOPPED}”" in said
    other = (await talk.say("is she allergic to penicillin?")).said[-1][1]
    assert STOPPED not in other


async def test_what_was_told_of_somebody_else_is_not_shown() -> None:
    talk = conversation()
    await talk.say(STOPPED)
    await talk.say("actually that was about Grace Hill")
    said = (await talk.say("is she on osimertinib?")).said[-1][1]
    assert "**Osimertinib**" in said
    assert STOPPED not in said
