"""What the settings say about scenarios, and the stores that they name (docs/operator.md)."""

from dataclasses import dataclass

from pydantic import Field, ValidationError, model_validator

from data_models.clock import IdSource
from data_models.errors import ConfigurationError
from data_models.storage.blob_store import BlobStore
from data_models.values import ClosedValue
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.migration.session_index import SessionIndex
from services.stores import SESSIONS, local_tags, open_container
from settings import Settings


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


CONTAINER = "scenarios"


@dataclass(frozen=True, slots=True)
class ScenarioStores:
    """What turns and operators share."""

    blobs: BlobStore
    store: ScenarioStore
    index: SessionIndex
    config: MigrationConfig

    async def close(self) -> None:
        """Release files and connections."""
        await self.index.close()
        await self.blobs.close()


def scenarios_for(settings: Settings, *, ids: IdSource) -> ScenarioStores:
    """Return the stores; nothing in it is opened before it is needed.

    Raises:
        ConfigurationError: a setting `SCENARIO_MIGRATION__…` cannot work.
    """
    blobs = open_container(settings, CONTAINER, ids=ids)
    return ScenarioStores(
        blobs=blobs,
        store=ScenarioStore(blobs=blobs),
        index=index_for(settings),
        config=migration_config_for(settings),
    )


def migration_config_for(settings: Settings) -> MigrationConfig:
    """Return the section `SCENARIO_MIGRATION` of the settings.

    Raises:
        ConfigurationError: it names what is not there, or a value that cannot work.
    """
    try:
        return MigrationConfig.model_validate(settings.scenario_migration)
    except ValidationError as error:
        lines = [
            "__".join(["SCENARIO_MIGRATION", *map(str, one["loc"])]).upper() + f": {one['msg']}"
            for one in error.errors(include_url=False)
        ]
        raise ConfigurationError("\n".join(lines)) from None


def index_for(settings: Settings) -> SessionIndex:
    """Return the index of sessions, which is opened when it is first needed."""
    if (account := settings.azure_account) is None:
        return SessionIndex(tags=local_tags(settings))
    # Azure's SDK takes half a second to import.
    from data_models.storage.azure_blob_store import AzureBlobTags

    return SessionIndex(tags=AzureBlobTags(account, container=SESSIONS))
