"""Tools that run side by side leave what they found in the order in which they were asked."""

import asyncio

import pytest

from data_models.clock import SystemClock
from data_models.conversations.turn_events import ToolCallResult
from data_models.identifiers import PatientId
from group_chat.turn_context import CallLine
from services.records.resources.ports import EVERYTHING, Need, PatientRecords
from services.records.resources.record import PatientRecord
from tests.fakes_openai import Reply, ToolCall
from tests.group_chat.team_world import SAMPLES, TeamWorld, text
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
