"""Reads where scenarios and their plans stand, and counts the sessions that they are for."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data_models.values import Value
from services.scenarios.migration.plans.migration_plan import MigrationPlan
from services.scenarios.migration.ports import SessionIndex, Tally
from services.scenarios.migration.scenario_store import DeploymentRecord, ScenarioStore
from services.scenarios.operators.plan_view import PlanView, view_of_plan

# What operators are shown of scenarios.


class VersionCounts(Value):
    """The sessions of one version as the index knows them."""

    version: int
    sessions: int = 0
    marked: int = 0
    pinned: int = 0
    flagged: int = 0


class ScenarioCard(Value):
    """One row of the list.

    Attributes:
        versions: Stored ones, deployed or not.
    """

    scenario_id: str
    name: str
    versions: tuple[int, ...]
    active: int | None
    plan_status: str | None
    deployment_state: str | None


class ScenarioOverview(Value):
    """Where one scenario stands."""

    scenario_id: str
    name: str
    versions: tuple[int, ...]
    deployed: tuple[int, ...]
    active: int | None
    share_percent: int
    withdrawn: str
    plan: MigrationPlan | None
    deployment: DeploymentRecord | None
    counts: tuple[VersionCounts, ...] = ()


def counted(tallies: Sequence[Tally]) -> tuple[VersionCounts, ...]:
    """Sum the index's tallies by version."""
    found = defaultdict[int, Counter[str]](Counter)
    for tally in tallies:
        kinds = {"marked": tally.mark > tally.version, "flagged": tally.review}
        kinds |= {"sessions": True, "pinned": tally.pinned}
        found[tally.version] += Counter({name: tally.number for name in kinds if kinds[name]})
    return tuple(VersionCounts(version=version, **found[version]) for version in sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReader:
    """Works on what is stored now."""

    store: ScenarioStore
    index: SessionIndex

    async def read(self, plan: MigrationPlan) -> PlanView:
        """Return the plan as operators see it.

        Raises:
            ScenarioNotFoundError: one of its versions is not stored.
        """
        old = await self.store.require_graph(plan.scenario_id, plan.from_version)
        new = await self.store.require_graph(plan.scenario_id, plan.to_version)
        tallies = await self.index.tally(plan.scenario_id)
        older = await self._older(plan, {tally.version for tally in tallies})
        return view_of_plan(plan, old, new, tallies, older=older)

    async def overview(self, scenario_id: str, versions: list[int]) -> ScenarioOverview:
        """Return where a scenario stands.

        Args:
            versions: Its stored ones, at least one.
        """
        standing = await self._standing(scenario_id, versions)
        counts = counted(await self.index.tally(scenario_id))
        return standing.model_copy(update={"counts": counts})

    async def card(self, scenario_id: str, versions: list[int]) -> ScenarioCard:
        """Return a scenario's row of the list."""
        found = await self._standing(scenario_id, versions)
        return ScenarioCard(
            scenario_id=scenario_id,
            name=found.name,
            versions=found.versions,
            active=found.active,
            plan_status=found.plan.status if found.plan else None,
            deployment_state=found.deployment.state if found.deployment else None,
        )

    async def _standing(self, scenario_id: str, versions: list[int]) -> ScenarioOverview:
        held = await self.store.active(scenario_id)
        pointer = held.value if held else None
        version = pointer.version if pointer else versions[-1]
        graph = await self.store.require_graph(scenario_id, version)
        plan = await self.store.plan(scenario_id, version)
        deployment = await self.store.deployment(scenario_id)
        return ScenarioOverview(
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

    async def _older(self, plan: MigrationPlan, versions: set[int]) -> dict[int, Mapping[str, str]]:
        """Return where the steps of still older versions are in the plan's old one."""
        pointer = (await self.store.require_active(plan.scenario_id)).value
        known = [version for version in pointer.versions if version <= plan.from_version]
        chain = await self.store.chain(plan.scenario_id, known)
        return {v: chain.images_from(v) for v in versions & set(known) - {plan.from_version}}
