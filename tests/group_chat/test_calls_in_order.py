"""Tools side by side leave what they found in the order asked; circles are stopped soon."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from data_models.clock import SystemClock
from data_models.conversations.turn_events import ToolCallResult
from data_models.identifiers import PatientId
from group_chat.turn_context import CallLine
from services.language.utterance import ChartQuestion
from services.language.words.talk_texts import talk_text
from services.records.resources.ports import EVERYTHING, Need, PatientRecords
from services.records.resources.record import PatientRecord
from tests.fakes_openai import Brain, RecordedRequest, Reply, ToolCall
from tests.group_chat.team_world import SAMPLES, TeamWorld, call, team_world, text
from tests.group_chat.test_direct_answers import CREATININE, read
from tests.services.records.charts import records_in


class FirstIsSlowest(PatientRecords):
    """Records whose first reader gets the chart last."""

    def __init__(self, records: PatientRecords) -> None:
        self._records = records
        self._second_was_served = asyncio.Event()
        self._readers = 0

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        self._readers += 1
        if self._readers == 1:
            await self._second_was_served.wait()
        record = await self._records.load(patient_id)
        self._second_was_served.set()
        return record


@pytest.mark.slow
async def test_results_are_sent_in_the_order_of_the_calls() -> None:
    calls = [ToolCall("rounds-problems", {}), ToolCall("rounds-medications", {})]
    clock = SystemClock()
    async with TeamWorld(records=FirstIsSlowest(records_in(SAMPLES, clock))) as world:
        heard = await world.say(
            "@PatientHistory go", Reply(text=None, tool_calls=calls), text("Two lists.")
        )
        (sent,) = world.prompts()[-1:]
    results = [str(row["content"]) for row in sent if row["role"] == "tool"]
    assert [one.splitlines()[0] for one in results] == ["Problems", "Medications now"]
    assert [one.content for one in heard.of(ToolCallResult)] == results


async def test_who_stands_behind_waits_and_nobody_waits_for_who_gave_up() -> None:
    line, ended = CallLine(), list[str]()
    quick_is_through = asyncio.Event()

    async def call(name: str, after: asyncio.Event | None, *, breaks: bool = False) -> None:
        with line.place() as others_before:
            if after is not None:
                await after.wait()
            if breaks:
                raise ValueError
            if after is None:
                quick_is_through.set()
            await others_before()
            ended.append(name)

    await asyncio.gather(
        call("slow", quick_is_through),
        call("broken", quick_is_through, breaks=True),
        call("quick", None),
        return_exceptions=True,
    )
    assert ended == ["slow", "quick"]


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
