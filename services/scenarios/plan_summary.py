"""What an operator reads before approving a plan: counts, warnings, fields to collect."""

from collections.abc import Iterator, Mapping, Sequence

from services.scenarios.migration_plan import (
    FieldCollectionInfo,
    ForkBranch,
    InsertedNode,
    MigrationSummary,
    MigrationWarning,
    NewFork,
    TransformationMap,
)
from services.scenarios.move import Move
from services.scenarios.upstream import Upstream


def summarise(
    move: Move,
    upstream: Upstream,
    transformation: TransformationMap,
    *,
    forks: Mapping[str, NewFork],
    inserted: Mapping[str, InsertedNode],
    ambiguous: Sequence[str],
) -> MigrationSummary:
    """Return the summary for sessions that came the longest possible way; a dry run is exact."""
    judged = _judged(move, upstream, forks)
    behind_new = upstream.after_any(inserted)
    anchors = list(move.image.values())
    re_route = [step for step in anchors if step in judged]
    gap_fill = [step for step in anchors if step in behind_new and step not in judged]
    return MigrationSummary(
        total_anchors=len(anchors),
        anchors_with_clean_graft=len(anchors) - len(re_route) - len(gap_fill),
        anchors_with_gap_fill=len(gap_fill),
        anchors_with_re_route=len(re_route),
        nodes_deleted=len(transformation.deleted_nodes),
        warnings=(
            *_checkpoint_warnings(move, upstream, judged),
            *_ambiguous_warnings(move, ambiguous),
            *_deletion_warnings(move, transformation),
        ),
        fields_to_collect=tuple(_fields(move, upstream, inserted)),
    )


def _judged(
    move: Move, upstream: Upstream, forks: Mapping[str, NewFork]
) -> dict[str, list[tuple[NewFork, int]]]:
    """For each anchor the branches of changed forks before it that do not lead to it."""
    found: dict[str, list[tuple[NewFork, int]]] = {}
    for fork in forks.values():
        ways = [move.new.reached_from(branch.target_step_id) for branch in fork.branches]
        for anchor in move.image.values():
            if upstream.is_after(anchor, fork.fork_node_id):
                away = [(fork, index) for index, way in enumerate(ways) if anchor not in way]
                if away:
                    found.setdefault(anchor, []).extend(away)
    return found


def _checkpoint_warnings(
    move: Move, upstream: Upstream, judged: Mapping[str, list[tuple[NewFork, int]]]
) -> Iterator[MigrationWarning]:
    checkpoints = [step.id for step in move.new.scenario.steps if step.is_checkpoint]
    for anchor, branches in judged.items():
        passed = [one for one in checkpoints if one == anchor or upstream.is_after(anchor, one)]
        for fork, index in branches:
            target = fork.branches[index].target_step_id
            for checkpoint in passed:
                if not upstream.is_after(target, checkpoint):
                    yield _blocked(move, anchor, fork.branches[index], checkpoint)


def _blocked(move: Move, anchor: str, branch: ForkBranch, checkpoint: str) -> MigrationWarning:
    name = move.new.steps[anchor].title
    return MigrationWarning(
        severity="warning",
        code="redirect_blocked",
        anchor_name=name,
        message=(
            f"Sessions at {name!r} for which {branch.condition_text!r} holds should go to "
            f"{branch.target_step_name!r}, but once checkpoint "
            f"{move.new.steps[checkpoint].title!r} is completed it prevents this. "
            "They continue with a warning."
        ),
    )


def _ambiguous_warnings(move: Move, ambiguous: Sequence[str]) -> Iterator[MigrationWarning]:
    for step in ambiguous:
        name = move.old.steps[step].title
        yield MigrationWarning(
            severity="warning",
            code="ambiguous_anchor",
            anchor_name=name,
            message=f"Several steps of the new version are like {name!r}. Map it by hand.",
        )


def _deletion_warnings(move: Move, transformation: TransformationMap) -> Iterator[MigrationWarning]:
    for node in transformation.deleted_nodes:
        if move.old.steps[node.node_id_v1].is_checkpoint:
            yield MigrationWarning(
                severity="critical",
                code="checkpoint_deleted",
                anchor_name=node.node_name,
                message=(
                    f"The checkpoint {node.node_name!r} is gone. Sessions that completed it are "
                    "never redirected."
                ),
            )


def _fields(
    move: Move, upstream: Upstream, inserted: Mapping[str, InsertedNode]
) -> Iterator[FieldCollectionInfo]:
    sources: dict[str, list[str]] = {}
    for node in inserted.values():
        for name in node.collects_fields:
            sources.setdefault(name, []).append(node.node_id)
    for name, steps in sources.items():
        behind = upstream.after_any(steps)
        affected = tuple(
            move.new.steps[anchor].title
            for anchor in move.image.values()
            if anchor in behind and name in move.new.fields_read_from(anchor)
        )
        if affected:
            yield FieldCollectionInfo(
                field_name=name,
                display_name=move.new.fields[name].label,
                affected_anchors=affected,
                reason=f"collected by {', '.join(move.new.steps[step].title for step in steps)}",
            )
