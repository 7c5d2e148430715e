"""A scenario through a language model: what it is shown, and that steps' tools run in the house."""

import json
from collections.abc import AsyncIterator

import pytest

from data_models.chat_context import ChatContext, Turn
from data_models.conversations.turn_events import ToolCallResult, ToolCallStarted
from data_models.identifiers import PatientId
from services.group_chat_port import ActionFinished
from services.scenarios.session.progress import ToolAction, ToolRan
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.scenarios.session.step_text import GROUNDING_MARK
from tests.fakes_openai import Reply, ToolCall
from tests.group_chat.team_world import TeamWorld, call, team_world, text
from tests.services.scenario_world import ScenarioWorld, sample

LEAD = "Orchestrator"
TITLE = "Tumor board preparation"


@pytest.fixture
async def team() -> AsyncIterator[TeamWorld]:
    async with team_world() as world:
        yield world


async def board(team: TeamWorld, said: str = "hello") -> tuple[ScenarioRuntime, ChatContext]:
    """The preparation of a tumor board at its first step."""
    shop = ScenarioWorld()
    await shop.publish(sample("tumor_board_preparation"))
    turn = Turn(turn_id=1, run_id="r1", timestamp=team.clock.now(), user="Ann", user_message=said)
    document = ChatContext(
        conversation_id="c1", patient_id=PatientId("patient_4"), chat_history=[turn]
    )
    runtime = ScenarioRuntime(
        document=document,
        catalogue=shop.parts.catalogue,
        records=shop.parts.records,
        clock=team.clock,
        ids=shop.parts.ids,
        config=shop.parts.config.gap_fill,
        message=shop.world.message("hello"),
        facilitator=LEAD,
    )
    return runtime, document


async def nobody(_: ToolAction) -> ToolRan:
    raise AssertionError("no tool is due")


@pytest.mark.slow
async def test_an_agent_begins_one_records_fields_and_a_tool_runs(team: TeamWorld) -> None:
    runtime, document = await board(team, "we prepare the board of 2030-02-01, Dr. Ito presents")
    values = {"board_date": "2030-02-01", "presenter": "Dr. Ito"}
    heard = await team.say(
        "we need to prepare the board",
        Reply(text=None, tool_calls=[ToolCall("rounds-start_scenario", {"name": TITLE})]),
        call("record_fields", values=values),
        text("What is the question for the board?"),
        scenario=runtime,
    )
    started = [event.tool for event in heard.of(ToolCallStarted)]
    assert started == ["start_scenario", "record_fields", "load_patient_data"]
    assert not any(event.is_error for event in heard.of(ToolCallResult))
    assert document.scenario is not None
    assert document.scenario.step == "question"
    assert document.scenario.agent_id == LEAD
    assert {run.tool for run in team.watcher.runs} == set(started)
    shown = str(team.prompts()[-1][-1]["content"])
    assert "clinical_question" in json.loads(shown)["scenario_now"]


async def test_only_the_lead_is_shown_the_step(team: TeamWorld) -> None:
    runtime, _ = await board(team)
    await runtime.begin("tumor-board-preparation", agent=LEAD, act=nobody)
    await team.say(
        "go on",
        text("*Radiology*, please summarise the latest CT."),
        text("The CT is unchanged."),
        scenario=runtime,
    )
    lead, radiology = (str(prompt) for prompt in team.prompts())
    assert GROUNDING_MARK in lead
    assert GROUNDING_MARK not in radiology


@pytest.mark.slow
async def test_a_value_of_another_type_is_the_models_to_mend(team: TeamWorld) -> None:
    runtime, document = await board(team)
    await runtime.begin("tumor-board-preparation", agent=LEAD, act=nobody)
    await team.say(
        "soon",
        call("record_fields", values={"board_date": "soon"}),
        text("Which day, please?"),
        scenario=runtime,
    )
    assert "takes a value of type date" in str(team.prompts()[-1][-1]["content"])
    assert document.profile.fields == {}


@pytest.mark.slow
async def test_a_value_that_the_user_did_not_say_is_the_models_to_ask_for(team: TeamWorld) -> None:
    runtime, document = await board(team, "let us begin")
    await runtime.begin("tumor-board-preparation", agent=LEAD, act=nobody)
    invented = {"board_date": "2030-02-01", "presenter": "Dr. Invented"}
    await team.say(
        "let us begin",
        call("record_fields", values=invented, quotes=dict.fromkeys(invented, "let us begin")),
        text("Which day, and who presents?"),
        scenario=runtime,
    )
    assert "the user has not said this" in str(team.prompts()[-1][-1]["content"])
    assert document.scenario is not None
    assert "presenter" not in document.scenario.variables


@pytest.mark.slow
async def test_the_server_runs_a_tool_under_its_key_without_a_model(team: TeamWorld) -> None:
    action = ToolAction("load_patient_data", {}, "key-1")
    events = [event async for event in team.chat.act(team.request("hello"), action)]
    assert isinstance(events[-1], ActionFinished)
    assert events[-1].succeeded
    assert [run.tool for run in team.watcher.runs] == ["load_patient_data"]
    assert team.prompts() == []


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["no_such_tool", "search_record"])
async def test_a_tool_that_is_absent_or_lacks_arguments_failed(team: TeamWorld, tool: str) -> None:
    events = [
        event async for event in team.chat.act(team.request("hello"), ToolAction(tool, {}, "key"))
    ]
    assert events[-1] == ActionFinished(ToolRan(False))


async def test_without_scenarios_the_tools_say_so(team: TeamWorld) -> None:
    await team.say("where are we", call("where_are_we"), text("Nowhere."))
    assert "no scenarios" in str(team.prompts()[-1][-1]["content"])
