"""Makes the plan for a new version: what changed, and what that will mean for sessions."""

from collections.abc import Mapping
from datetime import datetime

from data_models.errors import ScenarioPlanError
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.anchors import match_anchors
from services.scenarios.migration.difference import Difference
from services.scenarios.migration.migration_plan import (
    AnchorMigrationPolicy,
    AnchorTransformation,
    DeletedNode,
    MigrationPlan,
    TransformationMap,
)
from services.scenarios.migration.plan_summary import summarise
from services.scenarios.migration.session_scope import check_scope


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
    return MigrationPlan(
        id=plan_id,
        scenario_id=new.scenario.id,
        from_version=old.version,
        to_version=new.version,
        scenario_checksum_v1=old.checksum,
        scenario_checksum_v2=new.checksum,
        transformation_map=_transformation(difference),
        anchor_policies={
            step: _named(policy, old, step) for step, policy in sorted(policies.items())
        },
        operator_mapping=mapping,
        summary=summarise(difference),
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
            )
            for left in old.steps
            if left in anchors.image
        ),
        deleted_nodes=tuple(
            DeletedNode(node_id_v1=step, node_name=old.steps[step].title)
            for step in old.steps
            if step not in anchors.image
        ),
        new_nodes=difference.inserted,
    )
