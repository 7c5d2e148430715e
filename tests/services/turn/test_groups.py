"""In a group a clear is asked of who said it, and switches and ended plans are told to all."""

import asyncio

import pytest

from data_models.chat_context import Continuation
from data_models.conversations.incoming_message import IncomingMessage, Press, Sender
from data_models.conversations.plan import Plan, PlanStatus, PlanStep
from data_models.conversations.turn_events import AgentTextDelta, Notice, StateChanged
from services.group_chat_port import (
    ContinuationChanged,
    GroupChatEvent,
    GroupChatRequest,
    PlanChanged,
    QuestionAsked,
)
from services.records.fhir.reading import current_reader
from tests.services.world import ENDLESS, Heard, World, heard


async def said(world: World, who: str, text: str, *, press: Press | None = None) -> Heard:
    return await heard(await world.scheduler.submit(of_group(world, who, text, press=press)))


def of_group(world: World, who: str, text: str, *, press: Press | None = None) -> IncomingMessage:
    message = world.message(text, owner="bot:msteams:t", press=press)
    sender = Sender(principal_id=f"user:{who}", display_name=who)
    return message.model_copy(
        update={"sender": sender, "channel": "bot", "channel_id": "msteams", "is_group": True}
    )


def notices(one: Heard) -> str:
    return "\n".join(event.text for event in one.events if isinstance(event, Notice))


def question_id(one: Heard) -> str:
    states = [event.state for event in one.events if isinstance(event, StateChanged)]
    question = states[-1].question
    return "" if question is None else question["id"]


async def test_a_clear_in_a_group_is_asked_of_who_said_it() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Anna", "what is the stage?")

    asked = await said(world, "Bert", "clear patient context")
    by_another = await said(world, "Anna", "yes")

    assert "Bert, this group shares one conversation" in asked.texts[-1]
    assert "Cleared" not in "".join(by_another.texts)
    assert not [name for name in world.sessions.contents if "/archive/" in name]  # type: ignore[attr-defined]


async def test_charts_are_read_for_whoever_said_the_message_that_is_answered() -> None:
    world, readers = World(), list[str]()

    async def read(_: GroupChatRequest) -> None:
        await asyncio.create_task(asyncio.sleep(0))
        readers.append(current_reader())

    await said(world, "Anna", "open patient_4")
    world.team.first = read
    world.team.gate.clear()
    runs = [
        await world.scheduler.submit(of_group(world, who, "and the stage?"))
        for who in ("Anna", "Bert", "Anna")
    ]
    world.team.gate.set()
    for run in runs:
        await run.wait()
    assert readers == ["user:Anna", "user:Bert", "user:Anna"]
    assert current_reader() == ""


async def test_the_sayer_s_yes_clears_and_names_who_did_it() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Bert", "clear patient context")

    done = await said(world, "Bert", "yes")

    assert done.texts[-1].startswith("Bert cleared this conversation for everybody. Cleared.")


async def test_the_sayer_s_button_clears_too_and_a_no_clears_nothing() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    asked = await said(world, "Bert", "clear patient context")
    refused = await said(world, "Bert", "no")
    again = await said(world, "Bert", "clear patient context")
    press = Press(target_id=question_id(again), answer="yes")
    pressed = await said(world, "Bert", "Yes", press=press)

    assert question_id(asked)
    assert refused.texts == ["All right, nothing was cleared."]
    assert "Cleared." in pressed.texts[-1]


async def test_a_user_alone_clears_at_once() -> None:
    world = World()
    await world.say("open patient_4")

    assert (await world.say("clear patient context")).texts[-1].startswith("Cleared.")


async def test_what_another_was_asked_and_waits_for_is_told_when_the_chart_changes() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Anna", "open patient_15")
    await said(world, "Anna", "wrong patient")
    await said(world, "Anna", "what is the weight?")
    await said(world, "Bert", "clear patient context")

    moved = await said(world, "Bert", "open patient_4")

    assert "“what is the weight?” was not answered" in notices(moved)
    assert "Clear this whole" not in notices(moved)  # Bert's own ends with his message

    await said(world, "Anna", "clear patient context")
    moved = await said(world, "Bert", "open patient_15")
    assert "is over with the chart before; nothing was done." in notices(moved)
    assert notices(await said(world, "Bert", "open patient_4")).count("\n") == 0


@pytest.mark.parametrize("answer", ["yes", "no", "1"])
async def test_a_late_answer_is_no_message_about_the_chart_that_is_open_by_now(answer: str) -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Anna", "clear patient context")
    await said(world, "Bert", "open patient_15")

    assert "is over: the chart was changed" in (await said(world, "Anna", answer)).texts[-1]


async def test_a_switch_is_told_to_the_group_with_who_made_it() -> None:
    world = World()
    first = await said(world, "Anna", "open patient_4")
    again = await said(world, "Anna", "what is the stage?")

    moved = await said(world, "Bert", "open patient_15")

    assert notices(first) == notices(again) == ""
    told = "Bert opened another chart for this group: patient_15 (before: patient_4)."
    assert told in notices(moved)


async def test_after_another_s_switch_a_question_is_not_answered_from_the_new_chart() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Bert", "open patient_15")
    before = len(world.team.requests)

    asked = await said(world, "Anna", "what dose does she get?")

    assert "Another chart was opened here meanwhile" in asked.texts[-1]
    assert len(world.team.requests) == before


async def test_what_waits_for_one_of_two_charts_is_not_done_in_a_third() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Bert", "open patient_15")
    await said(world, "Anna", "what dose does she get?")
    before = len(world.team.requests)

    moved = await said(world, "Anna", "open patient_42")

    assert "was not answered" in "".join(moved.texts) + notices(moved)
    assert len(world.team.requests) == before


async def test_who_still_sees_a_chart_that_was_cleared_is_asked() -> None:
    world = World()
    await world.say("open patient_4")
    await world.say("clear patient context")
    await world.say("open patient_15")

    asked = await world.say("what is the stage?", seen_patient_id="patient_4")

    assert "Another chart was opened here meanwhile" in asked.texts[-1]


async def test_a_yes_to_the_plan_of_a_chart_that_is_open_no_more_is_asked_about() -> None:
    world = World()
    await world.say("open patient_4")
    await world.say("open patient_15")
    before = len(world.team.requests)

    asked = await world.say("yes, go ahead", seen_patient_id="patient_4")

    assert "Another chart was opened here meanwhile" in asked.texts[-1]
    assert len(world.team.requests) == before


async def test_thanks_after_another_s_switch_are_about_nobody() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Bert", "open patient_15")

    assert "Whom is your message about" not in (await said(world, "Anna", "thanks")).texts[-1]


async def test_a_yes_of_who_was_not_asked_leaves_another_s_question_open() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Bert", "open patient_15")
    asked = await said(world, "Bert", "clear patient context")
    await said(world, "Anna", "yes")

    done = await said(world, "Bert", "yes")

    assert question_id(asked)
    assert "Cleared." in done.texts[-1]


@pytest.mark.slow
@pytest.mark.parametrize("words", ["cancel it", "9", "yes", "tuesday"])
async def test_another_ones_form_hears_nobody_else(words: str) -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    waits = Continuation(agent="Orchestrator", asked_at=world.clock.now())
    world.team.also = lambda _: [ContinuationChanged(waits)]
    await said(world, "Anna", "book an appointment")
    world.team.also = lambda _: []

    await said(world, "Bert", words)
    await said(world, "Anna", "monday")

    heard = {one.text: one.continuation for one in world.team.requests}
    assert heard.get(words) is None
    assert heard["monday"] is not None


@pytest.mark.slow
async def test_who_says_of_another_ones_words_that_they_are_of_somebody_else_is_told() -> None:
    world = World()
    for words in ("open patient_7", "open patient_4", "she told me she had a fall"):
        await said(world, "Anna", words)

    told = await said(world, "Bert", "no, that was about patient_7")
    await said(world, "Bert", "no")
    listed = await said(world, "Anna", "what did I tell you about her?")

    assert "Anna said that, so it still counts: “she told me she had a fall”" in told.texts[-1]
    assert "she had a fall" in listed.texts[-1]
    assert "that was about" not in listed.texts[-1]


@pytest.mark.slow
@pytest.mark.parametrize("word", ["yes", "no"])
async def test_a_yes_or_no_to_what_somebody_else_was_asked_does_nothing(word: str) -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    world.team.also = lambda _: [
        QuestionAsked("destructive_tool", "Cancel it? yes / no", {}),
        ContinuationChanged(Continuation(agent="Orchestrator", asked_at=world.clock.now())),
    ]
    await said(world, "Anna", "cancel the visit")
    before = len(world.team.requests)

    by_another = await said(world, "Bert", word)

    assert "Somebody else here was asked that" in by_another.texts[-1]
    assert len(world.team.requests) == before


async def test_what_another_one_told_in_passing_stays_and_that_is_told() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Anna", "the nurse says she had a fall yesterday")

    told = await said(world, "Bert", "forget that")
    listed = await said(world, "Anna", "what did I tell you about her?")

    assert "Anna said that, so it still counts: “the nurse says she had a fall" in told.texts[-1]
    assert "she had a fall yesterday" in listed.texts[-1]


async def test_what_another_one_stated_stays_and_that_is_told() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Anna", "she is DNR")

    told = await said(world, "Bert", "forget that")
    known = await said(world, "Bert", "what do you know about her?")

    assert told.texts[-1].startswith("Anna said that, so it is still held: “Code status: DNR”.")
    assert "Code status: DNR" in known.texts[-1]


def proposing(request: GroupChatRequest, status: PlanStatus = "proposed") -> list[GroupChatEvent]:
    plan = request.plan or Plan(
        plan_id="plan_1",
        run_id=request.run_id,
        steps=[PlanStep(number=1, agent="Orchestrator", text="Look")],
        created_at=request.now,
        updated_at=request.now,
    )
    return [PlanChanged(plan.with_status(status, now=request.now))]


async def test_ending_another_s_plan_is_told_to_the_group() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    world.team.also = proposing
    await said(world, "Anna", "start the board")
    world.team.also = lambda request: ()

    own = await said(world, "Anna", "what is the stage?")
    world.team.also = lambda request: proposing(request, status="cancelled")
    ended = await said(world, "Bert", "cancel the plan")

    assert "plan" not in notices(own)
    assert "Bert ended the plan that Anna asked for." in notices(ended)


async def test_anybodys_stop_ends_the_turn_of_another_at_once() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    world.team.say = lambda request: (f"The lesion is{ENDLESS}",)
    run = await world.scheduler.submit(of_group(world, "Anna", "tell me everything"))
    async for _, event in run.events():
        if isinstance(event, AgentTextDelta) and event.text.endswith(ENDLESS):
            break

    async with asyncio.timeout(60):
        told = await said(world, "Bert", "stop")
        stopped = await heard(run)

    assert told.texts == ["Stopped. What was shown so far is kept."]
    assert stopped.texts == [f"The lesion is{ENDLESS}"]
