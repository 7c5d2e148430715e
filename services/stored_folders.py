"""Which conversations are stored, and how commands that run beside the servers hold one.

Stored are those of the owner index and, on local files, every folder.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

from data_models.clock import Clock, IdSource
from data_models.conversations.claim import Claim
from data_models.storage.blob_store import BlobStore, is_blob_name
from services.conversations.conversation_factory import caretaker_for
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of
from services.stores import SESSIONS, USERS, opened, require_data
from settings import Settings

_INDEX = "users/"


async def list_folders(settings: Settings, *, ids: IdSource) -> list[str]:
    """Return the folder names in order, each once.

    Raises:
        StoreUnavailableError: the index cannot be read.
        ConfigurationError: there is no such DATA_DIR.
    """
    require_data(settings)
    async with opened(settings, USERS, ids=ids) as (users,):
        found = {row.name.rpartition("/")[2] async for row in users.list(_INDEX)}
    if settings.azure_storage_connection_string is None:
        found |= _local(settings.data_dir / SESSIONS)
    return sorted(found)


def _local(root: Path) -> set[str]:
    # Conversations of deployments that kept no index yet.
    if not root.is_dir():
        return set()
    return {each.name for each in root.iterdir() if each.is_dir() and is_blob_name(each.name)}


@asynccontextmanager
async def holding_folder(
    folder: str, *, store: BlobStore, lease: MaintenanceLease, principal_id: str
) -> AsyncIterator[Claim | None]:
    """Hold the conversation of `folder`; None where there is none that a turn could run in.

    Args:
        store: Where the conversations are.
        principal_id: Names the command in their claims.

    Raises:
        ConversationBusyError: its turns take too long.
        ClaimLostError: we stood still so long that somebody took us for dead.
        CorruptDocumentError: its conversation document cannot be read.
    """
    if (conversation_id := await conversation_of(store, folder)) is None:
        yield None
        return
    async with lease.holding(conversation_id, principal_id=principal_id) as claim:
        yield claim


def holding_for(
    settings: Settings,
    *,
    sessions: BlobStore,
    users: BlobStore,
    clock: Clock,
    ids: IdSource,
    principal_id: str,
) -> Callable[[str], AbstractAsyncContextManager[Claim | None]]:
    """Return what holds the conversation of a folder for a command; see `holding_folder`."""
    lease = caretaker_for(settings, sessions=sessions, users=users, clock=clock, ids=ids)
    return partial(holding_folder, store=sessions, lease=lease, principal_id=principal_id)
