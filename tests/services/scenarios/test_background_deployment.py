"""Deployments behind the server: crashes at every write, rivals, canaries, dead replicas (M15)."""

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from data_models import errors
from data_models.storage.blob_store import BlobStore
from data_models.storage.local_blob_store import LocalBlobStore
from services.scenarios.migration.deployment import PAGE_LIMIT, Deployer
from services.scenarios.migration.scenario_store import Catalogue, ScenarioStore, is_in_share
from services.scenarios.migration.session_index import SessionRow
from services.scenarios.operators.operator_factory import DeploymentRunner
from services.scenarios.scenario_settings import DeploymentConfig
from services.stores import INDEX_FILE
from services.stores import SESSIONS as SESSIONS_FOLDER
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.services.scenarios import worlds
from tests.services.scenarios.clinic import BOOKING, Clinic, Visitor

ONE = (worlds.Node("a", "a"), worlds.Node("b", "b"))
TWO = (worlds.Node("a", "a"), worlds.Node("n", "n"), worlds.Node("b", "b"))
THREE = (worlds.Node("a", "a"), worlds.Node("m", "m"), worlds.Node("b", "b"))
SCENARIO = "world"
SESSIONS = 2 * PAGE_LIMIT + 5


class Stumbling(worlds.MemoryIndex):
    """An index that dies at one of its marks, before or after it was written."""

    def __init__(self, *, at: int, after: bool) -> None:
        super().__init__()
        self._left, self._after = at, after

    async def mark(self, rows: Iterable[SessionRow], version: int) -> None:
        self._left -= 1
        if self._left == 0 and not self._after:
            raise errors.StoreUnavailableError
        await super().mark(rows, version)
        if self._left == 0:
            raise errors.StoreUnavailableError


class Replica:
    """One server's half of a deployment."""

    def __init__(
        self, blobs: BlobStore, index: worlds.MemoryIndex, documents: BlobStore | None = None
    ) -> None:
        self.index = index
        self.store = ScenarioStore(blobs=blobs)
        self.marked: list[int] = []
        self.deployer = Deployer(
            store=self.store,
            index=index,
            clock=FixedClock(),
            ids=CountingIds(),
            config=DeploymentConfig(require_approval=False),
            marked=self.marked.append,
        )
        self.runner = DeploymentRunner(
            deployer=self.deployer, documents=documents or MemoryBlobStore(), look_seconds=0.01
        )

    async def state(self) -> str:
        held = await self.store.deployment(SCENARIO)
        return held.value.state if held else ""

    async def until(self, state: str) -> None:
        async with asyncio.timeout(60):
            while await self.state() != state:  # noqa: ASYNC110 - as another replica would look
                await asyncio.sleep(0.005)


async def filled(index: worlds.MemoryIndex, number: int = SESSIONS) -> worlds.MemoryIndex:
    await index.put(worlds.row(f"s{n:06}") for n in range(number))
    return index


async def proposed(replica: Replica) -> None:
    await replica.deployer.publish_first(worlds.graph_of(ONE, 1))
    await replica.deployer.propose(worlds.graph_of(TWO, 2), operator="ann")


async def marks(index: worlds.MemoryIndex) -> set[int]:
    return {row.mark for row in (await index.page(SCENARIO, limit=100_000)).rows}


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.slow
async def test_m15_a_crash_at_any_mark_resumes_to_the_same_end(at: int, after: bool) -> None:
    index = await filled(Stumbling(at=at, after=after))
    replica = Replica(MemoryBlobStore(), index)
    await proposed(replica)
    with pytest.raises(errors.StoreUnavailableError):
        await worlds.deploy_now(replica.deployer, SCENARIO)
    assert await replica.state() == "staged"
    record = await worlds.deploy_now(replica.deployer, SCENARIO)
    assert (record.state, record.marked, record.total) == ("deployed", SESSIONS, SESSIONS)
    assert await marks(index) == {2}


@pytest.mark.slow
async def test_m15_of_two_operators_who_deploy_at_once_one_is_told_so() -> None:
    blobs, index = MemoryBlobStore(), await filled(worlds.MemoryIndex())
    ann, bob = Replica(blobs, index), Replica(blobs, index)
    await proposed(ann)
    done = await asyncio.gather(
        ann.deployer.start(SCENARIO, operator="ann"),
        bob.deployer.start(SCENARIO, operator="bob"),
        return_exceptions=True,
    )
    refused = [one for one in done if isinstance(one, BaseException)]
    assert len(refused) == 1
    assert isinstance(
        refused[0], errors.ScenarioPlanError | errors.BlobExistsError | errors.BlobChangedError
    )
    with pytest.raises(errors.ScenarioPlanError, match=r"version 2 is under way, begun by"):
        await bob.deployer.start(SCENARIO, operator="bob")


@pytest.mark.slow
async def test_m15_two_replicas_that_work_on_one_deployment_do_not_interleave() -> None:
    blobs, index = MemoryBlobStore(), await filled(worlds.MemoryIndex())
    ann, bob = Replica(blobs, index), Replica(blobs, index)
    await proposed(ann)
    await ann.deployer.start(SCENARIO)
    done = await asyncio.gather(
        ann.deployer.advance(SCENARIO), bob.deployer.advance(SCENARIO), return_exceptions=True
    )
    assert sum(isinstance(one, errors.BlobChangedError) for one in done) <= 1
    await bob.deployer.advance(SCENARIO)
    held = present(await ann.store.deployment(SCENARIO))
    assert (held.value.state, held.value.marked) == ("deployed", SESSIONS)
    assert present(await ann.store.active(SCENARIO)).value.versions == (1, 2)


async def test_m15_no_plan_is_made_while_a_deployment_is_under_way() -> None:
    replica = Replica(MemoryBlobStore(), await filled(worlds.MemoryIndex(), 3))
    await proposed(replica)
    await replica.deployer.start(SCENARIO)
    with pytest.raises(errors.ScenarioPlanError, match="under way"):
        await replica.deployer.propose(worlds.graph_of(THREE, 3), operator="ann")


@pytest.mark.slow
async def test_another_replica_goes_on_where_one_died() -> None:
    blobs, index = MemoryBlobStore(), await filled(worlds.MemoryIndex())
    dead, alive = Replica(blobs, index), Replica(blobs, index)
    await proposed(dead)
    await dead.deployer.start(SCENARIO)
    alive.runner.start()
    await alive.until("deployed")
    await alive.runner.close()
    assert await marks(index) == {2}
    assert sum(alive.marked) == SESSIONS


async def test_a_paused_deployment_is_left_alone_until_it_is_resumed() -> None:
    replica = Replica(MemoryBlobStore(), await filled(worlds.MemoryIndex(), 3))
    await proposed(replica)
    await replica.deployer.start(SCENARIO)
    await replica.deployer.pause(SCENARIO)
    for _ in range(3):
        await replica.runner.look()
    await asyncio.sleep(0.02)
    assert (await replica.state(), replica.marked) == ("approved", [])
    await replica.deployer.pause(SCENARIO, paused=False)
    replica.runner.wake(SCENARIO)
    await replica.until("deployed")
    await replica.runner.close()


async def test_a_canary_reaches_the_same_share_and_ends_when_all_are_reached() -> None:
    index = await filled(worlds.MemoryIndex(), 400)
    replica = Replica(MemoryBlobStore(), index)
    await proposed(replica)
    record = await worlds.deploy_now(replica.deployer, SCENARIO, share_percent=25)
    few = {row.session_id for row in (await index.page(SCENARIO, limit=400)).rows if row.mark}
    assert (record.state, record.marked) == ("flipped", len(few))
    assert 60 < len(few) < 140
    catalogue = Catalogue(store=replica.store, clock=FixedClock())
    session = worlds.session_at(worlds.graph_of(ONE, 1), ["a"], [])
    for name in ("s000001", "s000002", "s000003", "s000004", "s000005"):
        moved = session.model_copy(update={"session_id": name})
        assert await catalogue.is_current(moved) is (name not in few)
        assert present(await catalogue.entry(SCENARIO, name)).version == (2 if name in few else 1)

    await replica.deployer.set_share(SCENARIO, share_percent=50)
    wider = await replica.deployer.advance(SCENARIO)
    more = {row.session_id for row in (await index.page(SCENARIO, limit=400)).rows if row.mark}
    assert wider.state == "flipped"
    assert few < more
    await replica.deployer.set_share(SCENARIO, share_percent=100)
    done = await replica.deployer.advance(SCENARIO)
    assert (done.state, await marks(index)) == ("deployed", {2})


async def test_a_bad_canary_is_followed_by_the_old_content() -> None:
    replica = Replica(MemoryBlobStore(), await filled(worlds.MemoryIndex(), 50))
    await proposed(replica)
    await worlds.deploy_now(replica.deployer, SCENARIO, share_percent=10)
    await replica.deployer.propose(worlds.graph_of(ONE, 3), operator="bob")
    record = await worlds.deploy_now(replica.deployer, SCENARIO)
    pointer = present(await replica.store.active(SCENARIO))
    assert (record.state, pointer.value.versions) == ("deployed", (1, 2, 3))
    assert pointer.value.share_percent == 100


def test_raising_a_share_takes_nobody_out() -> None:
    names = [f"s{n}" for n in range(2_000)]
    shares = [{name for name in names if is_in_share(name, p)} for p in (0, 5, 30, 100)]
    assert shares[0] == set()
    assert shares[1] < shares[2] < shares[3] == set(names)


class Unwell(worlds.MemoryIndex):
    """An index that takes nothing while it is `ill`."""

    ill = True

    async def put(self, rows: Iterable[SessionRow]) -> None:
        if self.ill:
            raise errors.StoreUnavailableError
        await super().put(rows)


def lose(file: Path, *, is_lost: bool) -> None:
    """Leave no file of the index, or one of an earlier version."""
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()
    if not is_lost:
        with closing(sqlite3.connect(file)) as earlier:
            earlier.executescript("CREATE TABLE sessions (id TEXT); PRAGMA user_version = 2;")


@pytest.mark.parametrize("is_lost", [False, True])
async def test_an_index_of_an_earlier_version_is_made_anew_by_the_next_start(
    tmp_path: Path, is_lost: bool
) -> None:
    clinic, file = Clinic(tmp_path), tmp_path / INDEX_FILE
    await clinic.open([Visitor("a", "slot"), Visitor("b", "service")])
    lose(file, is_lost=is_lost)
    documents = LocalBlobStore(root=tmp_path / SESSIONS_FOLDER)
    index = Unwell(file)
    with capture_logs() as logs:
        await Replica(MemoryBlobStore(), index, documents).runner.mend_index()
        assert (await index.page(BOOKING, limit=9)).rows == []
        index.ill = False
        again = Replica(MemoryBlobStore(), index, documents).runner
        again.start()
        async with asyncio.timeout(60):
            while not await index.tags.is_whole():  # noqa: ASYNC110 - as an operator would look
                await asyncio.sleep(0.005)
        await again.close()
        await again.mend_index()  # what is whole is not read again
    rows = (await index.page(BOOKING, limit=9)).rows
    assert {one.session_id for one in rows} == {"session-a", "session-b"}
    events = [one["event"] for one in logs if one["event"] != "tags_emptied"]
    assert events == ["tags_not_rebuilt", "tags_rebuilt"]
    await index.close()
    await documents.close()
