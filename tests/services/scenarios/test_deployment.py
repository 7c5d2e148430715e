"""Deployment (M15) against crashes at every write, rivals and operators."""

import asyncio
import json

import pytest

from data_models import errors
from data_models.scenarios.scenario_session import PatientProfile
from data_models.storage.blob_store import BlobStore
from services.scenarios.definition.definition_reader import checked_graph
from services.scenarios.migration.deployment import PAGE_LIMIT, Deployer
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.migration.reconciliation import Reconciler
from services.scenarios.migration.scenario_store import Catalogue, ScenarioStore
from services.scenarios.scenario_settings import DeploymentConfig, MigrationConfig
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import FaultyBlobStore, Kill, LostAnswer, SimulatedKill
from tests.given import present
from tests.services.scenarios import worlds

ONE = (worlds.Node("a", "a"), worlds.Node("b", "b"))
TWO = (worlds.Node("a", "a"), worlds.Node("n", "n"), worlds.Node("b", "b"))
SCENARIO = "world"


class Scheduler:
    """An operator's service over one store."""

    def __init__(
        self, blobs: BlobStore, index: worlds.MemoryIndex, *, require_approval: bool = False
    ) -> None:
        self.index, self.clock = index, FixedClock()
        self.store = ScenarioStore(blobs=blobs)
        self.deployer = Deployer(
            store=self.store,
            index=index,
            clock=self.clock,
            ids=CountingIds(),
            config=DeploymentConfig(require_approval=require_approval),
        )
        self.catalogue = Catalogue(store=self.store, clock=self.clock)
        self.reconciler = Reconciler(
            catalogue=self.catalogue, clock=self.clock, config=MigrationConfig()
        )

    async def version(self) -> int:
        held = await self.store.active(SCENARIO)
        return held.value.version if held else 0


async def index_of(count: int) -> worlds.MemoryIndex:
    index = worlds.MemoryIndex()
    await index.put(worlds.row(f"s{n:06}") for n in range(count))
    return index


async def marks(index: worlds.MemoryIndex) -> list[int]:
    page = await index.page(SCENARIO, limit=100_000)
    return [row.mark for row in page.rows]


@pytest.mark.slow
async def test_m15_a_deployment_marks_every_session_and_flips_the_pointer() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(2 * PAGE_LIMIT + 7))
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    await service.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    record = await worlds.deploy_now(service.deployer, SCENARIO)
    assert (record.state, record.marked) == ("deployed", 2 * PAGE_LIMIT + 7)
    assert set(await marks(service.index)) == {2}
    assert await service.version() == 2
    assert present(await service.store.plan(SCENARIO, 1)).value.status == "deployed"


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
async def test_m15_p11_a_crash_at_any_write_resumes_to_the_same_end(after: bool) -> None:
    for operation in range(1, 40):
        blobs, index = MemoryBlobStore(), await index_of(PAGE_LIMIT + 5)
        calm = Scheduler(blobs, index)
        await calm.deployer.publish_first(worlds.graph_of(ONE, 1))
        await calm.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
        faulty = FaultyBlobStore(inner=blobs, plan={operation: Kill(after=after)})
        crashed = False
        try:
            await worlds.deploy_now(Scheduler(faulty, index).deployer, SCENARIO)
        except SimulatedKill:
            crashed = True
        assert await calm.version() in (1, 2)
        held = await calm.store.deployment(SCENARIO)
        if held is None or held.value.state != "deployed":
            await worlds.deploy_now(Scheduler(blobs, index).deployer, SCENARIO)
        held = present(await calm.store.deployment(SCENARIO))
        assert (held.value.state, held.value.marked >= PAGE_LIMIT + 5) == ("deployed", True)
        assert await calm.version() == 2
        assert set(await marks(index)) == {2}
        if not crashed:
            return
    raise AssertionError("the sweep never reached the end")


async def test_a_lost_answer_leaves_a_deployment_that_resumes() -> None:
    blobs, index = MemoryBlobStore(), await index_of(3)
    calm = Scheduler(blobs, index)
    await calm.deployer.publish_first(worlds.graph_of(ONE, 1))
    await calm.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    service = Scheduler(FaultyBlobStore(inner=blobs, plan={8: LostAnswer()}), index)
    with pytest.raises((errors.StoreUnavailableError, errors.BlobChangedError)):
        await worlds.deploy_now(service.deployer, SCENARIO)
    await worlds.deploy_now(calm.deployer, SCENARIO)
    assert await calm.version() == 2


async def test_m15_p14_two_operators_cannot_interleave() -> None:
    blobs, index = MemoryBlobStore(), await index_of(3)
    ann, bob = Scheduler(blobs, index), Scheduler(blobs, index)
    await ann.deployer.publish_first(worlds.graph_of(ONE, 1))
    await ann.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    done = await asyncio.gather(
        worlds.deploy_now(ann.deployer, SCENARIO),
        worlds.deploy_now(bob.deployer, SCENARIO),
        return_exceptions=True,
    )
    refused = [one for one in done if isinstance(one, BaseException)]
    conflicts = (errors.BlobChangedError, errors.BlobExistsError, errors.ScenarioPlanError)
    assert all(isinstance(one, conflicts) for one in refused)
    if await ann.version() == 1:
        await worlds.deploy_now(ann.deployer, SCENARIO)
    assert present(await ann.store.active(SCENARIO)).value.versions == (1, 2)


async def test_m15_a_plan_needs_a_second_person_where_approval_is_required() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(1), require_approval=True)
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    await service.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    with pytest.raises(errors.ScenarioPlanError):
        await worlds.deploy_now(service.deployer, SCENARIO)
    with pytest.raises(errors.ScenarioPlanError):
        await service.deployer.approve(SCENARIO, operator="ann")
    await service.deployer.approve(SCENARIO, operator="bob")
    assert (await worlds.deploy_now(service.deployer, SCENARIO)).state == "deployed"


async def test_a_cancelled_plan_is_not_deployed() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(1))
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    await service.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    await service.deployer.cancel(SCENARIO)
    with pytest.raises(errors.ScenarioPlanError):
        await worlds.deploy_now(service.deployer, SCENARIO)
    assert await service.version() == 1


@pytest.mark.slow
async def test_m15_a_paused_deployment_goes_on_where_it_stopped() -> None:
    blobs = MemoryBlobStore()
    service = Scheduler(blobs, await index_of(2 * PAGE_LIMIT))
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    await service.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    crashing = Scheduler(FaultyBlobStore(inner=blobs, plan={9: Kill(after=True)}), service.index)
    with pytest.raises(SimulatedKill):
        await worlds.deploy_now(crashing.deployer, SCENARIO)
    assert (await service.deployer.pause(SCENARIO)).paused
    stopped = await worlds.deploy_now(service.deployer, SCENARIO)
    assert (stopped.state, await service.version()) == ("staged", 1)
    await service.deployer.pause(SCENARIO, paused=False)
    assert (await worlds.deploy_now(service.deployer, SCENARIO)).marked == 2 * PAGE_LIMIT


async def test_a_version_is_immutable() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(0))
    await service.store.add_version(worlds.graph_of(ONE, 1))
    await service.store.add_version(worlds.graph_of(ONE, 1))
    with pytest.raises(errors.ScenarioDefinitionError):
        await service.store.add_version(worlds.graph_of(TWO, 1))


async def test_other_words_under_a_number_that_is_taken_are_refused() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(0))
    first = worlds.scenario_of(ONE, 1)
    await service.store.add_version(checked_graph(first))
    reworded = first.steps[0].model_copy(update={"instructions": "Say it otherwise."})
    again = first.model_copy(update={"steps": (reworded, *first.steps[1:])})
    with pytest.raises(errors.ScenarioDefinitionError):
        await service.store.add_version(checked_graph(again))


async def test_hashes_are_stored_with_a_version_and_a_changed_one_is_refused() -> None:
    blobs = MemoryBlobStore()
    graph = worlds.graph_of(ONE, 1)
    await ScenarioStore(blobs=blobs).add_version(graph)
    (name,) = [row.name async for row in blobs.list("scenarios/")]
    blob = present(await blobs.read(name))
    stored = json.loads(blob.data)
    assert (stored["checksum"], stored["hashes"]) == (graph.checksum, graph.hashes)
    stored["scenario"]["steps"][0]["name"] = "something else"
    await blobs.replace(name, json.dumps(stored).encode(), etag=blob.etag)
    with pytest.raises(errors.CorruptDocumentError):
        await ScenarioStore(blobs=blobs).graph("world", 1)


async def test_a_version_that_was_stored_without_hashes_is_read() -> None:
    blobs = MemoryBlobStore()
    data = worlds.scenario_of(ONE, 1).model_dump_json().encode()
    await blobs.create("scenarios/world/versions/1.json", data)
    found = present(await ScenarioStore(blobs=blobs).graph("world", 1))
    assert found.checksum == worlds.graph_of(ONE, 1).checksum


async def test_a_plan_that_names_unknown_steps_is_refused() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(0))
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    policies = {"nowhere": AnchorMigrationPolicy()}
    with pytest.raises(errors.ScenarioPlanError, match="nowhere"):
        await service.deployer.propose(worlds.graph_of(TWO, 2), operator="ann", policies=policies)


async def test_a_current_session_costs_one_comparison_and_no_read() -> None:
    blobs = FaultyBlobStore(inner=MemoryBlobStore(), plan={})
    service = Scheduler(blobs, await index_of(0))
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    session = worlds.session_at(worlds.graph_of(ONE, 1), ["a"], [])
    await service.reconciler.before_turn(session, PatientProfile())
    before = len(blobs.operations)
    outcome = await service.reconciler.before_turn(session, PatientProfile())
    assert len(blobs.operations) == before
    assert not outcome.changed


async def test_a_turn_learns_of_a_deployment_within_five_seconds() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(0))
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    session = worlds.session_at(worlds.graph_of(ONE, 1), ["a", "b"], [])
    await service.reconciler.before_turn(session, PatientProfile())
    await service.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    await worlds.deploy_now(service.deployer, SCENARIO)
    service.clock.advance(6)
    outcome = await service.reconciler.before_turn(session, PatientProfile())
    assert (outcome.session.version, outcome.session.step) == (2, "b")


async def test_m16_a_session_whose_version_is_lost_stays_and_is_flagged() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(0))
    await service.deployer.publish_first(worlds.graph_of(TWO, 2))
    session = worlds.session_at(worlds.graph_of(ONE, 1), ["a", "b"], [])
    outcome = await service.reconciler.before_turn(session, PatientProfile())
    assert outcome.needs_review
    assert outcome.session.version == 1
    again = await service.reconciler.before_turn(outcome.session, PatientProfile())
    assert not again.changed


async def test_m18_a_session_with_a_foreign_checksum_stays_and_is_flagged() -> None:
    service = Scheduler(MemoryBlobStore(), await index_of(0))
    await service.deployer.publish_first(worlds.graph_of(ONE, 1))
    await service.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")
    await worlds.deploy_now(service.deployer, SCENARIO)
    session = worlds.session_at(worlds.graph_of(ONE, 1), ["a", "b"], [])
    session = session.model_copy(update={"checksum": "other"})
    outcome = await service.reconciler.before_turn(session, PatientProfile())
    assert present(outcome.session.review).reason == "untrusted_history"
