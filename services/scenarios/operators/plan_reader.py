"""Reads where scenarios and their plans stand, and counts the sessions that they are for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data_models.errors import ScenarioNotFoundError
from data_models.values import Value
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.migration_plan import MigrationPlan
from services.scenarios.migration.ports import SessionIndex, Tally
from services.scenarios.migration.scenario_store import (
    ActivePointer,
    DeploymentRecord,
    ScenarioStore,
)
from services.scenarios.migration.version_chain import VersionChain
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
    counts: tuple[VersionCounts, ...]


def counted(tallies: Sequence[Tally]) -> tuple[VersionCounts, ...]:
    """Sum the index's tallies by version."""
    found: dict[int, dict[str, int]] = {}
    for tally in tallies:
        sums = found.setdefault(tally.version, {})
        marked = tally.number if tally.mark > tally.version else 0
        flagged = tally.number if tally.review else 0
        pinned = tally.number if tally.pinned else 0
        more = {"sessions": tally.number, "marked": marked, "flagged": flagged, "pinned": pinned}
        for name, number in more.items():
            sums[name] = sums.get(name, 0) + number
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
        old = await self.graph(plan.scenario_id, plan.from_version)
        new = await self.graph(plan.scenario_id, plan.to_version)
        tallies = await self.index.tally(plan.scenario_id)
        older = await self._older(plan, {tally.version for tally in tallies})
        return view_of_plan(plan, old, new, tallies, older=older)

    async def overview(self, scenario_id: str, versions: list[int]) -> ScenarioOverview:
        """Return where a scenario stands.

        Args:
            versions: Its stored ones, at least one.
        """
        found = await self._standing(scenario_id, versions)
        pointer = found.pointer
        return ScenarioOverview(
            scenario_id=scenario_id,
            name=found.name,
            versions=tuple(versions),
            deployed=pointer.versions if pointer else (),
            active=pointer.version if pointer else None,
            share_percent=pointer.share_percent if pointer else 100,
            withdrawn=pointer.withdrawn if pointer else "",
            plan=found.plan,
            deployment=found.deployment,
            counts=counted(await self.index.tally(scenario_id)),
        )

    async def card(self, scenario_id: str, versions: list[int]) -> ScenarioCard:
        """Return a scenario's row of the list."""
        found = await self._standing(scenario_id, versions)
        return ScenarioCard(
            scenario_id=scenario_id,
            name=found.name,
            versions=tuple(versions),
            active=found.pointer.version if found.pointer else None,
            plan_status=found.plan.status if found.plan else None,
            deployment_state=found.deployment.state if found.deployment else None,
        )

    async def graph(self, scenario_id: str, version: int) -> Graph:
        """Return a stored version.

        Raises:
            ScenarioNotFoundError: it is not stored.
        """
        graph = await self.store.graph(scenario_id, version)
        if graph is None:
            raise ScenarioNotFoundError(f"version {version} is not stored")
        return graph

    async def _standing(self, scenario_id: str, versions: list[int]) -> "_Standing":
        held = await self.store.active(scenario_id)
        pointer = held.value if held else None
        graph = await self.graph(scenario_id, pointer.version if pointer else versions[-1])
        plan = await self.store.plan(scenario_id, graph.version)
        deployment = await self.store.deployment(scenario_id)
        return _Standing(
            pointer=pointer,
            name=graph.scenario.title,
            plan=plan.value if plan else None,
            deployment=deployment.value if deployment else None,
        )

    async def _older(self, plan: MigrationPlan, versions: set[int]) -> dict[int, Mapping[str, str]]:
        """Return where the steps of still older versions are in the plan's old one."""
        held = await self.store.active(plan.scenario_id)
        known = [v for v in held.value.versions if v <= plan.from_version] if held else []
        graphs = [await self.store.graph(plan.scenario_id, v) for v in known]
        plans = [await self.store.plan(plan.scenario_id, v) for v in known]
        links = [one.value for one in plans if one is not None and one.value.to_version in known]
        chain = VersionChain(
            graphs=[graph for graph in graphs if graph is not None],
            plans={link.from_version: link for link in links},
        )
        return {v: chain.images_from(v) for v in versions & set(known) - {plan.from_version}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    pointer: ActivePointer | None
    name: str
    plan: MigrationPlan | None
    deployment: DeploymentRecord | None
