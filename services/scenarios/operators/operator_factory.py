"""Builds the operators' service and the work behind it from the settings' parts."""

import asyncio
from dataclasses import dataclass

import structlog
from prometheus_client import CollectorRegistry

from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.documents import Documents
from data_models.errors import BlobChangedError, BlobExistsError, ScenarioInputError, StoreError
from data_models.identifiers import hashed
from data_models.storage.blob_store import BlobStore
from services.audit.trail import Audit
from services.conversations.maintenance_lease import MaintenanceLease
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.session_index import rebuild
from services.scenarios.operators.dry_run import DryRun
from services.scenarios.operators.journal import ActLog, ScoreBook
from services.scenarios.operators.operator_service import OperatorService
from services.scenarios.operators.session_service import SessionService
from services.scenarios.scenario_settings import ScenarioStores
from services.telemetry.metrics import Figures

LOOK_SECONDS = 5.0
_log = structlog.get_logger()


class DeploymentRunner:
    """Works on deployments that are under way.

    Every step is a conditional write of the deployment's record, so two replicas that work on
    one deployment cannot interleave: the one whose write is refused leaves it to the other. A
    record that did not change between two looks belongs to a replica that died.
    """

    def __init__(
        self, *, deployer: Deployer, documents: BlobStore, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._deployer, self._store, self._documents = deployer, deployer.store, documents
        self._look_seconds = look_seconds
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._seen: dict[str, str] = {}
        self._watch: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look for deployments that nobody works on."""
        self._watch = asyncio.create_task(self._look_for_ever())

    def wake(self, scenario_id: str) -> None:
        """Work on a deployment now, unless this process does already."""
        task = self._tasks.get(scenario_id)
        if task is None or task.done():
            self._tasks[scenario_id] = asyncio.create_task(self._work(scenario_id))

    async def close(self) -> None:
        """Stop after the write that is under way; another process goes on."""
        tasks = [task for task in (self._watch, *self._tasks.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def look(self) -> None:
        """Wake the deployments whose record stands still."""
        for scenario_id in await self._store.versions():
            held = await self._store.deployment(scenario_id)
            if held is None or not held.value.is_under_way or held.value.paused:
                self._seen.pop(scenario_id, None)
            elif self._seen.get(scenario_id) == held.etag:
                self.wake(scenario_id)
            else:
                self._seen[scenario_id] = held.etag

    async def mend_index(self) -> None:
        """Make the index anew where its file was of an earlier version, or was lost."""
        index = self._deployer.index
        try:
            if not await index.tags.is_whole():
                found = await rebuild(self._documents, index)
                _log.info("tags_rebuilt", **found._asdict())
        except StoreError as error:
            _log.warning("tags_not_rebuilt", code=error.code)  # the next start tries again

    async def _look_for_ever(self) -> None:
        await self.mend_index()  # a deployment marks what the index has
        while True:
            try:
                await self.look()
            except (StoreError, ScenarioInputError) as error:
                _log.warning("deployment_look_failed", code=error.code)
            await asyncio.sleep(self._look_seconds)

    async def _work(self, scenario_id: str) -> None:
        try:
            record = await self._deployer.advance(scenario_id)
        except (BlobChangedError, BlobExistsError):
            _log.debug("deployment_left_to_another", scenario=hashed(scenario_id))
        except (StoreError, ScenarioInputError) as error:
            # It stands still now; the next look of any replica takes it up again.
            _log.warning("deployment_stopped", scenario=hashed(scenario_id), code=error.code)
        else:
            _log.info("deployment_rests", scenario=hashed(scenario_id), state=record.state)


@dataclass(frozen=True, slots=True)
class Operators:
    """The service, and what a server runs for it; a command line works itself (`advance`)."""

    service: OperatorService
    runner: DeploymentRunner
    deployer: Deployer


def operators_for(
    stores: ScenarioStores,
    *,
    documents: Documents,
    audit: Audit,
    registry: CollectorRegistry,
    clock: Clock,
    ids: IdSource,
    lease: MaintenanceLease,
    works: bool = True,
) -> Operators:
    """Return the operators' half over the stores that turns use too.

    Args:
        stores: Versions, plans and the index of sessions.
        documents: Where the sessions are stored, with the servers' memory of them.
        lease: Holds a conversation while a session of it is changed.
        works: Whether a deployment is worked on behind whoever begins it.
    """
    figures, store, index = Figures(part="plans", registry=registry), stores.store, stores.index
    deployer = Deployer(
        store=store,
        index=index,
        clock=clock,
        ids=ids,
        config=stores.config.deployment,
        marked=lambda number: figures.count("migration_sessions_marked_total", by=number),
    )
    runner = DeploymentRunner(deployer=deployer, documents=documents.store)
    log = ActLog(audit=audit, blobs=stores.blobs, now=clock.now)
    sessions = SessionService(
        store=store,
        index=index,
        documents=documents.store,
        contexts=ChatContextAccessor(documents=documents),
        maintenance_lease=lease,
        dry_run=DryRun(
            store=store, index=index, documents=documents.store, clock=clock, config=stores.config
        ),
        log=log,
        now=clock.now,
    )
    service = OperatorService(
        store=store,
        index=index,
        deployer=deployer,
        sessions=sessions,
        log=log,
        scores=ScoreBook(blobs=stores.blobs),
        wake=runner.wake if works else lambda _: None,
        figures=figures,
        seconds=clock.monotonic,
        require_approval=stores.config.deployment.require_approval,
    )
    return Operators(service=service, runner=runner, deployer=deployer)
