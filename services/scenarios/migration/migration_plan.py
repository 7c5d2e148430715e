"""A migration plan: what changed between two versions and what the operator decided about it."""

from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field

from data_models.values import ClosedValue, Value

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
