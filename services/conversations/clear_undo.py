"""Undoes the last clear: its archive is copied back into a new epoch (spec page 10.4)."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from data_models.conversations.claim import Claim
from data_models.conversations.conversation import Conversation, LastClear
from data_models.errors import CorruptDocumentError
from data_models.layout import ConversationLayout
from data_models.storage.blob_changes import put_blob
from services.conversations.clearing import (
    Clearing,
    ManifestRow,
    Tell,
    manifest_rows,
    run_in_parallel,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearUndo:
    """Brings back what a clear archived. The caller holds the claim, and has asked who may.

    The commit is the write that raises the epoch and names the archive: a replica that dies after
    it leaves the rest to the next turn. The archive stays.
    """

    clearing: Clearing

    async def undo(self, claim: Claim, last: LastClear, *, now: datetime, tell: Tell) -> int:
        """Copy the archive back and return of how many documents; what was said since is archived.

        Raises:
            CorruptDocumentError: the archive is not what the clear had made; nothing was changed.
            StoreError: nothing is restored, or (after the commit) the rest is left to the next
                turn.
        """
        layout = ConversationLayout.of(claim.conversation.conversation_id)
        rows = await manifest_rows(self.clearing.store, layout, last.timestamp)
        if not rows:
            raise CorruptDocumentError("the archive of the last clear is gone")
        await run_in_parallel([self._read_archived(layout, row, last.timestamp) for row in rows])
        later: LastClear | None = None
        if await self.clearing.has_gone_on(claim):
            await self.clearing.clear(claim, now=now, tell=tell)
            later = claim.conversation.last_clear
        change = partial(_note_begun, epoch=claim.epoch + 1, ts=last.timestamp, later=later)
        await claim.update(change)
        await self.finish(claim)
        return len(rows)

    async def finish(self, claim: Claim) -> None:
        """Copy back what a committed undo has not copied yet; repeatable."""
        conversation = claim.conversation
        if (ts := conversation.pending_restore) is None:
            return
        layout = ConversationLayout.of(conversation.conversation_id)
        rows = await manifest_rows(self.clearing.store, layout, ts)
        await claim.hold()
        await run_in_parallel(
            [self._put(layout, row, ts, epoch=conversation.epoch) for row in rows]
        )
        self.clearing.contexts.forget(conversation.conversation_id)
        await claim.update(_note_done)

    async def _read_archived(self, layout: ConversationLayout, row: ManifestRow, ts: str) -> bytes:
        blob = await self.clearing.store.read(layout.archived(row.original, ts))
        if blob is None or hashlib.sha256(blob.data).hexdigest() != row.sha256:
            raise CorruptDocumentError("an archived document is not as the clear had left it")
        return blob.data

    async def _put(
        self, layout: ConversationLayout, row: ManifestRow, ts: str, *, epoch: int
    ) -> None:
        data = _of_epoch(await self._read_archived(layout, row, ts), epoch)
        if (there := await self.clearing.store.read(row.original)) is None:
            await put_blob(
                self.clearing.store, row.original, data
            )  # one may be ours, acknowledged late
        elif _epoch_of(there.data) not in (None, epoch):
            await self.clearing.store.replace(row.original, data, etag=there.etag)


def _of_epoch(data: bytes, epoch: int) -> bytes:
    """Return a document as of another epoch; whatever else it is stays as it is."""
    document = _document(data)
    if "epoch" not in document:
        return data
    return json.dumps({**document, "epoch": epoch}, separators=(",", ":")).encode()


def _epoch_of(data: bytes) -> int | None:
    found = _document(data).get("epoch")
    return found if isinstance(found, int) else None


def _document(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        return {}  # a file, or damaged when it was archived: it comes back as it was
    return found if isinstance(found, dict) else {}


def _note_begun(draft: Conversation, *, epoch: int, ts: str, later: LastClear | None) -> None:
    draft.epoch, draft.pending_restore, draft.last_clear = epoch, ts, later
    draft.keep_questions([])


def _note_done(draft: Conversation) -> None:
    draft.pending_restore = None
