"""Lets commands that run beside the servers hold a conversation by the folder it is stored in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from data_models.blob_store import BlobStore
from data_models.claim import Claim
from data_models.clock import Clock, IdSource
from services.conversations.conversation_factory import caretaker_for
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of
from settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMaintenance:
    """Holds conversations of one container."""

    store: BlobStore
    maintenance_lease: MaintenanceLease
    principal_id: str

    @asynccontextmanager
    async def holding(self, folder: str) -> AsyncIterator[Claim | None]:
        """Hold the conversation of `folder`; None where there is none that a turn could run in.

        Raises:
            ConversationBusyError: its turns take too long.
            ClaimLostError: we stood still so long that somebody took us for dead.
            CorruptDocumentError: its conversation document cannot be read.
        """
        conversation_id = await conversation_of(self.store, folder)
        if conversation_id is None:
            yield None
            return
        async with self.maintenance_lease.holding(
            conversation_id, principal_id=self.principal_id
        ) as claim:
            yield claim


def maintenance_for(
    settings: Settings,
    *,
    sessions: BlobStore,
    users: BlobStore,
    clock: Clock,
    ids: IdSource,
    principal_id: str,
) -> FolderMaintenance:
    """Return who holds conversations for a command; `principal_id` names it in their claims."""
    maintenance_lease = caretaker_for(
        settings, sessions=sessions, users=users, clock=clock, ids=ids
    )
    return FolderMaintenance(
        store=sessions, maintenance_lease=maintenance_lease, principal_id=principal_id
    )
