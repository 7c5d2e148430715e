"""What somebody told of a drug is shown beside what the record says of it."""

import pytest

from tests.group_chat.offline.conftest import conversation
from tests.tables import with_cases

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


async def test_what_puts_right_what_was_told_is_no_question_and_stands_beside_it() -> None:
    talk = conversation()
    await talk.say("her potassium was 6.1 on the phone")
    put_right = (await talk.say("no, I meant 5.1")).said[-1][1]
    assert "“no, I meant 5.1”" in put_right
    said = (await talk.say("potassium?")).said[-1][1]
    assert "“her potassium was 6.1 on the phone; no, I meant 5.1”" in said


async def test_an_order_behind_what_was_told_is_done() -> None:
    talk = conversation()
    await talk.say("she feels dizzy")
    said = await talk.say("sorry, remind me to call the lab")
    assert "held in this conversation" not in said.said[-1][1]


async def test_what_is_to_be_forgotten_is_not_shown_again() -> None:
    talk = conversation()
    await talk.say("her K was 6.1 on the phone")
    await talk.say("she told me she stopped osimertinib last week")
    await talk.say("forget what I said about her potassium")
    assert "6.1" not in (await talk.say("potassium?")).said[-1][1]
    assert "stopped" in (await talk.say("is she on osimertinib?")).said[-1][1]


async def test_what_is_put_right_after_a_question_stands_beside_it_as_well() -> None:
    talk = conversation()
    await talk.say("she told me she stopped osimertinib last week")
    await talk.say("is she on osimertinib?")
    await talk.say("actually she still takes it")
    said = (await talk.say("is she on osimertinib?")).said[-1][1]
    assert said.count("she told me she stopped osimertinib last week") == 1
    assert "; actually she still takes it”" in said


@with_cases("said", "told")
@pytest.mark.slow
async def test_what_is_told_beside_a_wish_is_not_lost(said: str, told: str) -> None:
    talk = conversation()
    await talk.say(said)
    assert f"not from the record: “{told}”" in (await talk.say("potassium?")).said[-1][1]


async def test_a_value_behind_words_that_take_one_back_takes_its_place() -> None:
    talk = conversation()
    await talk.say("K 5.9 at noon per lab")
    assert "“that was wrong, K is 4.9”" in (await talk.say("that was wrong, K is 4.9")).said[-1][1]
    said = (await talk.say("potassium?")).said[-1][1]
    assert "“K is 4.9”" in said
    assert "5.9" not in said


async def test_a_denial_that_somebody_is_said_to_make_is_told_and_stands_beside_the_record() -> (
    None
):
    talk = conversation()
    told = (await talk.say("no drug allergies, she says")).said[-1][1]
    assert "held in this conversation" in told
    assert "“no drug allergies, she says”" in (await talk.say("allergies?")).said[-1][1]
