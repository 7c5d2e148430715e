"""What operators do with scenarios: one service behind the page, the API and the command line."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from data_models.errors import ScenarioNotFoundError
from services.scenarios.definition.definition_reader import read_definition, read_publishable
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy, MigrationPlan
from services.scenarios.migration.ports import SessionIndex
from services.scenarios.migration.scenario_store import DeploymentRecord, ScenarioStore
from services.scenarios.operators.dry_run import DryRunPage, Score, ScoreBook
from services.scenarios.operators.journal import ActLog
from services.scenarios.operators.plan_reader import PlanReader, ScenarioCard, ScenarioOverview
from services.scenarios.operators.plan_view import GraphView, PlanView, view_of_graph
from services.scenarios.operators.session_service import SessionService
from services.scenarios.session.preview import Played, played
from services.telemetry.metrics import Figures

Policies = Mapping[str, AnchorMigrationPolicy]


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
    plans: PlanReader
    scores: ScoreBook
    wake: Callable[[str], None]
    figures: Figures
    seconds: Callable[[], float]
    require_approval: bool

    async def scenarios(self) -> list[ScenarioCard]:
        """Return every stored scenario."""
        stored = await self.store.versions()
        card = self.plans.card
        return [await card(name, versions) for name, versions in sorted(stored.items())]

    async def overview(self, scenario_id: str) -> ScenarioOverview:
        """Return where a scenario stands.

        Raises:
            ScenarioNotFoundError: there is none of that id.
        """
        return await self.plans.overview(scenario_id, await self._versions(scenario_id))

    async def graph(self, scenario_id: str, version: int) -> GraphView:
        """Return one version, to be drawn."""
        graph = await self.store.require_graph(scenario_id, version)
        return view_of_graph(graph, await self.index.tally(scenario_id))

    async def check(self, source: str) -> GraphView:
        """Return the version that `source` defines, to be drawn; nothing is stored.

        Raises:
            ScenarioDefinitionError: with everything that is wrong.
        """
        return view_of_graph(await _read(source), ())

    async def publish(self, source: str, *, operator: str) -> Graph:
        """Make a scenario's first version active.

        Raises:
            ScenarioDefinitionError: with everything that is wrong.
            ScenarioPlanError: the scenario has an active version already.
        """
        graph = await _read(source)
        async with self.log.act(graph.scenario.id, operator, "publish", f"version {graph.version}"):
            await self.deployer.publish_first(graph)
        return graph

    async def propose(
        self,
        source: str,
        *,
        operator: str,
        policies: Policies | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> PlanView:
        """Store a new version and the plan that leads to it.

        Raises:
            ScenarioDefinitionError: with everything that is wrong.
            ScenarioPlanError: nothing is active, it is not newer, or a deployment runs.
        """
        graph = await _read(source)
        return await self._propose(
            graph, operator=operator, action="propose", policies=policies, mapping=mapping
        )

    async def set_policies(
        self, scenario_id: str, policies: Policies, *, operator: str
    ) -> PlanView:
        """Plan again with other policies; an approval is lost, for it was for the old ones."""
        plan = await self._plan(scenario_id)
        graph = await self.store.require_graph(scenario_id, plan.to_version)
        return await self._propose(
            graph,
            operator=operator,
            action="set_policies",
            policies=policies,
            mapping=plan.operator_mapping,
        )

    async def set_mapping(
        self, scenario_id: str, mapping: Mapping[str, str], *, operator: str
    ) -> PlanView:
        """Plan again with steps paired by hand; an approval is lost, for it was for other pairs.

        Args:
            mapping: New step ids by old ones; "" undoes a pair of before.

        Raises:
            ScenarioPlanError: there is no plan, or it names steps that there are not.
        """
        plan = await self._plan(scenario_id)
        graph = await self.store.require_graph(scenario_id, plan.to_version)
        pairs = {old: new for old, new in {**plan.operator_mapping, **mapping}.items() if new}
        return await self._propose(
            graph,
            operator=operator,
            action="set_mapping",
            policies=plan.anchor_policies,
            mapping=pairs,
        )

    async def withdraw(self, scenario_id: str, *, reason: str, operator: str) -> ScenarioOverview:
        """Offer a scenario no more: its sessions are told at their next turn and keep their data.

        A version that is deployed later brings it back.

        Raises:
            ScenarioPlanError: nothing is active, or a deployment runs.
        """
        async with self.log.act(scenario_id, operator, "withdraw", reason):
            await self.deployer.withdraw(scenario_id, reason=reason)
        return await self.overview(scenario_id)

    async def offer_again(self, scenario_id: str, *, operator: str) -> ScenarioOverview:
        """Offer a withdrawn scenario again; sessions that were ended stay so."""
        async with self.log.act(scenario_id, operator, "offer_again"):
            await self.deployer.withdraw(scenario_id, reason="")
        return await self.overview(scenario_id)

    async def rollback(self, scenario_id: str, *, to: int, operator: str) -> PlanView:
        """Propose an earlier version's content under a new number."""
        former = await self.store.require_graph(scenario_id, to)
        number = (await self._versions(scenario_id))[-1] + 1
        again = Graph(scenario=former.scenario.with_version(number))
        return await self._propose(again, operator=operator, action="rollback")

    async def plan(self, scenario_id: str) -> PlanView:
        """Return the plan from the active version.

        Raises:
            ScenarioPlanError: there is none.
        """
        return await self.plans.read(await self._plan(scenario_id))

    async def dry_run(
        self, scenario_id: str, *, after: str, limit: int, operator: str
    ) -> DryRunPage:
        """Tell what the plan would do to a page of the stored sessions, which is on record."""
        plan = await self._plan(scenario_id)
        await self.log.record(operator, "dry_run", about=scenario_id)
        page = await self.sessions.dry_run.page(plan, after=after, limit=limit)
        await self.scores.foretell(scenario_id, plan.to_version, page.rows, anew=not after)
        return page

    async def score(self, scenario_id: str) -> Score | None:
        """Return how the last dry run of a deployed version came true; None if there was none."""
        held = await self.store.active(scenario_id)
        return await self.scores.score(scenario_id, held.value.versions if held else ())

    async def preview(self, source: str, answers: Sequence[str]) -> Played:
        """Play the version that `source` defines with made-up answers.

        Raises:
            ScenarioDefinitionError: it cannot be played; faults are no reason.
        """
        return await asyncio.to_thread(lambda: played(read_definition(source), answers))

    async def approve(self, scenario_id: str, *, operator: str) -> MigrationPlan:
        """Approve the pending plan.

        Raises:
            ScenarioPlanError: it is not pending, or a second person is needed.
        """
        async with self.log.act(scenario_id, operator, "approve", await self._jump(scenario_id)):
            plan = await self.deployer.approve(scenario_id, operator=operator)
        self.figures.count("migration_plans_approved_total")
        return plan

    async def cancel(self, scenario_id: str, *, operator: str) -> MigrationPlan:
        """Cancel a plan that is not deployed."""
        async with self.log.act(scenario_id, operator, "cancel", await self._jump(scenario_id)):
            return await self.deployer.cancel(scenario_id)

    async def deploy(
        self, scenario_id: str, *, operator: str, share_percent: int = 100
    ) -> DeploymentRecord:
        """Begin to deploy the approved plan.

        Raises:
            ScenarioPlanError: no approved plan fits, or a deployment is under way.
            ScenarioConflictError: somebody else began at the same moment.
        """
        note = f"{await self._jump(scenario_id)}, share {share_percent} %"
        async with self.log.act(scenario_id, operator, "deploy", note):
            await self.deployer.start(scenario_id, operator=operator, share_percent=share_percent)
        return await self._woken(scenario_id)

    async def pause(self, scenario_id: str, *, operator: str) -> DeploymentRecord:
        """Stop the deployment after the page it is at."""
        async with self.log.act(scenario_id, operator, "pause"):
            return await self.deployer.pause(scenario_id)

    async def resume(self, scenario_id: str, *, operator: str) -> DeploymentRecord:
        """Let a paused deployment go on."""
        async with self.log.act(scenario_id, operator, "resume"):
            await self.deployer.pause(scenario_id, paused=False)
        return await self._woken(scenario_id)

    async def set_share(
        self, scenario_id: str, *, share_percent: int, operator: str
    ) -> DeploymentRecord:
        """Change how many sessions a canary reaches; 100 ends the deployment."""
        async with self.log.act(scenario_id, operator, "set_share", f"share {share_percent} %"):
            await self.deployer.set_share(scenario_id, share_percent=share_percent)
        return await self._woken(scenario_id)

    async def _propose(
        self,
        graph: Graph,
        *,
        operator: str,
        action: str,
        policies: Policies | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> PlanView:
        start = self.seconds()
        async with self.log.act(graph.scenario.id, operator, action, f"version {graph.version}"):
            plan = await self.deployer.propose(
                graph, operator=operator, policies=policies, mapping=mapping
            )
        self.figures.count("migration_plans_generated_total")
        took = (self.seconds() - start) * 1e3
        self.figures.observe("migration_plan_generation_duration_ms", took)
        return await self.plans.read(plan)

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

    async def _versions(self, scenario_id: str) -> list[int]:
        if not (found := (await self.store.versions(scenario_id)).get(scenario_id)):
            raise ScenarioNotFoundError("there is no such scenario")
        return found


async def _read(source: str) -> Graph:
    # A long text takes seconds, and conversations go on meanwhile.
    return await asyncio.to_thread(read_publishable, source)
