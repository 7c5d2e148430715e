"""A word stops what runs, at once: it waits for no turn, and what was shown stays."""

import asyncio

import pytest

from data_models.conversations.turn_events import AgentTextDelta, RunFinished
from services.runs.hub import Run
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, ENDLESS, FarReplica, World, heard


async def begun(world: World, text: str) -> Run:
    """Return the run of a message whose answer is begun and never finished."""
    world.team.say = lambda request: (f"The lesion is{ENDLESS}",)
    run = await world.submit(text)
    async for _, event in run.events():
        if isinstance(event, AgentTextDelta) and event.text.endswith(ENDLESS):
            break
    world.team.say = lambda request: (f"Heard: {request.text}",)
    return run


@pytest.mark.parametrize("word", ["stop", "Stop!", "halt", "wait", "no, stop please", "stopp"])
@pytest.mark.slow
async def test_a_word_stops_the_running_turn_and_says_so(word: str) -> None:
    world = World()
    await world.say("start with patient_4")
    run = await begun(world, "tell me everything")

    async with asyncio.timeout(60):
        told = await heard(await world.submit(word))
        stopped = await heard(run)

    assert isinstance(stopped.end, RunFinished)
    assert stopped.end.outcome == "cancelled"
    assert stopped.texts == [f"The lesion is{ENDLESS}"]
    german = ["Angehalten. Was schon zu sehen war, bleibt."]
    assert told.texts == (
        german if word == "stopp" else ["Stopped. What was shown so far is kept."]
    )
    assert (await world.say("what is the stage?")).texts == ["Heard: what is the stage?"]


@pytest.mark.parametrize("words", ["wrong patient", "no wait, wrong patient", "that's not her"])
@pytest.mark.slow
async def test_wrong_patient_stops_and_asks_which(words: str) -> None:
    world = World()
    await world.say("start with patient_7")
    await world.say("start with patient_4")
    await begun(world, "tell me everything")

    async with asyncio.timeout(60):
        told = await heard(await world.submit(words))

    assert told.texts == [
        "Stopped. This is the chart of `patient_4`. Which patient do you mean: `patient_7`, or "
        "another one?"
    ]
    await world.say("7")
    await world.say("what is the stage?")
    assert world.team.requests[-1].patient_id == "patient_7"


@pytest.mark.slow
async def test_a_word_stops_a_turn_of_another_replica() -> None:
    store, users = MemoryBlobStore(), MemoryBlobStore()
    here = World(sessions=store, users=users, replica=FarReplica())
    there = World(sessions=store, users=users, replica=FarReplica())
    await here.say("start with patient_4")
    run = await begun(here, "tell me everything")

    async with asyncio.timeout(20):
        await there.submit("stop")
        ended = (await heard(run)).end

    assert isinstance(ended, RunFinished)
    assert ended.outcome == "cancelled"


async def test_where_nothing_runs_stop_says_so() -> None:
    world = World()
    await world.say("start with patient_4")
    assert (await world.say("stop", chat=CHAT)).texts == ["Nothing is running."]
