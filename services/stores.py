"""Opens the containers that the settings name: Azure Blob Storage, else local files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from data_models.clock import IdSource
from data_models.errors import ConfigurationError
from data_models.storage.blob_store import BlobStore
from data_models.storage.local_blob_store import LocalBlobStore
from data_models.storage.local_blob_tags import LocalBlobTags
from services.scenarios.migration.session_index import TAGS, session_tags
from settings import Settings

SESSIONS = "chat-sessions"
USERS = "chat-users"
AUDIT = "audit-trail"
SCENARIOS = "scenarios"
INDEX_FILE = "scenario-sessions.sqlite"


@dataclass(frozen=True, slots=True)
class Stores:
    """The three containers: conversations, who owns which, and who read what."""

    sessions: BlobStore
    users: BlobStore
    audit: BlobStore

    async def check(self) -> None:
        """See `BlobStore.check`; of each."""
        for store in (self.sessions, self.users, self.audit):
            await store.check()

    async def close(self) -> None:
        """Release every connection."""
        for store in (self.sessions, self.users, self.audit):
            await store.close()


def open_stores(settings: Settings, *, ids: IdSource) -> Stores:
    """Return all containers; each is created when it is first needed."""
    return Stores(*(open_container(settings, name, ids=ids) for name in (SESSIONS, USERS, AUDIT)))


def open_container(settings: Settings, name: str, *, ids: IdSource) -> BlobStore:
    """Return one container, on Azure or below `DATA_DIR` (spec page 6.5).

    Raises:
        ConfigurationError: the connection string or the endpoint is malformed.
    """
    if (account := settings.azure_account) is None:
        tags = local_tags(settings) if name == SESSIONS else None
        return LocalBlobStore(root=settings.data_dir / name, tags=tags)
    # Azure's SDK takes half a second to import.
    from data_models.storage.azure_blob_store import AzureBlobStore

    tags_of = session_tags if name == SESSIONS else None
    return AzureBlobStore(account, container=name, ids=ids, tags_of=tags_of)


def local_tags(settings: Settings) -> LocalBlobTags:
    """Return the tags of the conversations' files, by which scenario sessions are found."""
    return LocalBlobTags(path=settings.data_dir / INDEX_FILE, names=TAGS, tags_of=session_tags)


def require_data(settings: Settings) -> None:
    """Refuse a `DATA_DIR` that is not there: a wrong one would pass for one with nothing in it."""
    if settings.azure_account is None and not settings.data_dir.is_dir():
        told = "so nothing was done. Set it, or the storage account, as the servers have it."
        raise ConfigurationError(f"DATA_DIR: there is no folder {settings.data_dir}, {told}")


@asynccontextmanager
async def opened(settings: Settings, *names: str, ids: IdSource) -> AsyncIterator[list[BlobStore]]:
    """Yield containers to a command, which are closed behind it; see `open_container`."""
    stores = [open_container(settings, name, ids=ids) for name in names]
    try:
        yield stores
    finally:
        for store in stores:
            await store.close()
