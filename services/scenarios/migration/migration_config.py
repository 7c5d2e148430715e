"""What an operator may choose about migrations (docs/operator.md)."""

from pydantic import Field, model_validator

from data_models.errors import ConfigurationError
from data_models.values import ClosedValue


class DeploymentConfig(ClosedValue):
    """How versions are deployed."""

    auto_mark_sessions: bool = True
    require_approval: bool = True


class GapFillConfig(ClosedValue):
    """From which confidence on extraction is used, and from which on without asking."""

    extraction_enabled: bool = True
    extraction_confidence_threshold: float = Field(default=0.85, ge=0, le=1)
    confirmation_threshold: float = Field(default=0.95, ge=0, le=1)
    max_conversation_turns: int = Field(default=20, ge=1)
    max_attempts: int = Field(default=3, ge=1)


class ReRoutingConfig(ClosedValue):
    """Whether changed forks may move a session to another branch."""

    enabled: bool = True
    notify_user: bool = True
    notification_template: str = "I have new instructions. Let me redirect our conversation."


class CheckpointConfig(ClosedValue):
    """Completed checkpoints are never undone; that cannot be switched off."""

    block_teleport_past_checkpoint: bool = True
    log_checkpoint_blocks: bool = True
    notify_blocked: bool = False


class RetentionConfig(ClosedValue):
    """Days after the last session that could need them."""

    version_retention_days: int = Field(default=7, ge=0)
    plan_retention_days: int = Field(default=30, ge=0)


class LoggingConfig(ClosedValue):
    """What is logged; the audit event is written in any case."""

    log_clean_grafts: bool = False
    log_gap_fills: bool = True
    log_re_routes: bool = True
    log_checkpoint_blocks: bool = True


class MigrationConfig(ClosedValue):
    """The section `SCENARIO_MIGRATION` of the settings."""

    enabled: bool = True
    deployment: DeploymentConfig = DeploymentConfig()
    gap_fill: GapFillConfig = GapFillConfig()
    re_routing: ReRoutingConfig = ReRoutingConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()
    retention: RetentionConfig = RetentionConfig()
    logging: LoggingConfig = LoggingConfig()

    @model_validator(mode="after")
    def _fits_together(self) -> "MigrationConfig":
        if not self.checkpoints.block_teleport_past_checkpoint:
            raise ConfigurationError(
                "SCENARIO_MIGRATION__CHECKPOINTS__BLOCK_TELEPORT_PAST_CHECKPOINT must be true: "
                "what a checkpoint records cannot be undone"
            )
        gaps = self.gap_fill
        if gaps.extraction_confidence_threshold > gaps.confirmation_threshold:
            raise ConfigurationError(
                "SCENARIO_MIGRATION__GAP_FILL__EXTRACTION_CONFIDENCE_THRESHOLD must not be above "
                "…__CONFIRMATION_THRESHOLD: between them a value is confirmed"
            )
        return self
