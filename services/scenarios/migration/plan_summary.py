"""What an operator reads before approving a plan: counts, warnings, fields to collect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_

from services.scenarios.definition.faults import skipped_checkpoints
from services.scenarios.migration.migration_plan import (
    FieldCollectionInfo,
    ForkBranch,
    InsertedNode,
    MigrationSummary,
    MigrationWarning,
    NewFork,
    TransformationMap,
)
from services.scenarios.migration.move import Move
from services.scenarios.migration.upstream import Bits, Upstream

WARNINGS_LIMIT = 200


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
    away = list(_away(move, upstream, forks))
    anchors = upstream.bits(move.image.values())
    re_route = anchors & _union(branch.anchors for branch in away)
    gap_fill = anchors & upstream.after_any(inserted) & ~re_route
    moved = dict.fromkeys(upstream.steps(re_route), "re_route")
    moved |= dict.fromkeys(upstream.steps(gap_fill), "gap_fill")
    return MigrationSummary(
        scenario_by_anchor={
            left: moved.get(right, "clean_graft") for left, right in move.image.items()
        },
        total_anchors=len(move.image),
        anchors_with_clean_graft=len(move.image) - (re_route | gap_fill).bit_count(),
        anchors_with_gap_fill=gap_fill.bit_count(),
        anchors_with_re_route=re_route.bit_count(),
        nodes_deleted=len(transformation.deleted_nodes),
        warnings=(
            *islice(_checkpoint_warnings(move, upstream, away), WARNINGS_LIMIT),
            *_ambiguous_warnings(move, ambiguous),
            *_deletion_warnings(move, transformation),
            *_skipped_warnings(move),
        ),
        fields_to_collect=tuple(_fields(move, upstream, inserted, forks)),
    )


@dataclass(frozen=True, slots=True)
class _Away:
    """A branch of a changed fork, and the anchors behind the fork that it does not lead to."""

    branch: ForkBranch
    anchors: Bits


def _union(sets: Iterable[Bits]) -> Bits:
    return reduce(or_, sets, 0)


def _away(move: Move, upstream: Upstream, forks: Mapping[str, NewFork]) -> Iterator[_Away]:
    anchors = upstream.bits(move.image.values())
    for fork in forks.values():
        behind = anchors & upstream.after(fork.fork_node_id)
        for branch in fork.branches:
            missed = behind & ~upstream.reached(branch.target_step_id)
            if missed:
                yield _Away(branch, missed)


def _checkpoint_warnings(
    move: Move, upstream: Upstream, away: Sequence[_Away]
) -> Iterator[MigrationWarning]:
    checkpoints = [step.id for step in move.new.scenario.steps if step.is_checkpoint]
    for one in away:
        for checkpoint in checkpoints:
            passed = upstream.bits([checkpoint]) | upstream.after(checkpoint)
            target = upstream.bits([one.branch.target_step_id])
            if not target & upstream.after(checkpoint):
                for anchor in upstream.steps(one.anchors & passed):
                    yield _blocked(move, anchor, one.branch, checkpoint)


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


def _skipped_warnings(move: Move) -> Iterator[MigrationWarning]:
    for fault in skipped_checkpoints(move.new, move.image):
        yield MigrationWarning(
            severity="critical",
            code="checkpoint_skipped",
            anchor_name=move.new.steps[fault.step].title,
            message=f"{fault.text[:1].upper()}{fault.text[1:]}.",
        )


def _fields(
    move: Move,
    upstream: Upstream,
    inserted: Mapping[str, InsertedNode],
    forks: Mapping[str, NewFork],
) -> Iterator[FieldCollectionInfo]:
    """The fields that new steps collect for later ones, or that changed forks decide by."""
    anchors = upstream.bits(move.image.values())
    readers = _readers(move)
    wanted: dict[str, Bits] = {}
    reasons: dict[str, list[str]] = {}
    for node in inserted.values():
        for name in node.collects_fields:
            wanted[name] = wanted.get(name, 0) | upstream.after(node.node_id)
            reasons.setdefault(name, []).append(f"collected by {node.node_name}")
    for name in wanted:
        wanted[name] &= upstream.reaching(readers.get(name, ()))
    for fork in forks.values():
        for name in dict.fromkeys(name for one in fork.branches for name in one.condition_fields):
            wanted[name] = wanted.get(name, 0) | upstream.after(fork.fork_node_id)
            reasons.setdefault(name, []).append(f"decides at {fork.fork_node_name}")
    for name, steps in wanted.items():
        affected = upstream.steps(anchors & steps)
        if affected:
            yield FieldCollectionInfo(
                field_name=name,
                display_name=move.new.fields[name].label,
                affected_anchors=tuple(move.new.steps[anchor].title for anchor in affected),
                reason=", ".join(reasons[name]),
            )


def _readers(move: Move) -> dict[str, list[str]]:
    """The steps that read each field."""
    readers: dict[str, list[str]] = {}
    for step in move.new.steps:
        for name in move.new.fields_read_at(step):
            readers.setdefault(name, []).append(step)
    return readers
