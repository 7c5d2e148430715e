"""Where scenarios stand, as an operator sees it, and two versions of one side by side."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, Self, TypeAlias

from data_models.values import Value
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans import migration_plan
from services.scenarios.migration.plans.difference import Difference, sentences_of
from services.scenarios.migration.plans.move import AnchorMap
from services.scenarios.migration.session_index import Tally, step_key

NodeState: TypeAlias = Literal["anchor", "modified", "deleted", "inserted", "plain"]
ForkState: TypeAlias = Literal["", "unchanged", "changed", "new"]
STAR = "*"


class VersionCounts(Value):
    """The sessions of one version as the index knows them."""

    version: int
    sessions: int = 0
    marked: int = 0
    pinned: int = 0
    flagged: int = 0


class ScenarioOverview(Value):
    """Where one scenario stands.

    Attributes:
        versions: Stored ones, deployed or not.
    """

    scenario_id: str
    name: str
    versions: tuple[int, ...]
    deployed: tuple[int, ...]
    active: int | None
    share_percent: int
    withdrawn: str
    plan: migration_plan.MigrationPlan | None
    deployment: migration_plan.DeploymentRecord | None
    counts: tuple[VersionCounts, ...] = ()


class ScenarioCard(Value):
    """One row of the list."""

    scenario_id: str
    name: str
    versions: tuple[int, ...]
    active: int | None
    plan_status: str | None
    deployment_state: str | None

    @classmethod
    def of(cls, found: ScenarioOverview) -> Self:
        """Return the row of a scenario that stands there."""
        return cls(
            scenario_id=found.scenario_id,
            name=found.name,
            versions=found.versions,
            active=found.active,
            plan_status=found.plan.status if found.plan else None,
            deployment_state=found.deployment.state if found.deployment else None,
        )


def counted(tallies: Sequence[Tally]) -> tuple[VersionCounts, ...]:
    """Sum the index's tallies by version."""
    found = defaultdict[int, Counter[str]](Counter)
    for tally in tallies:
        kinds = {"marked": tally.mark > tally.version, "flagged": tally.review}
        kinds |= {"sessions": True, "pinned": tally.pinned}
        found[tally.version] += Counter({name: tally.number for name in kinds if kinds[name]})
    return tuple(VersionCounts(version=version, **found[version]) for version in sorted(found))


class NodeView(Value):
    """A step in a drawing.

    Attributes:
        state: `modified` anchors have other content in the other version.
        partner: The step that it is in the other version.
        sessions: That stand in it now.
    """

    id: str
    name: str
    intent: str
    kind: str
    state: NodeState
    fork: ForkState
    partner: str | None = None
    is_checkpoint: bool = False
    is_required_action: bool = False
    collects: tuple[str, ...] = ()
    sessions: int = 0


class EdgeView(Value):
    """A way from step to step; `condition` is CEL, `else`, or empty where there is no choice."""

    source: str
    target: str
    condition: str
    is_changed: bool


class GraphView(Value):
    """One version, drawn."""

    scenario_id: str
    name: str
    version: int
    checksum: str
    entry: str
    nodes: tuple[NodeView, ...]
    edges: tuple[EdgeView, ...]


class RedirectView(Value):
    """Where a changed fork may send sessions of an anchor."""

    fork: str
    condition: str
    target: str


class AnchorView(Value):
    """What is to be expected of the sessions at one step of the old version."""

    step: str
    name: str
    target: str | None
    target_name: str | None
    scenario: str
    sessions: int
    fields: tuple[str, ...]
    redirects: tuple[RedirectView, ...]
    blocked_by: tuple[str, ...]
    policy: migration_plan.AnchorMigrationPolicy
    has_own_policy: bool


class PlanView(Value):
    """A plan, and everything that an operator needs to decide about it.

    Attributes:
        changes: What is different, in words.
    """

    plan: migration_plan.MigrationPlan
    changes: tuple[str, ...]
    old: GraphView
    new: GraphView
    anchors: tuple[AnchorView, ...]


def view_of_plan(
    plan: migration_plan.MigrationPlan,
    old: Graph,
    new: Graph,
    tallies: Sequence[Tally],
    *,
    older: Mapping[int, Mapping[str, str]] | None = None,
) -> PlanView:
    """Return the plan with its drawings and the counts of sessions as they are now.

    Args:
        older: Steps of `old` by those of versions before it, whose sessions stand there, too.
    """
    image = plan.transformation_map.image
    difference = Difference(old, new, AnchorMap(image))
    counts = sessions_at(old, tallies)
    for version, images in (older or {}).items():
        for left, number in _counted(images, version, tallies).items():
            counts[images[left]] += number
    affected = sum(tally.number for tally in tallies if tally.version < plan.to_version)
    summary = plan.summary.model_copy(
        update={"estimated_sessions_affected": affected, "sessions_by_anchor": counts}
    )
    return PlanView(
        plan=plan.model_copy(update={"summary": summary}),
        changes=tuple(sentences_of(difference)),
        old=_old_view(difference, counts),
        new=_new_view(difference, sessions_at(new, tallies)),
        anchors=tuple(_anchor(plan, difference, step, counts) for step in old.steps),
    )


def view_of_graph(graph: Graph, tallies: Sequence[Tally]) -> GraphView:
    """Return one version alone."""
    return _drawn(graph, graph, {}, "plain", {}, sessions_at(graph, tallies))


def sessions_at(graph: Graph, tallies: Sequence[Tally]) -> dict[str, int]:
    """Return how many sessions of this version stand in each step."""
    return _counted(graph.steps, graph.version, tallies)


def _counted(steps: Iterable[str], version: int, tallies: Sequence[Tally]) -> dict[str, int]:
    by_hash: dict[str, int] = {}
    for tally in tallies:
        if tally.version == version:
            by_hash[tally.step_hash] = by_hash.get(tally.step_hash, 0) + tally.number
    return {step: by_hash.get(step_key(step), 0) for step in steps}


def _old_view(difference: Difference, counts: Mapping[str, int]) -> GraphView:
    back, old = difference.move.preimage, difference.old
    changed: dict[str, ForkState] = {
        back[fork]: "changed" for fork in difference.forks if fork in back
    }
    return _drawn(old, difference.new, difference.anchors.image, "deleted", changed, counts)


def _new_view(difference: Difference, counts: Mapping[str, int]) -> GraphView:
    old, new, back = difference.old, difference.new, difference.move.preimage
    changed: dict[str, ForkState] = {
        fork: "changed" if fork in back and old.is_fork(back[fork]) else "new"
        for fork in difference.forks
    }
    return _drawn(new, old, back, "inserted", changed, counts)


def _drawn(
    graph: Graph,
    other: Graph,
    partners: Mapping[str, str],
    alone: NodeState,
    changed: Mapping[str, ForkState],
    counts: Mapping[str, int],
) -> GraphView:
    """Return `graph` beside `other`; a step without a partner there is in the state `alone`."""
    forks: dict[str, ForkState] = {
        step: changed.get(step, "unchanged") for step in graph.steps if graph.is_fork(step)
    }
    alike = {step for step, one in partners.items() if graph.hashes[step] == other.hashes[one]}
    states: dict[str, NodeState] = {
        step: "anchor" if step in alike else "modified" for step in partners
    }
    nodes = tuple(
        NodeView(
            id=step.id,
            name=step.title,
            intent=step.intent or step.description,
            kind=step.kind,
            state=states.get(step.id, alone),
            fork=forks.get(step.id, ""),
            partner=partners.get(step.id),
            is_checkpoint=step.is_checkpoint,
            is_required_action=step.is_required_action,
            collects=step.collects_profile_fields,
            sessions=counts.get(step.id, 0),
        )
        for step in graph.steps.values()
    )
    return GraphView(
        scenario_id=graph.scenario.id,
        name=graph.scenario.title,
        version=graph.version,
        checksum=graph.checksum,
        entry=graph.entry,
        nodes=nodes,
        edges=tuple(_edges(graph, other, partners)),
    )


def _edges(graph: Graph, other: Graph, partners: Mapping[str, str]) -> Iterator[EdgeView]:
    ways = {(step, way.target, way.text) for step in other.steps for way in other.branches(step)}
    for step in graph.steps:
        for way in graph.branches(step):
            there = partners.get(step), partners.get(way.target), way.text
            yield EdgeView(
                source=step,
                target=way.target,
                condition=way.text if way.condition or graph.is_fork(step) else "",
                is_changed=bool(partners) and there not in ways,
            )


def _anchor(
    plan: migration_plan.MigrationPlan, difference: Difference, step: str, counts: Mapping[str, int]
) -> AnchorView:
    new, target = difference.new, difference.anchors.image.get(step)
    name = new.steps[target].title if target else None
    redirects = tuple(_redirects(difference, target)) if target else ()
    summary, policies = plan.summary, plan.anchor_policies
    return AnchorView(
        step=step,
        name=difference.old.steps[step].title,
        target=target,
        target_name=name,
        scenario=summary.scenario_by_anchor.get(step, "relocate"),
        sessions=counts.get(step, 0),
        fields=tuple(
            one.display_name for one in summary.fields_to_collect if name in one.affected_anchors
        ),
        redirects=redirects,
        blocked_by=tuple(_blocking(difference, target)) if target and redirects else (),
        policy=policies.get(step, policies.get(STAR, migration_plan.AnchorMigrationPolicy())),
        has_own_policy=step in policies,
    )


def _redirects(difference: Difference, target: str) -> Iterator[RedirectView]:
    """The branches of changed forks before the step that do not lead to it."""
    steps, bit = difference.new.steps, difference.upstream.bits([target])
    for away in difference.away:
        if away.anchors & bit:
            yield RedirectView(
                fork=steps[away.fork].title,
                condition=away.branch.text,
                target=steps[away.branch.target].title,
            )


def _blocking(difference: Difference, target: str) -> Iterator[str]:
    """The checkpoints that sessions at the step may have passed and no redirect goes behind."""
    bit = difference.upstream.bits([target])
    for step in difference.new.scenario.steps:
        if step.is_checkpoint and (step.id == target or difference.upstream.after(step.id) & bit):
            yield step.title
