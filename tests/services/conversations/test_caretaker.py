"""Work that is no turn holds the claim as turns do."""

import asyncio
from datetime import timedelta

import pytest

from data_models import errors
from data_models.conversations.claim_decision import ClaimTimes
from data_models.identifiers import PatientId
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, FarReplica, World, heard
from tests.waiting import until

TIMES = ClaimTimes(renew_every=timedelta(hours=1))


def maintenance_lease(world: World, *, wait_seconds: float = 5.0) -> MaintenanceLease:
    return MaintenanceLease(claimant=world.claimant, ids=world.ids, wait_seconds=wait_seconds)


@pytest.fixture
async def world() -> World:
    world = World()
    await world.tell("start a tumor board for patient_4, please")
    return world


@pytest.mark.slow
async def test_a_message_that_comes_meanwhile_is_answered_after(world: World) -> None:
    async with maintenance_lease(world).holding(CHAT, principal_id="alice"):
        run = await world.submit("what was the stage?")
        await asyncio.sleep(0.6)
        assert world.team.requests[1:] == []
    await world.scheduler.idle()
    assert (await heard(run)).texts == ["Heard: what was the stage?"]


@pytest.mark.slow
async def test_work_waits_for_the_turn_that_runs(world: World) -> None:
    run = await world.hold("what was the stage?")
    await until(lambda: len(world.team.requests) > 1)
    with pytest.raises(errors.ConversationBusyError):
        async with maintenance_lease(world, wait_seconds=0).holding(CHAT, principal_id="alice"):
            pass
    world.team.gate.set()
    async with maintenance_lease(world).holding(CHAT, principal_id="alice"):
        assert (await heard(run)).texts == ["Heard: what was the stage?"]


async def test_nobody_holds_what_does_not_exist(world: World) -> None:
    with pytest.raises(errors.NotFoundError):
        async with maintenance_lease(world).holding("chat_unknown", principal_id="alice"):
            pass


async def test_work_that_died_leaves_no_turn_and_may_write_no_more() -> None:
    store, users, clock = MemoryBlobStore(), MemoryBlobStore(), FixedClock()
    paused, other = (
        World(sessions=store, users=users, clock=clock, times=TIMES, replica=FarReplica())
        for _ in range(2)
    )
    await paused.tell("start a tumor board for patient_4, please")
    async with maintenance_lease(paused).holding(CHAT, principal_id="alice") as claim:
        clock.advance(60)
        answer = await other.tell("what was the stage?")
        with pytest.raises(errors.ClaimLostError):
            await claim.hold()
    assert answer.texts == ["Heard: what was the stage?"]
    context = await other.contexts.read(CHAT, PatientId("patient_4"), epoch=0, fresh=True)
    said = [turn.user_message for turn in context.document.chat_history]
    assert said == ["start a tumor board for patient_4, please", "what was the stage?"]


async def test_a_folder_tells_its_conversation(world: World) -> None:
    assert await conversation_of(world.sessions, CHAT) == CHAT
    assert await conversation_of(world.sessions, "chat_unknown") is None
    await world.sessions.create("moved/conversation.json", b'{"conversation_id": "chat_1"}')
    await world.sessions.create("broken/conversation.json", b"{")
    for folder in ("moved", "broken"):
        with pytest.raises(errors.CorruptDocumentError):
            await conversation_of(world.sessions, folder)
