"""A migration plan: what changed between two versions and what the operator decided about it."""

from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field

from data_models.values import ClosedValue

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


class InsertedNode(ClosedValue):
    """A step that the old version did not have."""

    node_id: str
    node_name: str
    collects_fields: tuple[str, ...] = ()
    has_rules: bool = False
    is_required_action: bool = False


class ForkBranch(ClosedValue):
    """One way out of a fork."""

    target_step_id: str
    target_step_name: str
    condition_text: str
    condition_fields: tuple[str, ...] = ()


class NewFork(ClosedValue):
    """A fork that is new or changed, so that sessions past it are judged again."""

    fork_node_id: str
    fork_node_name: str
    branches: tuple[ForkBranch, ...]


class TransitionChange(ClosedValue):
    """Where a step led before and leads now, in terms of the new version where possible."""

    step_id: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class Changes(ClosedValue):
    """What changed on one side of an anchor."""

    inserted_nodes: tuple[InsertedNode, ...] = ()
    removed_nodes: tuple[str, ...] = ()
    new_forks: tuple[NewFork, ...] = ()
    modified_transitions: tuple[TransitionChange, ...] = ()


class AnchorTransformation(ClosedValue):
    """One step that both versions have, and what changed around it."""

    anchor_node_id_v1: str
    anchor_node_id_v2: str
    anchor_content_hash: str
    anchor_name: str
    reason: str
    upstream_changes: Changes = Changes()
    downstream_changes: Changes = Changes()


class DeletedNode(ClosedValue):
    """A step that is gone; sessions in it move to the nearest anchor, or as M3 says."""

    node_id_v1: str
    node_name: str
    nearest_anchor_hash: str | None = None
    nearest_anchor_id_v2: str | None = None


class TransformationMap(ClosedValue):
    """All that changed between two versions."""

    anchors: tuple[AnchorTransformation, ...] = ()
    deleted_nodes: tuple[DeletedNode, ...] = ()
    new_nodes: tuple[str, ...] = ()

    @property
    def image(self) -> dict[str, str]:
        """New step ids by old ones."""
        return {one.anchor_node_id_v1: one.anchor_node_id_v2 for one in self.anchors}


class MigrationWarning(ClosedValue):
    """Something the operator should see before approving."""

    severity: Severity
    code: str
    anchor_name: str
    message: str


class FieldCollectionInfo(ClosedValue):
    """A field that sessions may be asked for."""

    field_name: str
    display_name: str
    affected_anchors: tuple[str, ...]
    reason: str
    can_extract_from_conversation: bool = True


class MigrationSummary(ClosedValue):
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


class MigrationPlan(ClosedValue):
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
