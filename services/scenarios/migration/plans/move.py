"""Everything about a jump between two versions that does not depend on one session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from data_models.scenarios.scenario_session import CompletedCheckpoint, ExecutedAction
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.anchors import match_anchors
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy, MigrationPlan

Images = Mapping[str, str]


@dataclass(frozen=True)
class Move:
    """The way from one version to another.

    Attributes:
        image: New step ids by old ones, the whole chain of versions considered (M14).
        images_of: The same from any version, for what was done in earlier ones.
        policies: By old step id; `default_policy` for all others.
        plan_ids: The plans of the chain, oldest first.
    """

    old: Graph
    new: Graph
    image: Images
    images_of: Callable[[int], Images]
    policies: Mapping[str, AnchorMigrationPolicy] = field(default_factory=dict)
    default_policy: AnchorMigrationPolicy = field(default_factory=AnchorMigrationPolicy)
    plan_ids: tuple[str, ...] = ()

    def image_of(self, done: CompletedCheckpoint | ExecutedAction) -> str | None:
        """Where the step of what is done is now; None if it has no step any more."""
        return self.images_of(done.version).get(done.step_id)

    def leads_as_before(self, step: str) -> bool:
        """Whether the new `step` has the old one's conditions, order and targets (M5)."""
        if (former := self.preimage.get(step)) is None:
            return False
        before = [(self.image.get(b.target), b.text) for b in self.old.branches(former)]
        return before == [(branch.target, branch.text) for branch in self.new.branches(step)]

    @cached_property
    def preimage(self) -> Images:
        """Old step ids by new ones."""
        return {right: left for left, right in self.image.items()}


# Joins the versions between a session's and the active one to a single jump (M14).

STAR = "*"
_NONE: Images = {}


class _Way(NamedTuple):
    """Where one step leads through the chain, and whether an operator paired it on the way."""

    end: str | None
    is_chosen: bool


class VersionChain:
    """The deployed versions of one scenario up to the active one, oldest first.

    Args:
        plans: By the version they lead from; a missing one is made up for by comparing versions.
        policies: Of the last deployment, by the step ids it led from.
    """

    def __init__(
        self,
        *,
        graphs: Sequence[Graph],
        plans: Mapping[int, MigrationPlan],
        policies: Mapping[str, AnchorMigrationPolicy] | None = None,
    ) -> None:
        self._policies = policies or {}
        self._graphs = {graph.version: graph for graph in graphs}
        self._order = [graph.version for graph in graphs]
        self._plans = plans
        self._known: dict[int, Images] = {}

    @property
    def active(self) -> Graph:
        """The version that new sessions start in."""
        return self._graphs[self._order[-1]]

    def has(self, version: int) -> bool:
        """Whether the version is still stored."""
        return version in self._graphs

    def images_from(self, version: int) -> Images:
        """Return active step ids by those of `version`: matched directly, then by the chain."""
        if version not in self._known:
            self._known[version] = self._joined(version) if self.has(version) else {}
        return self._known[version]

    def move_from(self, version: int) -> Move:
        """Return the jump from `version` to the active one."""
        last = self._order[-2] if len(self._order) > 1 else version
        policies = self._policies
        return Move(
            old=self._graphs[version],
            new=self.active,
            image=self.images_from(version),
            images_of=self.images_from,
            policies=self._carried(policies, version, last),
            default_policy=policies.get(STAR, AnchorMigrationPolicy()),
            plan_ids=tuple(
                self._plans[one].id
                for one in self._order[self._order.index(version) : -1]
                if one in self._plans
            ),
        )

    def _carried(
        self, policies: Mapping[str, AnchorMigrationPolicy], version: int, last: int
    ) -> dict[str, AnchorMigrationPolicy]:
        """The newest plan's policies by the session's own step ids."""
        if version == last:
            return {step: policy for step, policy in policies.items() if step != STAR}
        between = self._direct(version, last)
        return {
            step: policies[between[step]]
            for step in self._graphs[version].steps
            if between.get(step) in policies
        }

    def _joined(self, version: int) -> Images:
        ways = {step: self._followed(version, step) for step in self._graphs[version].steps}
        chosen = {step: way.end for step, way in ways.items() if way.is_chosen and way.end}
        image = dict(self._direct(version, self._order[-1], chosen))
        taken = set(image.values())
        for step, way in ways.items():
            if step not in image and way.end is not None and way.end not in taken:
                image[step] = way.end
                taken.add(way.end)
        return image

    def _followed(self, version: int, step: str) -> _Way:
        """Follow one step from version to version."""
        here: str | None = step
        is_chosen = False
        places = self._order[self._order.index(version) :]
        for start, end in pairwise(places):
            plan = self._plans.get(start)
            is_chosen = is_chosen or (plan is not None and here in plan.operator_mapping)
            here = self._direct(start, end).get(here or "")
        return _Way(here, is_chosen)

    def _direct(self, start: int, end: int, chosen: Images = _NONE) -> Images:
        if start == end:
            return {step: step for step in self._graphs[start].steps}
        plan = self._plans.get(start)
        if plan is not None and plan.to_version == end:
            return plan.transformation_map.image
        return _matched(self._graphs[start], self._graphs[end], tuple(chosen.items()))


@lru_cache(maxsize=256)
def _matched(old: Graph, new: Graph, chosen: tuple[tuple[str, str], ...]) -> Images:
    return match_anchors(old, new, dict(chosen)).image
