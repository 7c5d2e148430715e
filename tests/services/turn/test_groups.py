"""In a group a clear is asked of who said it, and switches and ended plans are told to all."""

import asyncio

import pytest

from data_models.chat_context import Continuation
from data_models.clock import SystemClock
from data_models.conversations.incoming_message import IncomingMessage, Press, Sender
from data_models.conversations.plan import Plan, PlanStatus, PlanStep
from data_models.conversations.turn_events import AgentTextDelta, StateChanged
from data_models.identifiers import PatientId
from services.audit.trail import NoAudit
from services.chart_access.chart_guard import ChartGuard
from services.group_chat_port import (
    ContinuationChanged,
    GroupChatEvent,
    GroupChatRequest,
    PlanChanged,
    QuestionAsked,
)
from services.records.fhir.reading import current_reader
from tests.services.turn.talk_lines import Talk, notices, play_talk
from tests.services.world import ENDLESS, Heard, World, heard
from tests.tables import with_cases


async def said(world: World, who: str, text: str, *, press: Press | None = None) -> Heard:
    return await heard(await world.scheduler.submit(of_group(world, who, text, press=press)))


def of_group(world: World, who: str, text: str, *, press: Press | None = None) -> IncomingMessage:
    message = world.message(text, owner="bot:msteams:t", press=press)
    sender = Sender(principal_id=f"user:{who}", display_name=who)
    return message.model_copy(
        update={"sender": sender, "channel": "bot", "channel_id": "msteams", "is_group": True}
    )


def question_id(one: Heard) -> str:
    states = [event.state for event in one.events if isinstance(event, StateChanged)]
    question = states[-1].question
    return "" if question is None else question["id"]


@pytest.mark.slow
@with_cases("talk")
async def test_what_one_says_in_a_group_is_theirs(talk: Talk) -> None:
    async def tell(world: World, text: str) -> Heard:
        who, _, words = text.rpartition(": ")
        return await (said(world, who, words) if who else world.say(words))

    await play_talk(talk, World, tell)


async def test_a_clear_in_a_group_is_asked_of_who_said_it() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Anna", "what is the stage?")

    asked = await said(world, "Bert", "clear patient context")
    by_another = await said(world, "Anna", "yes")

    assert "Bert, this group shares one conversation" in asked.texts[-1]
    assert "Cleared" not in "".join(by_another.texts)
    assert not [name for name in world.sessions.contents if "/archive/" in name]  # type: ignore[attr-defined]


class Bert:
    """An `AccessPolicy` under which Bert may open patient_4 alone, and all others may open all."""

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        return principal_id != "user:Bert" or patient_id == "patient_4"


@pytest.mark.parametrize(
    "text",
    [
        "clear patient context",
        "which patients have we discussed?",
        "any allergies?",
        "stop",
        "wrong patient",
        "switch to the other patient",
        "open patient_8",
        "I want to kill myself",
    ],
)
async def test_a_member_hears_nothing_of_a_chart_that_is_closed_to_them(text: str) -> None:
    clock = SystemClock()
    world = World(guard=ChartGuard(policy=Bert(), audit=NoAudit(), clock=clock), clock=clock)
    for one in ("open patient_4", "open patient_7"):
        await said(world, "Anna", one)

    told = await said(world, "Bert", text)

    assert "patient_7" not in str(told.events)
    assert (await said(world, "Anna", "the dose?")).texts == ["Heard: the dose?"]
    assert world.team.requests[-1].patient_id == "patient_7", "it stays open for the others"
    assert [*world.team.requests[-1].all_patient_ids] == ["patient_4", "patient_7"]


async def test_who_was_discussed_stands_in_no_patients_document() -> None:
    world = World()
    for one in ("open patient_4", "open patient_7", "which patients have we discussed?"):
        await said(world, "Anna", one)

    asked = world.team.requests[-1]
    assert (asked.patient_id, asked.active) == (None, "patient_7")


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


async def test_after_another_s_switch_a_question_is_not_answered_from_the_new_chart() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Bert", "open patient_15")
    before = len(world.team.requests)

    asked = await said(world, "Anna", "what dose does she get?")

    assert "Another chart was opened here meanwhile" in asked.texts[-1]
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
