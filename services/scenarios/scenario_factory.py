"""Opens what the settings say about scenarios: versions and plans, and the index of sessions."""

from dataclasses import dataclass

from pydantic import ValidationError

from data_models.clock import IdSource
from data_models.errors import ConfigurationError
from data_models.storage.blob_store import BlobStore
from services.scenarios.migration.migration_config import MigrationConfig
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.migration.session_index import SessionIndex
from services.stores import SESSIONS, local_tags, open_container
from settings import Settings

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
