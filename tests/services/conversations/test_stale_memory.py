"""What a replica remembers of a conversation never stands beside what another wrote since."""

import asyncio

import pytest

from data_models.errors import StoreUnavailableError
from data_models.identifiers import PatientId
from services.runs.hub import Run
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.faults import WRITES, Down, FaultyBlobStore
from tests.services.world import CHAT, World

PATIENT = PatientId("patient_4")


class Two:
    """Two replicas of one conversation, the first on a store that can fail."""

    def __init__(self) -> None:
        self.store, users = MemoryBlobStore(), MemoryBlobStore()
        self.line = FaultyBlobStore(self.store, only=WRITES)
        self.a = World(sessions=self.line, users=users)
        self.b = World(sessions=self.store, users=users)

    async def say(self, world: World, text: str) -> Run:
        run = await world.scheduler.submit(world.message(text))
        await asyncio.wait_for(run.wait(), 20)
        await world.scheduler.idle()
        return run

    @property
    def said(self) -> list[str]:
        turns = [one.turn for one in Evidence(self.store.contents, CHAT).turns()]
        return [turn.user_message for turn in sorted(turns, key=lambda turn: turn.turn_id)]


@pytest.mark.slow
async def test_a_claim_that_the_store_did_not_take_leaves_nothing_to_trust() -> None:
    two = Two()
    await two.say(two.a, "switch to patient_4")
    for text in ("one", "two"):
        await two.say(two.b, text)
    two.line.always = Down()
    with pytest.raises(StoreUnavailableError):
        await two.say(two.a, "three")
    two.line.always = None
    await two.say(two.a, "three")
    assert two.said == ["switch to patient_4", "one", "two", "three"]


async def test_what_was_read_alone_is_not_trusted_beside_a_newer_conversation() -> None:
    two = Two()
    await two.say(two.b, "switch to patient_4")
    await two.a.contexts.read(CHAT, PATIENT, epoch=0)
    for text in ("one", "two"):
        await two.say(two.b, text)
    await two.say(two.a, "three")
    assert two.said == ["switch to patient_4", "one", "two", "three"]
