"""A process may die at every operation of a reconciling turn; two may meet (M12, M15, M19, P11)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from itertools import count

import pytest

from data_models.clock import RandomIds
from data_models.conversations.turn_events import RunFailed
from data_models.errors import RoundsError
from data_models.storage.azure_blob_store import AzureBlobStore
from data_models.storage.blob_store import BlobStore
from tests.durability.crash import GenerationIds, copy_of
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import WRITES, Down, Fault, FaultyBlobStore, Kill, LostAnswer, SimulatedKill
from tests.services.scenario_world import POINTER_SECONDS, ScenarioWorld
from tests.services.scenarios.worlds import MemoryIndex
from tests.services.turn.test_scenario_talks import GRAPHS, asks_first

pytestmark = pytest.mark.slow

CLAIM_SECONDS = 60.0
MOST_OPERATIONS = 120
_containers = count(1)


@dataclass
class Place:
    """Where a session waits; one store stands for all containers, so that one plan counts."""

    store: BlobStore = field(default_factory=MemoryBlobStore)
    index: MemoryIndex = field(default_factory=MemoryIndex)
    clock: FixedClock = field(default_factory=FixedClock)

    def server(self, generation: str, store: FaultyBlobStore | None = None) -> ScenarioWorld:
        """A process of its own on this place."""
        on = store or self.store
        return ScenarioWorld(
            sessions=on,
            blobs=on,
            trail=on,
            index=self.index,
            clock=self.clock,
            ids=GenerationIds(generation),
            replica_name=generation,
        )


async def before_the_action(place: Place) -> None:
    world = place.server("a")
    await world.publish(GRAPHS["work"])
    await world.begin()
    await world.say("fine")
    await world.deploy(GRAPHS["checks first"])


async def before_the_answer(place: Place) -> None:
    world = place.server("a")
    await world.publish(GRAPHS["work"])
    await world.begin()
    await world.say("fine")
    await world.deploy(GRAPHS["asks age"])
    await world.say("hello")


async def attempt(world: ScenarioWorld, text: str) -> None:
    """Say something on a store that may fail or die."""
    with suppress(RoundsError, SimulatedKill):
        await world.world.submit(text)
    with suppress(SimulatedKill):
        await asyncio.wait_for(world.world.scheduler.idle(), 60)


async def assert_landed_once(world: ScenarioWorld) -> None:
    session = await world.session()
    assert (session.version, session.step) == (2, "work")
    assert session.outbox == []
    assert session.progress is None
    assert len(await world.events()) == 1
    assert len(await world.trail_entries()) == 1
    assert len({done.idempotency_key for done in session.executed}) == len(session.executed)


PLACES = {"action": (before_the_action, "hello"), "answer": (before_the_answer, "41")}
FAULTS: dict[str, Fault] = {
    "killed before": Kill(),
    "killed after": Kill(after=True),
    "down": Down(),
    "lost answer": LostAnswer(),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("script", PLACES)
async def test_a_fault_anywhere_ends_in_one_jump_and_one_event(script: str, fault: Fault) -> None:
    prepare, text = PLACES[script]
    prepared = MemoryBlobStore()
    await prepare(Place(prepared))
    for number in range(1, MOST_OPERATIONS):
        place = Place(await copy_of(prepared.contents))
        place.clock.advance(CLAIM_SECONDS)
        faulty = FaultyBlobStore(place.store, {number: fault})
        broken = place.server("b", faulty)
        await attempt(broken, text)
        if len(faulty.operations) < number:
            assert number > 8, "the fault met nothing"
            return
        try:
            await assert_recovers(place, broken)
        except AssertionError as error:
            error.add_note(f"{script}: {fault} at {faulty.operations[number - 1]}")
            raise
    pytest.fail("the turn has more operations than the sweep")


async def assert_recovers(place: Place, broken: ScenarioWorld) -> None:
    place.clock.advance(CLAIM_SECONDS)
    world = place.server("c")
    for text in ("41", "and then?"):
        heard = await world.say(text)
        assert not isinstance(heard.end, RunFailed)
    await assert_landed_once(world)
    keys = {one.idempotency_key for one in [*broken.team.actions, *world.team.actions]}
    assert len(keys) <= 1


async def assert_two_land_it_once(script: str, place: Place) -> None:
    prepare, text = PLACES[script]
    await prepare(place)
    first, second = place.server("b"), place.server("c")
    await asyncio.gather(first.say(text), second.say(text))
    await first.world.scheduler.idle()
    await second.world.scheduler.idle()
    await second.say("and then?")
    await assert_landed_once(second)
    (event,) = await second.events()
    done = ["ask_record"] if script == "action" else []
    assert event.actions_executed == done
    assert len([*first.team.actions, *second.team.actions]) == len(done)


@pytest.mark.parametrize("script", PLACES)
async def test_two_servers_land_one_session_once(script: str) -> None:
    await assert_two_land_it_once(script, Place())


@pytest.fixture
async def on_azurite(azurite: str, patient_storage: None) -> AsyncIterator[Callable[[], Place]]:
    """Places in containers of their own."""
    async with AsyncExitStack() as stack:

        def place() -> Place:
            store = AzureBlobStore(azurite, container=f"crash-{next(_containers)}", ids=RandomIds())
            stack.push_async_callback(store.close)
            return Place(store)

        yield place


async def test_on_azurite_deaths_and_rivals_land_it_once(on_azurite: Callable[[], Place]) -> None:
    await assert_two_land_it_once("action", on_azurite())
    for number in (2, 5, 9):
        place = on_azurite()
        await before_the_action(place)
        place.clock.advance(CLAIM_SECONDS)
        faulty = FaultyBlobStore(place.store, {number: Kill(after=True)}, only=WRITES)
        broken = place.server("b", faulty)
        await attempt(broken, "hello")
        assert len(faulty.operations) >= number
        await assert_recovers(place, broken)


async def test_a_turn_during_a_deployment_ends_on_its_version_and_the_next_one_moves() -> None:
    place = Place()
    await before_the_action(place)
    world, operator = place.server("b"), place.server("c")
    await world.say("hello")
    world.team.gate.clear()
    run = await world.world.submit("and now?")
    await asyncio.sleep(0)
    await operator.deploy(asks_first("age", 3))
    world.team.gate.set()
    await world.world.scheduler.idle()
    assert run.is_finished
    assert (await world.session()).version == 2
    place.clock.advance(POINTER_SECONDS)
    await world.say("hello")
    await world.say("41")
    assert (await world.session()).version == 3
    assert [event.to_version for event in await world.events()] == [2, 3]
    assert len(await world.trail_entries()) == 2
