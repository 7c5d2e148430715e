"""A migration plan: what changed between two versions and what the operator decided about it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, TypeAlias, TypeVar

from cel_expr_python import cel
from pydantic import AwareDatetime, Field, JsonValue

from data_models.scenarios.scenario_session import ScenarioSession
from data_models.values import ClosedValue, Value
from services.scenarios.definition.conditions import check_expression, truth_of

PlanStatus: TypeAlias = Literal["pending", "approved", "deployed", "superseded", "cancelled"]
ForcedScenario: TypeAlias = Literal["clean_graft", "gap_fill", "re_route"]
Severity: TypeAlias = Literal["info", "warning", "critical"]


class ScopeFilter(ClosedValue):
    """Which sessions a policy lets migrate (M17): exclude wins, empty include means all."""

    include_current_nodes: tuple[str, ...] = ()
    exclude_current_nodes: tuple[str, ...] = ()
    include_channels: tuple[str, ...] = ()
    exclude_channels: tuple[str, ...] = ()
    max_session_age_days: float | None = None
    min_session_age_days: float | None = None
    custom_conditions: tuple[str, ...] = ()


class AnchorMigrationPolicy(ClosedValue):
    """What happens to sessions at one step of the old version."""

    anchor_content_hash: str = ""
    anchor_name: str = ""
    scope_filter: ScopeFilter = ScopeFilter()
    update_downstream: bool = True
    force_scenario: ForcedScenario | None = None


class AnchorTransformation(Value):
    """One step that both versions have, and why it is taken for the same."""

    anchor_node_id_v1: str
    anchor_node_id_v2: str
    anchor_content_hash: str
    anchor_name: str
    reason: str


class DeletedNode(Value):
    """A step that is gone; where its sessions go depends on the way of each (M3)."""

    node_id_v1: str
    node_name: str


class TransformationMap(Value):
    """All that changed between two versions."""

    anchors: tuple[AnchorTransformation, ...] = ()
    deleted_nodes: tuple[DeletedNode, ...] = ()
    new_nodes: tuple[str, ...] = ()

    @property
    def image(self) -> dict[str, str]:
        """New step ids by old ones."""
        return {one.anchor_node_id_v1: one.anchor_node_id_v2 for one in self.anchors}


class MigrationWarning(Value):
    """Something the operator should see before approving."""

    severity: Severity
    code: str
    anchor_name: str
    message: str


class FieldCollectionInfo(Value):
    """A field that sessions may be asked for."""

    field_name: str
    display_name: str
    affected_anchors: tuple[str, ...]
    reason: str


class MigrationSummary(Value):
    """What the operator reads first.

    Attributes:
        scenario_by_anchor: By old step: what is to be expected of sessions there.
    """

    scenario_by_anchor: dict[str, str] = Field(default_factory=dict)
    total_anchors: int = 0
    anchors_with_clean_graft: int = 0
    anchors_with_gap_fill: int = 0
    anchors_with_re_route: int = 0
    nodes_deleted: int = 0
    estimated_sessions_affected: int = 0
    sessions_by_anchor: dict[str, int] = Field(default_factory=dict)
    warnings: tuple[MigrationWarning, ...] = ()
    fields_to_collect: tuple[FieldCollectionInfo, ...] = ()


class MigrationPlan(Value):
    """Made once for two versions; only its status and approval change afterwards."""

    id: str
    scenario_id: str
    from_version: int
    to_version: int
    scenario_checksum_v1: str
    scenario_checksum_v2: str
    transformation_map: TransformationMap
    anchor_policies: dict[str, AnchorMigrationPolicy] = Field(default_factory=dict)
    """By step id of the old version; `*` for every other step."""
    operator_mapping: dict[str, str] = Field(default_factory=dict)
    summary: MigrationSummary = MigrationSummary()
    created_at: AwareDatetime
    created_by: str | None = None
    approved_at: AwareDatetime | None = None
    approved_by: str | None = None
    status: PlanStatus = "pending"


_DAY = timedelta(days=1)
_TYPES: Mapping[str, cel.Type] = {
    "channel": cel.Type.STRING,
    "step": cel.Type.STRING,
    "version": cel.Type.INT,
    "age_days": cel.Type.DYN,
    "tenant_id": cel.Type.STRING,
    "agent_id": cel.Type.STRING,
    "path": cel.Type.List(cel.Type.STRING),
    "completed_checkpoints": cel.Type.List(cel.Type.STRING),
    "variables": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
}
_SHORT = {"at": "step", "v": "version", "passed": "completed_checkpoints", "vars": "variables"}
"""The names of case files."""
T = TypeVar("T")


def is_in_scope(
    scope: ScopeFilter, session: ScenarioSession, *, step_name: str, now: datetime
) -> bool:
    """Whether `scope` lets `session` migrate.

    Raises:
        ScenarioConditionError: a custom condition is wrong or cannot be decided.
    """
    here = {session.step or "", step_name}
    if here & set(scope.exclude_current_nodes) or session.channel in scope.exclude_channels:
        return False
    if scope.include_current_nodes and not here & set(scope.include_current_nodes):
        return False
    if scope.include_channels and session.channel not in scope.include_channels:
        return False
    age = (now - session.created_at) / _DAY
    return _is_of_age(scope, age) and all(
        _holds(condition, session, age) for condition in scope.custom_conditions
    )


def check_scope(scope: ScopeFilter) -> None:
    """Type-check the custom conditions.

    Raises:
        ScenarioConditionError: one of them does not fit what a session has.
    """
    for condition in scope.custom_conditions:
        _compiled(condition)


def _is_of_age(scope: ScopeFilter, age_days: float) -> bool:
    low, high = scope.min_session_age_days, scope.max_session_age_days
    return (low is None or age_days >= low) and (high is None or age_days <= high)


@lru_cache(maxsize=1_000)
def _compiled(condition: str) -> cel.Expression:
    env = cel.NewEnv(variables=_with_all_names(_TYPES))
    return check_expression(env, condition)


def _holds(condition: str, session: ScenarioSession, age_days: float) -> bool:
    values: dict[str, JsonValue] = {
        "channel": session.channel,
        "step": session.step or "",
        "version": session.version,
        "age_days": age_days,
        "tenant_id": session.tenant_id,
        "agent_id": session.agent_id,
        "path": [*session.path],
        "completed_checkpoints": [one.step_id for one in session.completed_checkpoints],
        "variables": session.variables,
    }
    return truth_of(_compiled(condition), _with_all_names(values))


def _with_all_names(found: Mapping[str, T]) -> dict[str, T]:
    """Return what stands under a name under its short name and behind `session.` too."""
    every = {**found, **{short: found[name] for short, name in _SHORT.items()}}
    return {**every, **{f"session.{name}": one for name, one in every.items()}}


DeploymentState: TypeAlias = Literal["approved", "archived", "staged", "flipped", "deployed"]


class DeploymentRecord(Value):
    """How far a deployment is; whoever resumes it goes on from here.

    Attributes:
        cursor: Where the index goes on after the pages that are marked.
        all_marked: Whether no page is left to mark.
        seen: Sessions of the pages so far, in the canary share or not.
        total: Sessions of older versions when it began, for a progress bar.
        share_percent: Of the sessions, how many the version is to reach.
    """

    scenario_id: str
    plan_id: str
    from_version: int
    to_version: int
    state: DeploymentState = "approved"
    cursor: str = ""
    marked: int = Field(default=0, ge=0)
    seen: int = Field(default=0, ge=0)
    total: int = Field(default=0, ge=0)
    all_marked: bool = False
    paused: bool = False
    share_percent: int = Field(default=100, ge=0, le=100)
    started_by: str = ""

    @property
    def is_canary(self) -> bool:
        """Whether it waits for its share to be raised."""
        return self.state == "flipped" and self.share_percent < 100

    @property
    def is_under_way(self) -> bool:
        """Whether something is left to do without anybody's decision but to resume it."""
        return self.state != "deployed" and not self.is_canary
