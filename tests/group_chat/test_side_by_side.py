"""Steps that run at once: whoever ends first, what is kept is in the plan's order, and whole."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from prometheus_client import CollectorRegistry

from data_models.chat_context import AgentMessage
from data_models.clock import SystemClock
from data_models.conversations.plan import Plan, PlanStep
from data_models.conversations.turn_events import AgentMessageFinished, AgentMessageStarted
from data_models.entities.entities import Entities
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.entities.session import EntitySession
from services.language.utterance import Utterance
from services.turn.record import place_of
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.given import present
from tests.group_chat.team_world import Heard, TeamWorld, earlier_turn, propose, team_world, text

AGENTS = ("PatientHistory", "PatientStatus", "Radiology", "Pathology")
LONG = "".join(f"Finding {number} takes some room. " for number in range(200))
TOOLS = {"Radiology": "imaging_reports", "Pathology": "pathology_reports"}


@pytest.fixture
async def world() -> AsyncIterator[TeamWorld]:
    async with team_world() as made:
        made.model.brain = in_one_or_two_calls
        yield made


def name_of(request: RecordedRequest) -> str:
    own = request.instructions.partition("You are ")[2]
    return own.partition(".")[0].partition(",")[0]


def in_one_or_two_calls(request: RecordedRequest) -> Reply:
    """Answer for each agent; two of them look something up before, so that they end later."""
    name = name_of(request)
    if name not in AGENTS:
        return text("In short.")
    if name in TOOLS and not any(row["role"] == "tool" for row in request.messages):
        return Reply(text=None, tool_calls=[ToolCall(TOOLS[name], {})])
    return text(f"{name} says: {LONG}")


async def proposed(world: TeamWorld, *agents: str) -> Plan:
    steps = [(agent, f"Review as {agent}") for agent in agents]
    return present((await world.say("start tumor board", propose(*steps))).plan)


async def run(world: TeamWorld, *agents: str) -> Heard:
    return await world.say("yes", plan=await proposed(world, *agents))


async def test_rows_speak_for_who_says_nothing_and_the_others_are_kept(world: TeamWorld) -> None:
    plan = await proposed(world, "PatientStatus", "Radiology")
    asked = Utterance(text="yes", yes_no="yes")
    said_by = {"PatientStatus": "ECOG 1 at check-in.", "Orchestrator": "In short."}
    world.model.brain = lambda one: text(said_by.get(name_of(one), ""))
    heard = await world.say("yes", plan=plan, utterance=asked)
    said = dict(heard.said)
    assert said["PatientStatus"].startswith("ECOG 1 at check-in.")
    assert said["Radiology"].startswith("The language model gave no answer of its own.")
    assert "MRI brain with gadolinium" in said["Radiology"]
    assert present(heard.plan).status == "done"


async def test_a_close_that_says_all_agree_is_followed_by_what_does_not(world: TeamWorld) -> None:
    plan = await proposed(world, "PatientStatus")
    asked = Utterance(text="yes", yes_no="yes")
    said_by = {"PatientStatus": "Stage IVB.", "Orchestrator": "All sources agree."}
    world.model.brain = lambda one: text(said_by.get(name_of(one).removeprefix("the "), ""))
    heard = await world.say("yes", plan=plan, utterance=asked)
    settled = (
        "**For the board to settle: sources differ**\n\n**ECOG**: sources differ: 2 (2025-05-21)"
    )
    assert heard.said[-1][1].startswith(f"All sources agree.\n\n{settled}")
    assert all("ECOG" not in told for _, told in heard.said[:-1])


def after_a_look(request: RecordedRequest) -> Reply:
    """Look first: who speaks of the record without a look is shown only when all is written."""
    looked = any(row["role"] == "tool" for row in request.messages)
    if name_of(request) in AGENTS and not looked:
        return Reply(text=None, tool_calls=[ToolCall("problems", {})])
    return in_one_or_two_calls(request)


@pytest.mark.slow
async def test_they_run_at_the_same_time_and_their_messages_interleave(world: TeamWorld) -> None:
    plan = await proposed(world, *AGENTS)
    world.model.brain, world.model.pace = after_a_look, 5.0
    begun: list[str] = []
    async for event in world.chat.run(world.request("yes", plan=plan)):
        if isinstance(event, AgentMessageStarted):
            begun.append(event.agent)
            # Nobody ends before all have begun.
            world.model.is_hasty = world.model.is_hasty or set(AGENTS) <= set(begun)
        if isinstance(event, AgentMessageFinished) and event.message.agent in AGENTS:
            assert set(begun) >= set(AGENTS)
    assert begun[0] == begun[-1] == "Orchestrator"
    assert len(begun) == 6


@pytest.mark.slow
async def test_the_close_sees_every_finding_whole(world: TeamWorld) -> None:
    await run(world, *AGENTS)
    close = world.model.requests[-1]
    assert name_of(close) == "the Orchestrator"
    shown = "\n".join(str(row["content"]) for row in close.messages)
    places = [shown.find(f"{agent} says: {LONG.strip()}") for agent in AGENTS]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.slow
async def test_findings_of_a_turn_before_are_closed_with_the_others(world: TeamWorld) -> None:
    plan = await proposed(world, "PatientHistory", "PatientStatus")
    done = plan.confirmed(None, now=plan.created_at).with_step(1, "done", now=plan.created_at)
    before = earlier_turn(1, "yes", ("PatientHistory", "It began in 2019."))
    before.agent_responses[0].plan_id, before.agent_responses[0].plan_step = plan.plan_id, 1
    await world.say("continue", plan=done, history=[before])
    contents = [str(row["content"]) for row in world.model.requests[-1].messages]
    assert any("It began in 2019." in one for one in contents)


@pytest.mark.slow
async def test_a_specialist_is_shown_its_task_and_nobody_elses_words(world: TeamWorld) -> None:
    await run(world, *AGENTS)
    for request in world.model.requests:
        if name_of(request) in AGENTS:
            assert "says:" not in request.text


@pytest.mark.slow
async def test_what_tools_found_is_filed_in_the_plans_order(world: TeamWorld) -> None:
    heard = await run(world, "Pathology", "Radiology")
    assert heard.speakers[1] == "Radiology" or heard.speakers[1] == "Pathology"
    ran = [each.agent for each in world.watcher.runs if each.agent in AGENTS]
    assert [*dict.fromkeys(ran)] == ["Pathology", "Radiology"]
    assert ran == sorted(ran)


@pytest.mark.slow
async def test_a_step_that_fails_beside_others_is_named_as_missing(world: TeamWorld) -> None:
    def one_fails(request: RecordedRequest) -> Reply:
        name = name_of(request)
        if name == "GeneralHealth" and request.messages[-1]["role"] != "tool":
            return Reply(text=None, tool_calls=[ToolCall("fly_away", {})])
        return text(f"{name} speaks.")

    world.model.brain = one_fails
    heard = await run(world, "PatientHistory", "GeneralHealth")
    assert [step.status for step in present(heard.plan).steps] == ["done", "skipped"]
    assert "Steps that nobody carried out:" in world.model.requests[-1].text


@pytest.mark.slow
async def test_five_steps_take_at_most_seven_calls_in_sequence() -> None:
    async with team_world() as world:
        world.model.brain = in_one_or_two_calls
        plan = await proposed(world, *AGENTS, "ReportCreation")
        before = len(world.model.requests)
        await world.say("yes", plan=plan)
        names = [name_of(request) for request in list(world.model.requests)[before:]]
    # Four agents side by side, whose rows are there before they are asked; the report; the close.
    assert sorted(names[:4]) == sorted(AGENTS)
    assert 1 + len(names[4:]) <= 7


@pytest.mark.slow
async def test_a_step_begins_with_the_rows_of_its_agent(world: TeamWorld) -> None:
    await run(world, "Radiology", "PatientHistory")
    asked = {name_of(one): one for one in world.model.requests if name_of(one) in AGENTS}
    for name, tool in (("Radiology", "imaging_reports"), ("PatientHistory", "timeline")):
        called = asked[name].messages[-2]["tool_calls"]
        assert [one["function"]["name"] for one in called] == [tool]
        assert asked[name].messages[-1]["role"] == "tool"


@pytest.mark.slow
async def test_a_crash_goes_on_with_the_steps_that_are_not_done(world: TeamWorld) -> None:
    plan = await proposed(world, *AGENTS[:3])
    at = plan.created_at
    running = plan.confirmed(None, now=at).with_step(2, "done", now=at)
    running = running.with_step(1, "running", now=at).with_step(3, "running", now=at)
    said = [
        AgentMessage(
            message_id="m0", agent="Orchestrator", timestamp=at,
            text="Step 1 of 3: *PatientHistory*, review as PatientHistory",
        ),
        AgentMessage(
            message_id="m1", agent="PatientStatus", text="Stage IV.", timestamp=at,
            plan_id=plan.plan_id, plan_step=2,
        ),
    ]  # fmt: skip
    heard = await world.say("yes", plan=running, said=said)
    assert set(heard.speakers) == {"Orchestrator", "PatientHistory", "Radiology"}
    assert present(heard.plan).status == "done"
    assert "Stage IV." in world.model.requests[-1].text


def test_the_history_is_in_the_plans_order_whoever_ended_first() -> None:
    now = SystemClock().now()
    steps = [PlanStep(number=n, agent="A", text="x") for n in (2, 1, 3)]
    plan = Plan(plan_id="p", run_id="r", steps=steps, created_at=now, updated_at=now)

    def message(step: int | None) -> AgentMessage:
        return AgentMessage(
            message_id=f"m{step}", agent="A", text="x", timestamp=now,
            plan_id=None if step is None else "p", plan_step=step,
        )  # fmt: skip

    said: list[AgentMessage] = []
    for step in (None, 3, 1, 2, None):
        said.insert(place_of(message(step), said, plan), message(step))
    assert [one.plan_step for one in said] == [None, 2, 1, 3, None]


@pytest.mark.slow
async def test_entities_of_steps_are_merged_in_the_plans_order(world: TeamWorld) -> None:
    agents = [card.name for card in world.chat.agents]
    session = EntitySession(
        entities=Entities(),
        team=AgentNames.of(agents),
        clock=SystemClock(),
        meter=EntityMeter(registry=CollectorRegistry(), agents=agents),
        session_id="c1",
    )
    plan = await proposed(world, "Pathology", "Radiology")
    async with asyncio.timeout(30):
        heard = await world.say("yes", plan=plan, entities=session)
    assert present(heard.plan).status == "done"
