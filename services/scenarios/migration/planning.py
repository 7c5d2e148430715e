"""Makes the plan for a new version: what changed, and what that will mean for sessions (M3)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from data_models.errors import ScenarioPlanError
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.anchors import AnchorMap, match_anchors
from services.scenarios.migration.migration_plan import (
    AnchorMigrationPolicy,
    AnchorTransformation,
    Changes,
    DeletedNode,
    ForkBranch,
    InsertedNode,
    MigrationPlan,
    NewFork,
    TransformationMap,
    TransitionChange,
)
from services.scenarios.migration.move import Move, is_fork
from services.scenarios.migration.plan_summary import summarise
from services.scenarios.migration.session_scope import check_scope
from services.scenarios.migration.upstream import Upstream


@dataclass(frozen=True)
class Difference:
    """Two versions side by side."""

    old: Graph
    new: Graph
    anchors: AnchorMap

    @cached_property
    def move(self) -> Move:
        """The jump, without any session."""
        image = self.anchors.image
        return Move(old=self.old, new=self.new, image=image, images_of=lambda _version: {})

    @cached_property
    def inserted(self) -> dict[str, InsertedNode]:
        """The steps that only the new version has."""
        known = set(self.anchors.image.values())
        return {step: _inserted(self.new, step) for step in self.new.steps if step not in known}

    @cached_property
    def forks(self) -> dict[str, NewFork]:
        """The forks of the new version that the old one has not, or has otherwise."""
        return {
            step: _fork(self.new, step)
            for step in self.new.steps
            if is_fork(self.new.branches(step)) and not self.move.is_unchanged_fork(step)
        }


def make_plan(
    old: Graph,
    new: Graph,
    *,
    plan_id: str,
    now: datetime,
    policies: Mapping[str, AnchorMigrationPolicy] | None = None,
    mapping: Mapping[str, str] | None = None,
    created_by: str | None = None,
) -> MigrationPlan:
    """Return the plan from `old` to `new`; every old step is an anchor or deleted in it.

    Raises:
        ScenarioPlanError: a policy or the mapping names a step that does not exist.
        ScenarioConditionError: a scope filter's condition is wrong.
    """
    policies, mapping = dict(policies or {}), dict(mapping or {})
    _check(old, new, policies, mapping)
    difference = Difference(old, new, match_anchors(old, new, mapping))
    transformation = _transformation(difference)
    return MigrationPlan(
        id=plan_id,
        scenario_id=new.scenario.id,
        from_version=old.version,
        to_version=new.version,
        scenario_checksum_v1=old.checksum,
        scenario_checksum_v2=new.checksum,
        transformation_map=transformation,
        anchor_policies={
            step: _named(policy, old, step) for step, policy in sorted(policies.items())
        },
        operator_mapping=mapping,
        summary=summarise(
            difference.move,
            Upstream(graph=new),
            transformation,
            forks=difference.forks,
            inserted=difference.inserted,
            ambiguous=difference.anchors.ambiguous,
        ),
        created_at=now,
        created_by=created_by,
    )


def _check(
    old: Graph,
    new: Graph,
    policies: Mapping[str, AnchorMigrationPolicy],
    mapping: Mapping[str, str],
) -> None:
    unknown = [step for step in (*policies, *mapping) if step not in old.steps and step != "*"]
    unknown += [step for step in mapping.values() if step not in new.steps]
    if unknown or len(set(mapping.values())) < len(mapping):
        raise ScenarioPlanError(f"the plan names steps wrongly: {', '.join(sorted(unknown))}")
    for policy in policies.values():
        check_scope(policy.scope_filter)


def _named(policy: AnchorMigrationPolicy, old: Graph, step: str) -> AnchorMigrationPolicy:
    if step not in old.steps:
        return policy
    return policy.model_copy(
        update={"anchor_content_hash": old.hashes[step], "anchor_name": old.steps[step].title}
    )


def _transformation(difference: Difference) -> TransformationMap:
    old, anchors = difference.old, difference.anchors
    return TransformationMap(
        anchors=tuple(
            AnchorTransformation(
                anchor_node_id_v1=left,
                anchor_node_id_v2=anchors.image[left],
                anchor_content_hash=old.hashes[left],
                anchor_name=old.steps[left].title,
                reason=anchors.reasons[left],
                upstream_changes=_around(difference, left, upstream=True),
                downstream_changes=_around(difference, left, upstream=False),
            )
            for left in old.steps
            if left in anchors.image
        ),
        deleted_nodes=tuple(
            _deleted(difference, step) for step in old.steps if step not in anchors.image
        ),
        new_nodes=tuple(difference.inserted),
    )


def _around(difference: Difference, left: str, *, upstream: bool) -> Changes:
    """The changes between an anchor and the nearest anchors on one side of it."""
    old, new, image = difference.old, difference.new, difference.anchors.image
    old_ways = old.predecessors if upstream else old.successors
    new_ways = new.predecessors if upstream else new.successors
    gone = _until_anchor(left, old_ways, set(image))
    fresh = _until_anchor(image[left], new_ways, set(image.values()))
    before = tuple(image.get(step, step) for step in old_ways[left])
    after = new_ways[image[left]]
    return Changes(
        inserted_nodes=tuple(difference.inserted[step] for step in fresh),
        removed_nodes=tuple(gone),
        new_forks=tuple(
            difference.forks[step]
            for step in dict.fromkeys((*fresh, *after))
            if step in difference.forks
        ),
        modified_transitions=()
        if before == after
        else (TransitionChange(step_id=image[left], before=before, after=after),),
    )


def _until_anchor(start: str, ways: Mapping[str, tuple[str, ...]], anchors: set[str]) -> list[str]:
    found: dict[str, None] = {}
    waiting = [start]
    while waiting:
        for step in ways[waiting.pop()]:
            if step not in anchors and step not in found:
                found[step] = None
                waiting.append(step)
    return list(found)


def _deleted(difference: Difference, step: str) -> DeletedNode:
    """Where sessions go that have nothing behind them; M3 looks at each one's own path first."""
    image = difference.anchors.image
    nearest = next((one for one in _breadth_first(difference.old, step) if one in image), None)
    return DeletedNode(
        node_id_v1=step,
        node_name=difference.old.steps[step].title,
        nearest_anchor_hash=None if nearest is None else difference.old.hashes[nearest],
        nearest_anchor_id_v2=None if nearest is None else image[nearest],
    )


def _breadth_first(graph: Graph, start: str) -> Iterator[str]:
    seen, level = {start}, [start]
    while level:
        following: Iterable[str] = (one for step in level for one in graph.successors[step])
        level = [step for step in dict.fromkeys(following) if step not in seen]
        seen.update(level)
        yield from level


def _inserted(graph: Graph, step: str) -> InsertedNode:
    definition = graph.steps[step]
    return InsertedNode(
        node_id=step,
        node_name=definition.title,
        collects_fields=definition.collects_profile_fields,
        has_rules=bool(definition.rules),
        is_required_action=definition.is_required_action,
    )


def _fork(graph: Graph, step: str) -> NewFork:
    return NewFork(
        fork_node_id=step,
        fork_node_name=graph.steps[step].title,
        branches=tuple(
            ForkBranch(
                target_step_id=branch.target,
                target_step_name=graph.steps[branch.target].title,
                condition_text=branch.text,
                condition_fields=branch.condition.fields if branch.condition else (),
            )
            for branch in graph.branches(step)
        ),
    )
