"""What an operator reads before approving a plan: counts, warnings, fields to collect."""

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from operator import or_

from services.scenarios.definition.faults import skipped_checkpoints
from services.scenarios.migration.difference import Away, Difference
from services.scenarios.migration.migration_plan import (
    FieldCollectionInfo,
    MigrationSummary,
    MigrationWarning,
)
from services.scenarios.migration.upstream import Bits

WARNINGS_LIMIT = 200


def summarise(difference: Difference) -> MigrationSummary:
    """Return the summary for sessions that came the longest possible way; a dry run is exact."""
    upstream, image = difference.upstream, difference.anchors.image
    re_route = reduce(or_, (one.anchors for one in difference.away), 0)
    gap_fill = difference.images & upstream.after_any(difference.inserted) & ~re_route
    moved = dict.fromkeys(upstream.steps(re_route), "re_route")
    moved |= dict.fromkeys(upstream.steps(gap_fill), "gap_fill")
    return MigrationSummary(
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
    upstream, steps = difference.upstream, difference.new.scenario.steps
    checkpoints = [step.id for step in steps if step.is_checkpoint]
    for away in difference.away:
        for checkpoint in checkpoints:
            behind = upstream.after(checkpoint)
            if not upstream.bits([away.branch.target]) & behind:
                passed = upstream.bits([checkpoint]) | behind
                for anchor in upstream.steps(away.anchors & passed):
                    yield _blocked(difference, anchor, away, checkpoint)


def _blocked(difference: Difference, anchor: str, away: Away, checkpoint: str) -> MigrationWarning:
    steps = difference.new.steps
    name = steps[anchor].title
    return MigrationWarning(
        severity="warning",
        code="redirect_blocked",
        anchor_name=name,
        message=(
            f"Sessions at {name!r} for which {away.branch.text!r} holds should go to "
            f"{steps[away.branch.target].title!r}, but once checkpoint "
            f"{steps[checkpoint].title!r} is completed it prevents this. "
            "They continue with a warning."
        ),
    )


def _ambiguous_warnings(difference: Difference) -> Iterator[MigrationWarning]:
    for step in difference.anchors.ambiguous:
        name = difference.old.steps[step].title
        yield MigrationWarning(
            severity="warning",
            code="ambiguous_anchor",
            anchor_name=name,
            message=f"Several steps of the new version are like {name!r}. Map it by hand.",
        )


def _deletion_warnings(difference: Difference) -> Iterator[MigrationWarning]:
    for step in difference.old.steps.values():
        if step.is_checkpoint and step.id not in difference.anchors.image:
            yield MigrationWarning(
                severity="critical",
                code="checkpoint_deleted",
                anchor_name=step.title,
                message=(
                    f"The checkpoint {step.title!r} is gone. Sessions that completed it are "
                    "never redirected."
                ),
            )


def _skipped_warnings(difference: Difference) -> Iterator[MigrationWarning]:
    for fault in skipped_checkpoints(difference.new, difference.anchors.image):
        yield MigrationWarning(
            severity="critical",
            code="checkpoint_skipped",
            anchor_name=difference.new.steps[fault.step].title,
            message=f"{fault.text[:1].upper()}{fault.text[1:]}.",
        )


def _fields(difference: Difference) -> Iterator[FieldCollectionInfo]:
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
        affected = upstream.steps(difference.images & steps)
        if affected:
            yield FieldCollectionInfo(
                field_name=name,
                display_name=new.fields[name].label,
                affected_anchors=tuple(new.steps[anchor].title for anchor in affected),
                reason=", ".join(reasons[name]),
            )
