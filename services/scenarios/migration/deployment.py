"""Deploys versions (M15): every step is written before the next, so that a crash resumes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from data_models.clock import Clock, IdSource
from data_models.errors import BlobChangedError, ScenarioPlanError
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.migration_plan import (
    AnchorMigrationPolicy,
    DeploymentRecord,
    MigrationPlan,
)
from services.scenarios.migration.plans.planning import make_plan
from services.scenarios.migration.scenario_store import (
    ActivePointer,
    Held,
    ScenarioStore,
    is_in_share,
)
from services.scenarios.migration.session_index import SessionIndex
from services.scenarios.scenario_settings import DeploymentConfig

PAGE_LIMIT = 1_000
DECISION_TRIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployer:
    """Proposes, approves and deploys versions of scenarios.

    Attributes:
        marked: Told how many sessions were marked, for the figures.
    """

    store: ScenarioStore
    index: SessionIndex
    clock: Clock
    ids: IdSource
    config: DeploymentConfig
    marked: Callable[[int], None] = lambda _number: None

    async def publish_first(self, graph: Graph) -> None:
        """Make a scenario's first version active; there are no sessions to migrate.

        Raises:
            ScenarioPlanError: the scenario has an active version already; nothing was stored.
            BlobExistsError: somebody else publishes at the same moment.
        """
        scenario = graph.scenario
        if (held := await self.store.active(scenario.id)) is not None:
            active = f"version {held.value.version} is published already"
            raise ScenarioPlanError(f"{active}; propose a newer one")
        await self.store.add_version(graph)
        pointer = ActivePointer(
            scenario_id=scenario.id, versions=(scenario.version,), checksum=graph.checksum
        )
        await self.store.save_active(pointer, etag=None)

    async def propose(
        self,
        graph: Graph,
        *,
        operator: str,
        policies: Mapping[str, AnchorMigrationPolicy] | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> MigrationPlan:
        """Store a new version beside the active one, and the plan that leads to it.

        Raises:
            ScenarioPlanError: the version is not newer, nothing is active, or a deployment runs.
        """
        scenario_id = graph.scenario.id
        pointer = (await self.store.require_active(scenario_id)).value
        if graph.version <= max(pointer.versions):
            raise ScenarioPlanError(f"the version must be above {max(pointer.versions)}")
        old = await self.store.require_graph(scenario_id, pointer.version)
        plan = make_plan(
            old,
            graph,
            plan_id=self.ids.new_id("plan"),
            now=self.clock.now(),
            policies=policies,
            mapping=mapping,
            created_by=operator,
        )
        await self._idle(scenario_id)
        await self.store.add_version(graph)
        known = await self.store.plan(scenario_id, old.version)
        await self.store.save_plan(plan, etag=known.etag if known else None)
        return plan

    async def approve(self, scenario_id: str, *, operator: str) -> MigrationPlan:
        """Approve the pending plan from the active version.

        Raises:
            ScenarioPlanError: there is none, it is not pending, or its author approves it.
        """
        held = await self.store.current_plan(scenario_id)
        if held.value.status != "pending":
            raise ScenarioPlanError("the plan is not pending")
        if self.config.require_approval and held.value.created_by == operator:
            raise ScenarioPlanError("a second person must approve the plan")
        return await self._save_status(
            held, {"status": "approved", "approved_by": operator, "approved_at": self.clock.now()}
        )

    async def cancel(self, scenario_id: str) -> MigrationPlan:
        """Cancel the plan from the active version before it is deployed."""
        await self._idle(scenario_id)
        held = await self.store.current_plan(scenario_id)
        if held.value.status not in ("pending", "approved"):
            raise ScenarioPlanError("only a plan that is not deployed can be cancelled")
        return await self._save_status(held, {"status": "cancelled"})

    async def start(
        self, scenario_id: str, *, operator: str = "", share_percent: int = 100
    ) -> DeploymentRecord:
        """Begin to deploy the approved plan; `advance` does the work.

        Args:
            scenario_id: What to deploy.
            operator: Who does it.
            share_percent: A canary if below 100: only so many of the sessions are reached.

        Raises:
            ScenarioPlanError: no approved plan fits the versions, or a deployment is under way.
            BlobExistsError: somebody else began at the same moment.
            BlobChangedError: the same.
        """
        running = await self._idle(scenario_id)
        plan = (await self.store.current_plan(scenario_id)).value
        is_ready = plan.status == "approved" or (
            plan.status == "pending" and not self.config.require_approval
        )
        if not is_ready:
            raise ScenarioPlanError("the plan is not approved")
        old = await self.store.require_graph(plan.scenario_id, plan.from_version)
        new = await self.store.require_graph(plan.scenario_id, plan.to_version)
        if (old.checksum, new.checksum) != (plan.scenario_checksum_v1, plan.scenario_checksum_v2):
            raise ScenarioPlanError("the plan was made for other content")
        tallies = await self.index.tally(scenario_id)
        record = DeploymentRecord(
            scenario_id=scenario_id,
            plan_id=plan.id,
            from_version=plan.from_version,
            to_version=plan.to_version,
            total=sum(one.number for one in tallies if one.version < plan.to_version),
            share_percent=share_percent,
            started_by=operator,
        )
        etag = running.etag if running else None
        return (await self.store.save_deployment(record, etag=etag)).value

    async def advance(self, scenario_id: str) -> DeploymentRecord:
        """Go on with the deployment under way to its end, a pause or a canary's share.

        Raises:
            ScenarioPlanError: none was ever begun.
            BlobChangedError: somebody else goes on with it, or paused it; nothing was lost.
        """
        held = await self._deployment(scenario_id)
        if held.value.state == "approved":
            # Versions are immutable, so archiving is to see that the old one is there.
            await self.store.require_graph(scenario_id, held.value.from_version)
            held = await self._save(held, {"state": "archived"})
        if held.value.state == "archived":
            await self.store.require_graph(scenario_id, held.value.to_version)
            held = await self._save(held, {"state": "staged"})
        while held.value.state == "staged":
            if held.value.paused:
                return held.value
            held = await self._mark_page(held)
        if held.value.state == "flipped":
            held = await self._finish(held)
        return held.value

    async def pause(self, scenario_id: str, *, paused: bool = True) -> DeploymentRecord:
        """Stop the deployment under way after the page it is at, or let it go on."""
        return await self._decide(scenario_id, lambda record: _paused(record, paused))

    async def withdraw(self, scenario_id: str, *, reason: str) -> None:
        """Offer the scenario no more, or again where `reason` is "".

        Raises:
            ScenarioNotFoundError: nothing is active.
            ScenarioPlanError: a deployment is under way.
            BlobChangedError: somebody else changed the pointer meanwhile.
        """
        await self._idle(scenario_id)
        held = await self.store.require_active(scenario_id)
        pointer = held.value.model_copy(update={"withdrawn": reason})
        await self.store.save_active(pointer, etag=held.etag)

    async def set_share(self, scenario_id: str, *, share_percent: int) -> DeploymentRecord:
        """Change how many of the sessions a canary reaches; `advance` marks and ends it.

        Raises:
            ScenarioPlanError: no canary waits for it.
        """
        return await self._decide(scenario_id, lambda record: _with_share(record, share_percent))

    async def _decide(
        self, scenario_id: str, change: Callable[[DeploymentRecord], DeploymentRecord]
    ) -> DeploymentRecord:
        """Write an operator's decision beside a deployment that itself writes all the time."""
        for _ in range(DECISION_TRIES):
            held = await self._deployment(scenario_id)
            try:
                changed = change(held.value)
                return (await self.store.save_deployment(changed, etag=held.etag)).value
            except BlobChangedError:
                continue
        raise BlobChangedError("the deployment changed all the time")

    async def _mark_page(self, held: Held[DeploymentRecord]) -> Held[DeploymentRecord]:
        record = held.value
        if record.all_marked or not self.config.auto_mark_sessions:
            await self._flip(record)
            return await self._save(held, {"state": "flipped"})
        page = await self.index.page(
            record.scenario_id,
            after=record.cursor,
            limit=PAGE_LIMIT,
            below_version=record.to_version,
        )
        rows = [row for row in page.rows if is_in_share(row.session_id, record.share_percent)]
        await self.index.mark(rows, record.to_version)
        self.marked(len(rows))
        progress = {"marked": record.marked + len(rows), "seen": record.seen + len(page.rows)}
        return await self._save(
            held, {**progress, "cursor": page.cursor, "all_marked": not page.cursor}
        )

    async def _flip(self, record: DeploymentRecord) -> None:
        held = await self.store.require_active(record.scenario_id)
        graph = await self.store.require_graph(record.scenario_id, record.to_version)
        plan = await self.store.plan(record.scenario_id, record.from_version)
        known = held.value.versions
        pointer = ActivePointer(
            scenario_id=record.scenario_id,
            versions=known if known[-1] == record.to_version else (*known, record.to_version),
            checksum=graph.checksum,
            policies=plan.value.anchor_policies if plan else {},
            share_percent=record.share_percent,
        )
        if pointer != held.value:
            await self.store.save_active(pointer, etag=held.etag)

    async def _finish(self, held: Held[DeploymentRecord]) -> Held[DeploymentRecord]:
        record = held.value
        plan = await self.store.plan(record.scenario_id, record.from_version)
        is_of_another = plan is None or plan.value.id != record.plan_id
        if plan is not None and not is_of_another and plan.value.status != "deployed":
            await self._save_status(plan, {"status": "deployed"})
        return held if record.is_canary else await self._save(held, {"state": "deployed"})

    async def _save(
        self, held: Held[DeploymentRecord], change: dict[str, object]
    ) -> Held[DeploymentRecord]:
        record = held.value.model_copy(update=change)
        return await self.store.save_deployment(record, etag=held.etag)

    async def _save_status(
        self, held: Held[MigrationPlan], change: dict[str, object]
    ) -> MigrationPlan:
        plan = held.value.model_copy(update=change)
        await self.store.save_plan(plan, etag=held.etag)
        return plan

    async def _idle(self, scenario_id: str) -> Held[DeploymentRecord] | None:
        """Return the last deployment, which rests."""
        held = await self.store.deployment(scenario_id)
        if held is not None and held.value.is_under_way:
            record = held.value
            who = f", begun by {record.started_by}" if record.started_by else ""
            text = f"a deployment of version {record.to_version} is under way{who}"
            raise ScenarioPlanError(text)
        return held

    async def _deployment(self, scenario_id: str) -> Held[DeploymentRecord]:
        if (held := await self.store.deployment(scenario_id)) is None:
            raise ScenarioPlanError("no deployment is under way")
        return held


def _paused(record: DeploymentRecord, paused: bool) -> DeploymentRecord:
    if not record.is_under_way:
        raise ScenarioPlanError("no deployment is under way")
    return record.model_copy(update={"paused": paused})


def _with_share(record: DeploymentRecord, share_percent: int) -> DeploymentRecord:
    if not record.is_canary:
        raise ScenarioPlanError("no canary waits for a larger share")
    again = {"state": "staged", "cursor": "", "all_marked": False, "marked": 0, "seen": 0}
    return record.model_copy(update={**again, "share_percent": share_percent})
