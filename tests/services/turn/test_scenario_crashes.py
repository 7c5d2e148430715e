"""A server dies in the turn that migrates, or two answer at once (M12, M15, M19, P11)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

import pytest

from data_models.azure_blob_store import AzureBlobStore
from data_models.blob_store import BlobStore
from data_models.clock import IdSource, RandomIds
from data_models.errors import RoundsError
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import WRITES, FaultyBlobStore, Kill, SimulatedKill
from tests.services.scenario_world import ScenarioWorld, step, version
from tests.services.world import FarReplica

GREET = step("greet", "work", instructions="Greet.")
WORK = step("work", "end", collects_profile_fields=("work",))
END = step("end", instructions="End.", uses=("work",))
V1 = version(1, GREET, WORK, END)
V2 = version(
    2,
    step("greet", "check", instructions="Greet."),
    step("check", "work", kind="tool", tool="load_patient_data", is_required_action=True),
    WORK,
    END,
)
CLAIM_SECONDS = 60.0
TRIES = 10_000
PLACES = ("sessions", "shelf", "trail")
_containers = count(1)


@dataclass(frozen=True)
class Disks:
    """What servers share.

    Attributes:
        stores: The sessions, the blobs of versions and events, and the trail.
    """

    stores: Mapping[str, BlobStore]
    ids: IdSource
    clock: FixedClock

    def server(self, name: str) -> ScenarioWorld:
        """A server of another machine."""
        return ScenarioWorld(
            sessions=self.stores["sessions"],
            blobs=self.stores["shelf"],
            trail=self.stores["trail"],
            ids=self.ids,
            clock=self.clock,
            replica_name=name,
            replica=FarReplica(),
        )


Make: TypeAlias = Callable[[], Disks]


def in_memory() -> Disks:
    stores = {place: MemoryBlobStore() for place in PLACES}
    return Disks(stores, ids=CountingIds(), clock=FixedClock())


@pytest.fixture
async def on_azurite(azurite: str, patient_storage: None) -> AsyncIterator[Make]:
    opened: list[AzureBlobStore] = []

    def make() -> Disks:
        stores = {
            place: AzureBlobStore.from_connection_string(
                azurite, container=f"crash-{next(_containers)}", ids=RandomIds()
            )
            for place in PLACES
        }
        opened.extend(stores.values())
        return Disks(stores, ids=RandomIds(), clock=FixedClock())

    yield make
    for store in opened:
        await store.close()


async def waiting_for_v2(disks: Disks) -> None:
    """A session waits in version 1; version 2 has an action before the step it waits at."""
    world = disks.server("first")
    await world.publish(V1)
    await world.begin()
    await world.say("fine")
    await world.deploy(V2)


async def one_dies(disks: Disks, place: str, operation: int, *, after: bool) -> bool:
    """Let a server take the turn and die at one write; False if the turn has no such write."""
    plan = {operation: Kill(after=after)}
    faulty = FaultyBlobStore(disks.stores[place], plan=plan, only=WRITES)
    dying = replace(disks, stores={**disks.stores, place: faulty}).server("dying")
    talk = asyncio.create_task(dying.say("hello again"))
    for _ in range(TRIES):
        if talk.done() or len(faulty.operations) >= operation:
            break
        await asyncio.sleep(0.001)
    if len(faulty.operations) < operation:
        await talk
        return False
    await asyncio.sleep(0.005)
    talk.cancel()
    with suppress(SimulatedKill, asyncio.CancelledError, RoundsError):
        await talk
    return True


async def assert_moved_once(disks: Disks) -> None:
    """The session is in version 2, the jump on record once, and nothing waits for delivery."""
    world = disks.server("looking")
    session = await world.session()
    assert (session.version, session.step, session.outbox) == (2, "work", [])
    assert [done.step_id for done in session.executed] == ["check"]
    events, entries = await world.events(), await world.trail_entries()
    assert (len(events), len(entries)) == (1, 1)
    assert events[0].actions_executed == ["check"]


async def crashed_and_taken_over(make: Make, place: str, operation: int, *, after: bool) -> bool:
    disks = make()
    await waiting_for_v2(disks)
    has_died = await one_dies(disks, place, operation, after=after)
    disks.clock.advance(CLAIM_SECONDS)
    other = disks.server("other")
    await other.say("hello again")
    await other.say("are you there")
    await assert_moved_once(disks)
    return has_died


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("place", PLACES)
async def test_m15_p11_a_crash_at_any_write_of_a_migrating_turn_moves_the_session_once(
    place: str, after: bool
) -> None:
    for operation in range(1, 30):
        if not await crashed_and_taken_over(in_memory, place, operation, after=after):
            assert operation > 1
            return
    raise AssertionError("the sweep never reached the end")


async def both_answer(make: Make) -> None:
    disks = make()
    await waiting_for_v2(disks)
    ann, bob = disks.server("ann"), disks.server("bob")
    await asyncio.gather(ann.say("hello again"), bob.say("hello from here"))
    await disks.server("third").say("are you there")
    await assert_moved_once(disks)
    assert len(ann.team.actions) + len(bob.team.actions) == 1


@pytest.mark.slow
async def test_m19_two_servers_that_answer_at_once_move_the_session_once() -> None:
    await both_answer(in_memory)


@pytest.mark.slow
async def test_on_azurite_crashes_and_rivals_move_the_session_once(on_azurite: Make) -> None:
    await both_answer(on_azurite)
    for place, operation in (("sessions", 2), ("sessions", 4), ("shelf", 1), ("trail", 2)):
        assert await crashed_and_taken_over(on_azurite, place, operation, after=True)
