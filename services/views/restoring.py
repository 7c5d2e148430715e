"""Undoes the last clear of a conversation by its owner's button on a page."""

from dataclasses import dataclass

from data_models.errors import NothingToUndoError
from services.audit.trail import Audit, record_access
from services.conversations.clear_undo import ClearUndo
from services.conversations.maintenance_lease import MaintenanceLease
from services.views.conversation_reader import ConversationReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoring:
    """Does what the word `undo` does, without a turn. Holds nothing of any conversation."""

    reader: ConversationReader
    undo: ClearUndo
    lease: MaintenanceLease
    audit: Audit

    async def restore(self, conversation_id: str, *, owner: str) -> int:
        """Bring back what was cleared and return of how many documents.

        What was said since is archived, and comes back by another undo.

        Raises:
            NotFoundError: absent, malformed or not the owner's.
            NothingToUndoError: the owner cleared nothing in the last 24 hours.
            ConversationBusyError: the running turn takes too long.
            CorruptDocumentError: the archive was changed; nothing is.
        """
        await self.reader.access(conversation_id, owner=owner)
        async with self.lease.holding(conversation_id, principal_id=owner) as claim:
            await self.undo.clearing.finish(claim)
            await self.undo.finish(claim)
            now = self.reader.clock.now()
            if (last := claim.conversation.undoable_clear(owner, now=now)) is None:
                raise NothingToUndoError("no clear of the caller's, or an old one")
            await record_access(self.audit, owner, "undo_clear", conversation=conversation_id)
            # No turn shows how far it is.
            return await self.undo.undo(claim, last, now=now, tell=lambda *_: None)
