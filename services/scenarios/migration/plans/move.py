"""Everything about a jump between two versions that does not depend on one session."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from data_models.scenarios.scenario_session import CompletedCheckpoint, ExecutedAction
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy, MigrationPlan

_AnchorReason: TypeAlias = Literal["mapped", "same", "unique", "neighbours", "modified"]


# Which step of a new version is which step of the old one (M2).


@dataclass(frozen=True, slots=True)
class AnchorMap:
    """A one-to-one partial map from old step ids to new ones.

    Attributes:
        reasons: Why each old step is an anchor.
        ambiguous: Old steps that have twins in the new version which nothing tells apart.
    """

    image: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, _AnchorReason] = field(default_factory=dict)
    ambiguous: tuple[str, ...] = ()


def match_anchors(old: Graph, new: Graph, mapping: Mapping[str, str] | None = None) -> AnchorMap:
    """Return the anchors, surest first: by the operator, hash, neighbours, then id or name."""
    matching = _Matching(old=old, new=new)
    for left, right in (mapping or {}).items():
        matching.pair(left, right, "mapped")
    for step in old.steps:
        if old.hashes[step] == new.hashes.get(step):
            matching.pair(step, step, "same")
    rights = _grouped(matching.right, new.hashes.__getitem__)
    for key, lefts in _grouped(matching.left, old.hashes.__getitem__).items():
        if len(lefts) == len(rights.get(key, [])) == 1:
            matching.pair(lefts[0], rights[key][0], "unique")
    while matching.pair_by_neighbours():
        pass
    hashes = {matching.new.hashes[step] for step in matching.right}
    ambiguous = tuple(step for step in matching.left if matching.old.hashes[step] in hashes)
    matching.pair_modified()
    unpaired = tuple(step for step in ambiguous if step in matching.left)
    return AnchorMap(matching.image, matching.reasons, unpaired)


class _Matching:
    """Anchors found so far and what is left on either side, in order of definition."""

    def __init__(self, *, old: Graph, new: Graph) -> None:
        self.old, self.new = old, new
        self.left = dict.fromkeys(old.steps)
        self.right = dict.fromkeys(new.steps)
        self.image: dict[str, str] = {}
        self.reasons: dict[str, _AnchorReason] = {}

    def pair(self, left: str, right: str, reason: _AnchorReason) -> None:
        if left in self.left and right in self.right:
            del self.left[left], self.right[right]
            self.image[left], self.reasons[left] = right, reason

    def pair_by_neighbours(self) -> bool:
        """Pair twins that are each other's only best fit by matched neighbours; False at rest."""
        scores = self._scores()
        best_right = _only_best((left, right, n) for (left, right), n in scores.items())
        best_left = _only_best((right, left, n) for (left, right), n in scores.items())
        found = [(a, b) for a, b in best_right.items() if best_left.get(b) == a]
        for left, right in found:
            self.pair(left, right, "neighbours")
        return bool(found)

    def pair_modified(self) -> None:
        """Pair what was edited: by id, then by a name that only one on either side is left of."""
        for step in list(self.left):
            self._pair_alike(step, step)
        names = _grouped(self.right, lambda step: self.new.steps[step].title)
        for name, lefts in _grouped(self.left, lambda step: self.old.steps[step].title).items():
            rights = names.get(name, [])
            if len(lefts) == len(rights) == 1:
                self._pair_alike(lefts[0], rights[0])

    def _pair_alike(self, left: str, right: str) -> None:
        if left not in self.left or right not in self.right:
            return
        before, after = self.old.steps[left], self.new.steps[right]
        if (before.kind, before.is_checkpoint) == (after.kind, after.is_checkpoint):
            self.pair(left, right, "modified")

    def _scores(self) -> Counter[tuple[str, str]]:
        """How many matched neighbours each pair of twins shares."""
        scores: Counter[tuple[str, str]] = Counter()
        ways = (
            (self.old.predecessors, self.new.successors),
            (self.old.successors, self.new.predecessors),
        )
        for left in self.left:
            for old_way, new_way in ways:
                for neighbour in old_way[left]:
                    known = self.image.get(neighbour)
                    for right in new_way[known] if known else ():
                        if right in self.right and self.old.hashes[left] == self.new.hashes[right]:
                            scores[left, right] += 1
        return scores


def _only_best(scores: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Return for each first the second with the highest score, unless two share it."""
    best: dict[str, tuple[int, str | None]] = {}
    for first, second, score in scores:
        top, _ = best.get(first, (0, None))
        if score >= top:
            best[first] = (score, None if score == top else second)
    return {first: second for first, (_, second) in best.items() if second is not None}


def _grouped(steps: Iterable[str], key: Callable[[str], Hashable]) -> dict[Hashable, list[str]]:
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for step in steps:
        groups[key(step)].append(step)
    return groups


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
