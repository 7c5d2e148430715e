"""Conversations side by side through one team never see each other (R5, R6)."""

import asyncio
import gc
import random
import re
from collections.abc import AsyncIterator, Iterator
from types import FunctionType, ModuleType

import pytest

from data_models.conversations.turn_events import AgentMessageFinished, ToolCallResult
from data_models.identifiers import PatientId
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.group_chat.team_world import Heard, TeamWorld, earlier_turn, team_world

_NOT_OURS = (ModuleType, type, asyncio.AbstractEventLoop)
PATIENTS = ("patient_4", "patient_7", "patient_15", "patient_21", "patient_33")


def brain(request: RecordedRequest) -> Reply:
    """Calls one tool, then repeats all it was shown, so that a leak shows in the answer too."""
    if request.messages[-1]["role"] != "tool":
        tool = ToolCall("load_patient_data", {})
        return Reply(text=None, tool_calls=[tool], delay_seconds=random.uniform(0, 0.02))
    canaries = re.findall(r"(?:user|said|asked)-canary-\d+x", request.text)
    return Reply(text=" ".join(canaries), delay_seconds=random.uniform(0, 0.02))


@pytest.fixture
async def world() -> AsyncIterator[TeamWorld]:
    async with team_world() as made:
        made.model.brain = brain
        yield made


async def turn(world: TeamWorld, number: int) -> tuple[str, Heard]:
    patient = PATIENTS[number % len(PATIENTS)]
    said = ("Radiology", f"said-canary-{number}x")
    history = earlier_turn(1, f"user-canary-{number}x", said)
    request = world.request(
        f"asked-canary-{number}x",
        conversation_id=f"c{number}",
        run_id=f"run_{number}",
        patient_id=PatientId(patient),
        snapshot=f'PATIENT_CONTEXT_JSON: {{"patient_id":"{patient}"}}',
        history=[history],
    )
    return patient, Heard([event async for event in world.chat.run(request)])


@pytest.mark.slow
async def test_twenty_conversations_side_by_side_stay_apart(world: TeamWorld) -> None:
    turns = await asyncio.gather(*(turn(world, number) for number in range(20)))
    for number, (patient, heard) in enumerate(turns):
        (message,) = heard.of(AgentMessageFinished)
        mine = [f"{kind}-canary-{number}x" for kind in ("user", "said", "asked")]
        assert message.message.text.split() == mine
        (result,) = heard.of(ToolCallResult)
        assert f"record numbers {patient}," in result.content
    for request in world.model.requests:
        assert len(set(re.findall(r"canary-(\d+)x", request.text))) == 1
        assert len(set(re.findall(r"patient_\d+", request.text))) == 1


@pytest.mark.slow
async def test_nothing_that_the_process_keeps_holds_a_word_of_a_turn(world: TeamWorld) -> None:
    _, heard = await turn(world, 3)
    assert heard.reason == "answered"
    gc.collect()
    assert [text for text in texts_within(world.chat) if "canary" in text] == []


def texts_within(root: object) -> Iterator[str]:
    """Every text that can be reached from `root`, but not through code or the event loop.

    The loop leads to the loopback server of this test, which keeps every request.
    """
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _NOT_OURS):
            continue
        seen.add(id(found))
        if isinstance(found, str):
            yield found
        elif isinstance(found, FunctionType):
            waiting += found.__closure__ or ()
        else:
            waiting += gc.get_referents(found)
