"""How commands that run beside the servers hold a conversation."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

from data_models.clock import Clock, IdSource
from data_models.conversations.claim import Claim
from data_models.storage.blob_store import BlobStore
from services.conversations.conversation_factory import caretaker_for
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of
from settings import Settings


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
