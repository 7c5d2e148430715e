"""A model that goes in circles is stopped soon, and what was found is told all the same."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.language.utterance import ChartQuestion
from services.language.words.talk_texts import talk_text
from tests.fakes_openai import Brain, RecordedRequest, Reply, ToolCall
from tests.group_chat.team_world import TeamWorld, call, team_world, text
from tests.group_chat.test_direct_answers import CREATININE, read

AGAIN = talk_text("en", "no_words")
FOUND = "**Creatinine**: 0.9 mg/dL, 2025-05-19"


@pytest.fixture
async def world() -> AsyncIterator[TeamWorld]:
    async with team_world() as made:
        yield made


def looks_again(says: str) -> Brain:
    calls = [ToolCall("results", {"names": ["creatinine"]})]
    return lambda _: Reply(text=says, tool_calls=calls)


async def test_the_same_call_again_and_again_ends_in_what_it_found(world: TeamWorld) -> None:
    world.model.brain = looks_again("Let me check.")
    asked = read("latest creatinine?", CREATININE)
    heard = await world.say("latest creatinine?", utterance=asked)
    ((_, said),) = heard.said
    assert len(world.model.requests) <= 4
    assert said.startswith("Let me check.\n\nLet me check.\n\n")
    assert f"{AGAIN}\n\n{FOUND}" in said


async def test_a_call_of_no_tool_again_and_again_ends_soon(world: TeamWorld) -> None:
    world.model.brain = lambda _: Reply(
        text='It is low. ```json\n{"name": "book_appointment", "arguments": {"slot": "8"}}\n```'
    )
    asked = read("latest creatinine?", CREATININE)
    heard = await world.say("latest creatinine?", utterance=asked)
    ((_, said),) = heard.said
    assert len(world.model.requests) <= 4
    assert "```" not in said
    assert FOUND in said


async def test_a_model_that_answers_behind_such_calls_is_believed(world: TeamWorld) -> None:
    calls = [call("results", names=["creatinine"])] * 2
    asked = read("latest creatinine?", CREATININE)
    heard = await world.say("latest creatinine?", *calls, text("It is low."), utterance=asked)
    ((_, said),) = heard.said
    assert said.startswith("It is low.")
    assert AGAIN not in said


async def test_a_plan_that_is_refused_again_and_again_is_said_to_be_none(world: TeamWorld) -> None:
    steps = [{"agent": "Radiology", "text": "look", "needs": ["a scan"]}]
    world.model.brain = lambda _: Reply(
        text="I propose this plan.", tool_calls=[ToolCall("propose_plan", {"steps": steps})]
    )
    heard = await world.say("hello")
    ((_, said),) = heard.said
    assert said.endswith(f"\n\n{AGAIN}")
    assert len(world.model.requests) <= 4


async def test_two_who_send_each_other_round_are_stopped(world: TeamWorld) -> None:
    def brain(request: RecordedRequest) -> Reply:
        if "hand_over" not in request.tool_names:
            return text("*Orchestrator*, please look.")
        return call("hand_over", agent="PatientStatus", task="look")

    world.model.brain = brain
    heard = await world.say("@PatientStatus latest creatinine?", mentions=("PatientStatus",))
    assert heard.speakers == ["PatientStatus"] * 2
    assert heard.reason == "answered"
    asked = read("latest creatinine?", CREATININE)
    heard = await world.say("latest creatinine?", utterance=asked)
    assert FOUND in heard.said[-1][1]
    assert len(world.model.requests) <= 8


async def test_what_is_said_before_and_behind_a_call_are_two_paragraphs(world: TeamWorld) -> None:
    first = Reply(text="One moment", tool_calls=[ToolCall("problems", {})])
    about = ChartQuestion("problems")
    heard = await world.say(
        "problems?", first, text("That is all."), utterance=read("problems?", about)
    )
    assert heard.said == [("PatientStatus", "One moment\n\nThat is all.")]


@pytest.mark.slow
@pytest.mark.parametrize("ends", [{"finish_reason": "length"}, {"end_stream": False}])
async def test_rows_say_the_rest_where_a_model_breaks_off(
    world: TeamWorld, ends: dict[str, Any]
) -> None:
    cut = Reply(text="Creatinine is 0.9 mg/dL. Before it was 0", tokens_per_second=50, **ends)
    asked = read("latest creatinine?", CREATININE)
    heard = await world.say("latest creatinine?", cut, utterance=asked)
    ((_, said),) = heard.said
    assert said.startswith("Creatinine is 0.9 mg/dL.")
    assert f"{talk_text('en', 'broke_off')}\n\n{FOUND}" in said
    assert "Before" not in said
