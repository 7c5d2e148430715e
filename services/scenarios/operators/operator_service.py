"""What operators do with scenarios: one service behind the page, the API and the command line."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from data_models.errors import ScenarioNotFoundError
from data_models.values import Value
from services.scenarios.definition.definition_reader import read_definition, read_publishable
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.plans.migration_plan import (
    AnchorMigrationPolicy,
    DeploymentRecord,
    MigrationPlan,
)
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.migration.session_index import SessionIndex
from services.scenarios.operators import asked, plan_view
from services.scenarios.operators.dry_run import DryRunPage
from services.scenarios.operators.journal import ActLog, JournalEntry, ScoreBook
from services.scenarios.operators.session_service import SessionService
from services.scenarios.session.step_text import played
from services.telemetry.metrics import Figures


class Scenarios(Value):
    """Every stored scenario, and who asks."""

    scenarios: tuple[plan_view.ScenarioCard, ...]
    operator: str
    require_approval: bool


class History(Value):
    """What operators did, newest first."""

    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorService:
    """Every act is on record before it happens, with who does it.

    Attributes:
        wake: Takes up a deployment that was begun or resumed, in the background of a server.
        seconds: A monotonic clock.
        require_approval: Whether somebody else than the proposer must approve a plan.
    """

    store: ScenarioStore
    index: SessionIndex
    deployer: Deployer
    sessions: SessionService
    log: ActLog
    scores: ScoreBook
    wake: Callable[[str], None]
    figures: Figures
    seconds: Callable[[], float]
    require_approval: bool

    def of(self, operator: str) -> Self:
        """Return the service for the operator of this id, whose acts are on record as theirs."""
        log = replace(self.log, operator=operator)
        return replace(self, log=log, sessions=replace(self.sessions, log=log))

    async def list_scenarios(self) -> Scenarios:
        """List every stored scenario, and who asks."""
        stored = await self.store.versions()
        found = [await self._standing(one, versions) for one, versions in sorted(stored.items())]
        cards = tuple(plan_view.ScenarioCard.of(one) for one in found)
        who, needs_second = self.log.operator, self.require_approval
        return Scenarios(scenarios=cards, operator=who, require_approval=needs_second)

    async def show_scenario(self, scenario_id: str) -> plan_view.ScenarioOverview:
        """Show versions, plan, deployment and live counts.

        Raises:
            ScenarioNotFoundError: there is none of that id.
        """
        standing = await self._standing(scenario_id, await self._versions(scenario_id))
        counts = plan_view.counted(await self.index.tally(scenario_id))
        return standing.model_copy(update={"counts": counts})

    async def show_version(self, scenario_id: str, version: int) -> plan_view.GraphView:
        """Show one version, to be drawn."""
        graph = await self.store.require_graph(scenario_id, version)
        return plan_view.view_of_graph(graph, await self.index.tally(scenario_id))

    async def validate(self, sent: asked.Definition) -> plan_view.GraphView:
        """Check a version without storing it.

        Raises:
            ScenarioDefinitionError: with everything that is wrong.
        """
        return plan_view.view_of_graph(await _read(sent.definition), ())

    async def publish(self, sent: asked.Definition) -> plan_view.GraphView:
        """Make a scenario's first version active.

        Raises:
            ScenarioDefinitionError: with everything that is wrong.
            ScenarioPlanError: the scenario has an active version already.
        """
        graph = await _read(sent.definition)
        async with self.log.act(graph.scenario.id, "publish", f"version {graph.version}"):
            await self.deployer.publish_first(graph)
        return plan_view.view_of_graph(graph, ())

    async def propose(self, sent: asked.Proposal) -> plan_view.PlanView:
        """Store a new version and the plan that leads to it.

        Raises:
            ScenarioDefinitionError: with everything that is wrong.
            ScenarioPlanError: nothing is active, it is not newer, or a deployment runs.
        """
        graph = await _read(sent.definition)
        return await self._propose(graph, "propose", sent.policies, sent.mapping)

    async def set_policies(self, scenario_id: str, sent: asked.Policies) -> plan_view.PlanView:
        """Plan again with other policies; an approval is lost, for it was for the old ones."""
        plan, graph = await self._planned(scenario_id)
        return await self._propose(graph, "set_policies", sent.policies, plan.operator_mapping)

    async def set_mapping(self, scenario_id: str, sent: asked.Pairs) -> plan_view.PlanView:
        """Plan again with steps paired by hand; an approval is lost, for it was for other pairs.

        Raises:
            ScenarioPlanError: there is no plan, or it names steps that there are not.
        """
        plan, graph = await self._planned(scenario_id)
        pairs = {old: new for old, new in {**plan.operator_mapping, **sent.mapping}.items() if new}
        return await self._propose(graph, "set_mapping", plan.anchor_policies, pairs)

    async def withdraw(self, scenario_id: str, sent: asked.Reason) -> plan_view.ScenarioOverview:
        """Offer a scenario no more: its sessions are told at their next turn and keep their data.

        A version that is deployed later brings it back.

        Raises:
            ScenarioPlanError: nothing is active, or a deployment runs.
        """
        async with self.log.act(scenario_id, "withdraw", sent.reason):
            await self.deployer.withdraw(scenario_id, reason=sent.reason)
        return await self.show_scenario(scenario_id)

    async def offer_again(self, scenario_id: str) -> plan_view.ScenarioOverview:
        """Offer a withdrawn scenario again; sessions that were ended stay so."""
        async with self.log.act(scenario_id, "offer_again"):
            await self.deployer.withdraw(scenario_id, reason="")
        return await self.show_scenario(scenario_id)

    async def rollback(self, scenario_id: str, sent: asked.Rollback) -> plan_view.PlanView:
        """Propose an earlier version's content under a new number."""
        former = await self.store.require_graph(scenario_id, sent.to)
        number = (await self._versions(scenario_id))[-1] + 1
        again = Graph(scenario=former.scenario.model_copy(update={"version": number}))
        return await self._propose(again, "rollback")

    async def show_plan(self, scenario_id: str) -> plan_view.PlanView:
        """Show the plan and both versions side by side.

        Raises:
            ScenarioPlanError: there is none.
        """
        return await self._shown(await self._plan(scenario_id))

    async def dry_run(self, scenario_id: str, page: asked.Paging) -> DryRunPage:
        """Tell what the plan would do to a page of stored sessions.

        It is on record; the first page says how the last dry run came true.
        """
        plan = await self._plan(scenario_id)
        await self.log.record("dry_run", about=scenario_id)
        found = await self.sessions.dry_run.page(plan, after=page.after, limit=page.limit)
        await self.scores.foretell(scenario_id, plan.to_version, found.rows, anew=not page.after)
        if page.after:
            return found
        held = await self.store.active(scenario_id)
        score = await self.scores.score(scenario_id, held.value.versions if held else ())
        return found.model_copy(update={"score": score})

    async def preview(self, sent: asked.Preview) -> dict[str, Any]:
        """Play a version with made-up answers; nothing is stored.

        Raises:
            ScenarioDefinitionError: it cannot be played; faults are no reason.
        """
        found = await asyncio.to_thread(
            lambda: played(read_definition(sent.definition), sent.answers)
        )
        return asdict(found)

    async def approve(self, scenario_id: str) -> MigrationPlan:
        """Approve the pending plan.

        Raises:
            ScenarioPlanError: it is not pending, or a second person is needed.
        """
        async with self.log.act(scenario_id, "approve", await self._jump(scenario_id)):
            plan = await self.deployer.approve(scenario_id, operator=self.log.operator)
        self.figures.count("migration_plans_approved_total")
        return plan

    async def cancel(self, scenario_id: str) -> MigrationPlan:
        """Cancel a plan that is not deployed."""
        async with self.log.act(scenario_id, "cancel", await self._jump(scenario_id)):
            return await self.deployer.cancel(scenario_id)

    async def deploy(self, scenario_id: str, sent: asked.Share) -> DeploymentRecord:
        """Begin to deploy the approved plan.

        Raises:
            ScenarioPlanError: no approved plan fits, or a deployment is under way.
            ScenarioConflictError: somebody else began at the same moment.
        """
        note = f"{await self._jump(scenario_id)}, share {sent.share_percent} %"
        async with self.log.act(scenario_id, "deploy", note):
            await self.deployer.start(
                scenario_id, operator=self.log.operator, share_percent=sent.share_percent
            )
        return await self._woken(scenario_id)

    async def pause(self, scenario_id: str) -> DeploymentRecord:
        """Stop the deployment after the page it is at."""
        async with self.log.act(scenario_id, "pause"):
            return await self.deployer.pause(scenario_id)

    async def resume(self, scenario_id: str) -> DeploymentRecord:
        """Let a paused deployment go on."""
        async with self.log.act(scenario_id, "resume"):
            await self.deployer.pause(scenario_id, paused=False)
        return await self._woken(scenario_id)

    async def set_share(self, scenario_id: str, sent: asked.Share) -> DeploymentRecord:
        """Change how many sessions a canary reaches; 100 ends the deployment."""
        async with self.log.act(scenario_id, "set_share", f"share {sent.share_percent} %"):
            await self.deployer.set_share(scenario_id, share_percent=sent.share_percent)
        return await self._woken(scenario_id)

    async def show_history(self, scenario_id: str) -> History:
        """Show what operators did, newest first."""
        return History(entries=tuple(await self.log.newest(scenario_id)))

    async def _propose(
        self,
        graph: Graph,
        action: str,
        policies: Mapping[str, AnchorMigrationPolicy] | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> plan_view.PlanView:
        start = self.seconds()
        async with self.log.act(graph.scenario.id, action, f"version {graph.version}"):
            plan = await self.deployer.propose(
                graph, operator=self.log.operator, policies=policies, mapping=mapping
            )
        self.figures.count("migration_plans_generated_total")
        took = (self.seconds() - start) * 1e3
        self.figures.observe("migration_plan_generation_duration_ms", took)
        return await self._shown(plan)

    async def _woken(self, scenario_id: str) -> DeploymentRecord:
        self.wake(scenario_id)
        if (held := await self.store.deployment(scenario_id)) is None:
            raise ScenarioNotFoundError("no deployment")
        return held.value

    async def _jump(self, scenario_id: str) -> str:
        plan = await self._plan(scenario_id)
        return f"version {plan.from_version} to {plan.to_version}"

    async def _plan(self, scenario_id: str) -> MigrationPlan:
        return (await self.store.current_plan(scenario_id)).value

    async def _planned(self, scenario_id: str) -> tuple[MigrationPlan, Graph]:
        """Return the plan and the version that it leads to."""
        plan = await self._plan(scenario_id)
        return plan, await self.store.require_graph(scenario_id, plan.to_version)

    async def _shown(self, plan: MigrationPlan) -> plan_view.PlanView:
        """Return the plan as operators see it, with where sessions of older versions stand.

        Raises:
            ScenarioNotFoundError: one of its versions is not stored.
        """
        old = await self.store.require_graph(plan.scenario_id, plan.from_version)
        new = await self.store.require_graph(plan.scenario_id, plan.to_version)
        tallies = await self.index.tally(plan.scenario_id)
        pointer = (await self.store.require_active(plan.scenario_id)).value
        known = [version for version in pointer.versions if version <= plan.from_version]
        chain = await self.store.chain(plan.scenario_id, known)
        counted_in = {tally.version for tally in tallies} & set(known) - {plan.from_version}
        older = {version: chain.images_from(version) for version in counted_in}
        return plan_view.view_of_plan(plan, old, new, tallies, older=older)

    async def _standing(self, scenario_id: str, versions: list[int]) -> plan_view.ScenarioOverview:
        """Return where a scenario of these stored versions stands."""
        held = await self.store.active(scenario_id)
        pointer = held.value if held else None
        version = pointer.version if pointer else versions[-1]
        graph = await self.store.require_graph(scenario_id, version)
        plan = await self.store.plan(scenario_id, version)
        deployment = await self.store.deployment(scenario_id)
        return plan_view.ScenarioOverview(
            scenario_id=scenario_id,
            name=graph.scenario.title,
            versions=tuple(versions),
            deployed=pointer.versions if pointer else (),
            active=pointer.version if pointer else None,
            share_percent=pointer.share_percent if pointer else 100,
            withdrawn=pointer.withdrawn if pointer else "",
            plan=plan.value if plan else None,
            deployment=deployment.value if deployment else None,
        )

    async def _versions(self, scenario_id: str) -> list[int]:
        if not (found := (await self.store.versions(scenario_id)).get(scenario_id)):
            raise ScenarioNotFoundError("there is no such scenario")
        return found


async def _read(source: str) -> Graph:
    # A long text takes seconds, and conversations go on meanwhile.
    return await asyncio.to_thread(read_publishable, source)
