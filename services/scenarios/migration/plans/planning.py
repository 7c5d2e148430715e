"""Makes the plan for a new version: what changed, and what that will mean for sessions."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import reduce
from itertools import islice
from operator import or_

from data_models.errors import ScenarioPlanError
from services.scenarios.definition.faults import skipped_checkpoints
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans import migration_plan
from services.scenarios.migration.plans.difference import Bits, Difference
from services.scenarios.migration.plans.migration_plan import (
    AnchorMigrationPolicy,
    MigrationPlan,
    MigrationWarning,
    Severity,
)
from services.scenarios.migration.plans.move import match_anchors

WARNINGS_LIMIT = 200


def summarise(difference: Difference) -> migration_plan.MigrationSummary:
    """Return the summary for sessions that came the longest possible way; a dry run is exact."""
    upstream, image = difference.upstream, difference.anchors.image
    re_route = reduce(or_, (one.anchors for one in difference.away), 0)
    gap_fill = difference.images & upstream.after_any(difference.inserted) & ~re_route
    moved = dict.fromkeys(upstream.steps(re_route), "re_route")
    moved |= dict.fromkeys(upstream.steps(gap_fill), "gap_fill")
    return migration_plan.MigrationSummary(
        scenario_by_anchor={left: moved.get(right, "clean_graft") for left, right in image.items()},
        total_anchors=len(image),
        anchors_with_clean_graft=len(image) - len(moved),
        anchors_with_gap_fill=gap_fill.bit_count(),
        anchors_with_re_route=re_route.bit_count(),
        nodes_deleted=len(difference.old.steps) - len(image),
        warnings=(
            *islice(_checkpoint_warnings(difference), WARNINGS_LIMIT),
            *_ambiguous_warnings(difference),
            *_deletion_warnings(difference),
            *_skipped_warnings(difference),
        ),
        fields_to_collect=tuple(_fields(difference)),
    )


def _checkpoint_warnings(difference: Difference) -> Iterator[MigrationWarning]:
    upstream, steps = difference.upstream, difference.new.steps
    checkpoints = [step for step in steps.values() if step.is_checkpoint]
    for away in difference.away:
        target = steps[away.branch.target]
        for checkpoint in checkpoints:
            behind = upstream.after(checkpoint.id)
            if upstream.bits([target.id]) & behind:
                continue
            passed = upstream.bits([checkpoint.id]) | behind
            for name in (steps[one].title for one in upstream.steps(away.anchors & passed)):
                text = (
                    f"Sessions at {name!r} for which {away.branch.text!r} holds should go to "
                    f"{target.title!r}, but once checkpoint {checkpoint.title!r} is completed it "
                    "prevents this. They continue with a warning."
                )
                yield _warning("redirect_blocked", name, text, severity="warning")


def _ambiguous_warnings(difference: Difference) -> Iterator[MigrationWarning]:
    for name in (difference.old.steps[step].title for step in difference.anchors.ambiguous):
        text = f"Several steps of the new version are like {name!r}. Map it by hand."
        yield _warning("ambiguous_anchor", name, text, severity="warning")


def _deletion_warnings(difference: Difference) -> Iterator[MigrationWarning]:
    for step in difference.old.steps.values():
        if step.is_checkpoint and step.id not in difference.anchors.image:
            gone = f"The checkpoint {step.title!r} is gone."
            text = f"{gone} Sessions that completed it are never redirected."
            yield _warning("checkpoint_deleted", step.title, text, severity="critical")


def _skipped_warnings(difference: Difference) -> Iterator[MigrationWarning]:
    for fault in skipped_checkpoints(difference.new, difference.anchors.image):
        name = difference.new.steps[fault.step].title
        text = f"{fault.text[:1].upper()}{fault.text[1:]}."
        yield _warning("checkpoint_skipped", name, text, severity="critical")


def _warning(code: str, name: str, text: str, *, severity: Severity) -> MigrationWarning:
    return MigrationWarning(severity=severity, code=code, anchor_name=name, message=text)


def _fields(difference: Difference) -> Iterator[migration_plan.FieldCollectionInfo]:
    """The fields that new steps collect for later ones, or that changed forks decide by."""
    new, upstream = difference.new, difference.upstream
    wanted: dict[str, Bits] = {}
    reasons: dict[str, list[str]] = {}
    for step in difference.inserted:
        for name in new.steps[step].collects_profile_fields:
            wanted[name] = wanted.get(name, 0) | upstream.after(step)
            reasons.setdefault(name, []).append(f"collected by {new.steps[step].title}")
    for name in wanted:
        readers = (step for step in new.steps if name in new.fields_read_at(step))
        wanted[name] &= upstream.reaching(readers)
    for fork in difference.forks:
        for name in new.fields_decided_by(fork):
            wanted[name] = wanted.get(name, 0) | upstream.after(fork)
            reasons.setdefault(name, []).append(f"decides at {new.steps[fork].title}")
    for name, steps in wanted.items():
        if affected := upstream.steps(difference.images & steps):
            yield migration_plan.FieldCollectionInfo(
                field_name=name,
                display_name=new.fields[name].label,
                affected_anchors=tuple(new.steps[anchor].title for anchor in affected),
                reason=", ".join(reasons[name]),
            )


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
        migration_plan.check_scope(policy.scope_filter)


def _named(policy: AnchorMigrationPolicy, old: Graph, step: str) -> AnchorMigrationPolicy:
    if step not in old.steps:
        return policy
    return policy.model_copy(
        update={"anchor_content_hash": old.hashes[step], "anchor_name": old.steps[step].title}
    )


def _transformation(difference: Difference) -> migration_plan.TransformationMap:
    old, anchors = difference.old, difference.anchors
    return migration_plan.TransformationMap(
        anchors=tuple(
            migration_plan.AnchorTransformation(
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
            migration_plan.DeletedNode(node_id_v1=step, node_name=old.steps[step].title)
            for step in old.steps
            if step not in anchors.image
        ),
        new_nodes=difference.inserted,
    )
