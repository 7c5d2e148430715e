"""Clears a conversation: archive and verify all, commit, delete; undoes it (pages 1.8, 10.4)."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar

from pydantic import BaseModel

from data_models.chat_context import ChatContext
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.conversations.claim import Claim
from data_models.conversations.conversation import Conversation, LastClear
from data_models.errors import CorruptDocumentError, StoreError, StoreUnavailableError
from data_models.identifiers import ConversationLayout, timestamp
from data_models.storage.blob_store import Blob, BlobStore, put_blob
from data_models.values import read_object, read_value

Result = TypeVar("Result")
Tell = Callable[[int, int], None]
_AT_ONCE = 16
_TOLD_EVERY = 250


@dataclass(frozen=True, slots=True)
class Archived:
    """What a clear left behind."""

    timestamp: str
    documents: int

    @property
    def summary(self) -> str:
        """What the user is told."""
        count = "1 document is" if self.documents == 1 else f"{self.documents} documents are"
        return f"Cleared. {count} archived; we start afresh."


class ManifestRow(BaseModel):
    """One archived document, as it was and where it is."""

    name: str
    original: str
    size_bytes: int
    sha256: str


class _Manifest(BaseModel):
    """`manifest.json` of an archive."""

    conversation: str
    archived_at: str
    documents: list[ManifestRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearing:
    """Archives a conversation and starts it anew, or brings back what was archived last.

    The caller holds the claim, and for an undo has asked who may. The commit is the write that
    raises the epoch: before it nothing has changed, after it the old documents are invisible,
    whether or not they are deleted, or copied back, yet. A replica that dies after it leaves the
    rest to the next turn. An archive stays.
    """

    store: BlobStore
    contexts: ChatContextAccessor

    async def clear(self, claim: Claim, *, now: datetime, tell: Tell) -> Archived:
        """Archive everything, raise the epoch, delete the originals.

        Args:
            claim: Ours, for as long as this takes.
            now: Names the archive.
            tell: Called with (done, all) after every 250 documents.

        Raises:
            StoreError: nothing is cleared, or (after the commit) the deletes are left for the
                next turn.
        """
        layout = ConversationLayout.of(claim.conversation.conversation_id)
        names = await self._originals(layout)
        has_gone_on = await self._has_more(claim, names)
        ts = await self._free_timestamp(layout, now)
        archived = {name: layout.archived(name, ts) for name in names}
        await claim.hold()
        rows = await self._copy_all(archived, tell)
        if layout.context(None) not in archived:
            rows.append(await self._archive_absent_session(claim, layout, ts))
        manifest = _Manifest(conversation=layout.folder, archived_at=ts, documents=rows)
        await self.store.create(layout.manifest(ts), manifest.model_dump_json(indent=1).encode())
        # A second clear, of nothing, is not what an undo is to bring back.
        last = claim.conversation.last_clear
        if last is None or has_gone_on:
            last = LastClear(timestamp=ts, by=claim.message.sender.principal_id, at=now)
        await claim.update(partial(_raise_epoch, epoch=claim.epoch + 1, ts=ts, last=last))
        await self.finish(claim)
        return Archived(timestamp=ts, documents=len(rows))

    async def finish(self, claim: Claim) -> None:
        """Do what a committed clear, or a committed undo, has not done yet; repeatable."""
        layout = ConversationLayout.of(claim.conversation.conversation_id)
        if (cleared := claim.conversation.pending_clear) is not None:
            await self._finish_clear(claim, layout, cleared)
        if (restored := claim.conversation.pending_restore) is not None:
            await self._finish_undo(claim, layout, restored)

    async def _finish_clear(self, claim: Claim, layout: ConversationLayout, ts: str) -> None:
        """Delete what was archived, and write the empty session."""
        conversation = claim.conversation
        rows = await manifest_rows(self.store, layout, ts)
        archived = {row.original for row in rows}
        # A journal is a copy of what is archived.
        leaving = [
            name
            for name in await self._names(layout)
            if name in archived or layout.is_journal(name)
        ]
        await run_in_parallel(
            [self._delete(claim, name) for name in leaving if name != layout.context(None)]
        )
        self.contexts.forget(conversation.conversation_id)
        await claim.hold()
        await self.contexts.renew_session(conversation.conversation_id, epoch=conversation.epoch)
        await claim.update(_deletes_done)

    async def _copy_all(self, archived: dict[str, str], tell: Tell) -> list[ManifestRow]:
        done = 0

        async def copied(name: str, target: str) -> ManifestRow:
            nonlocal done
            row = await self._copy(name, target)
            done += 1
            if done % _TOLD_EVERY == 0:
                tell(done, len(archived))
            return row

        return await run_in_parallel([copied(*pair) for pair in archived.items()])

    async def _delete(self, claim: Claim, name: str) -> None:
        await claim.hold()
        await self.store.delete(name)

    async def has_gone_on(self, claim: Claim) -> bool:
        """Whether anything is kept that a clear now would archive, an empty session apart."""
        layout = ConversationLayout.of(claim.conversation.conversation_id)
        return await self._has_more(claim, await self._originals(layout))

    async def _has_more(self, claim: Claim, originals: Sequence[str]) -> bool:
        """Whether `originals`, what a clear archives, are more than an empty session."""
        conversation = claim.conversation
        session_of = ConversationLayout.of(conversation.conversation_id).context(None)
        if any(name != session_of for name in originals):
            return True
        try:
            session = await self.contexts.read(
                conversation.conversation_id, None, epoch=conversation.epoch
            )
        except CorruptDocumentError:
            return True  # something is there
        return bool(session.document.chat_history)

    async def _originals(self, layout: ConversationLayout) -> list[str]:
        # By listing, so that documents the registry does not know are archived too.
        return [name for name in await self._names(layout) if not layout.survives_clear(name)]

    async def _names(self, layout: ConversationLayout) -> list[str]:
        return [row.name async for row in self.store.list(layout.prefix)]

    async def _free_timestamp(self, layout: ConversationLayout, now: datetime) -> str:
        prefixes = {
            row.name.removeprefix(layout.archive_prefix).split("/")[0]
            async for row in self.store.list(layout.archive_prefix)
        }
        ts, number = timestamp(now), 1
        while (ts if number == 1 else f"{ts}-{number}") in prefixes:
            number += 1
        return ts if number == 1 else f"{ts}-{number}"

    async def _copy(self, name: str, target: str) -> ManifestRow:
        if (original := await self.store.read(name)) is None:
            raise StoreUnavailableError("a document left while it was archived")
        # A copy that exists is our own, acknowledged late: it is compared like any other.
        await put_blob(self.store, target, original.data)
        copy = await self.store.read(target)
        if copy is None or copy.data != original.data:
            raise StoreUnavailableError("an archived copy does not match its original")
        return _manifest_row(name, target, copy)

    async def _archive_absent_session(
        self, claim: Claim, layout: ConversationLayout, ts: str
    ) -> ManifestRow:
        empty = ChatContext(conversation_id=claim.conversation.conversation_id, epoch=claim.epoch)
        name = layout.context(None)
        target, data = layout.archived(name, ts), empty.model_dump_json().encode()
        return _manifest_row(name, target, Blob(data, await self.store.create(target, data)))

    async def undo(self, claim: Claim, last: LastClear, *, now: datetime, tell: Tell) -> int:
        """Copy the archive back and return of how many documents; what was said since is archived.

        Raises:
            CorruptDocumentError: the archive is not what the clear had made; nothing was changed.
            StoreError: nothing is restored, or (after the commit) the rest is left to the next
                turn.
        """
        layout = ConversationLayout.of(claim.conversation.conversation_id)
        rows = await manifest_rows(self.store, layout, last.timestamp)
        if not rows:
            raise CorruptDocumentError("the archive of the last clear is gone")
        await run_in_parallel([self._read_archived(layout, row, last.timestamp) for row in rows])
        later: LastClear | None = None
        if await self.has_gone_on(claim):
            await self.clear(claim, now=now, tell=tell)
            later = claim.conversation.last_clear
        change = partial(_note_begun, epoch=claim.epoch + 1, ts=last.timestamp, later=later)
        await claim.update(change)
        await self.finish(claim)
        return len(rows)

    async def _finish_undo(self, claim: Claim, layout: ConversationLayout, ts: str) -> None:
        conversation = claim.conversation
        rows = await manifest_rows(self.store, layout, ts)
        await claim.hold()
        await run_in_parallel(
            [self._put(layout, row, ts, epoch=conversation.epoch) for row in rows]
        )
        self.contexts.forget(conversation.conversation_id)
        await claim.update(_note_done)

    async def _read_archived(self, layout: ConversationLayout, row: ManifestRow, ts: str) -> bytes:
        blob = await self.store.read(layout.archived(row.original, ts))
        if blob is None or hashlib.sha256(blob.data).hexdigest() != row.sha256:
            raise CorruptDocumentError("an archived document is not as the clear had left it")
        return blob.data

    async def _put(
        self, layout: ConversationLayout, row: ManifestRow, ts: str, *, epoch: int
    ) -> None:
        data = _of_epoch(await self._read_archived(layout, row, ts), epoch)
        if (there := await self.store.read(row.original)) is None:
            await put_blob(self.store, row.original, data)  # one may be ours, acknowledged late
        elif _epoch_of(there.data) not in (None, epoch):
            await self.store.replace(row.original, data, etag=there.etag)


async def manifest_rows(
    store: BlobStore, layout: ConversationLayout, ts: str
) -> Sequence[ManifestRow]:
    """Return what the clear at `ts` has a verified copy of; nothing where that is deleted.

    Raises:
        CorruptDocumentError: the manifest cannot be read.
    """
    blob = await store.read(layout.manifest(ts))
    return () if blob is None else read_value(blob.data, _Manifest).documents


async def run_in_parallel(work: Sequence[Coroutine[None, None, Result]]) -> list[Result]:
    """Return the results in order, 16 under way at once; the first error ends all."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(step: Coroutine[None, None, Result]) -> Result:
        async with slots:
            return await step

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(step)) for step in work]
    except* StoreError as errors:
        raise _first(errors) from None
    return [task.result() for task in tasks]


def _first(errors: BaseExceptionGroup[StoreError]) -> StoreError:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if not isinstance(error, StoreError):
        raise error
    return error


def _manifest_row(name: str, target: str, copy: Blob) -> ManifestRow:
    return ManifestRow(
        name=target.rpartition("/")[2],
        original=name,
        size_bytes=len(copy.data),
        sha256=hashlib.sha256(copy.data).hexdigest(),
    )


def _raise_epoch(draft: Conversation, *, epoch: int, ts: str, last: LastClear) -> None:
    draft.epoch, draft.pending_clear, draft.last_clear = epoch, ts, last
    draft.keep_questions([])
    if draft.running_turn is not None:
        # The patient of before is archived: should this turn die now, nothing names it anew.
        draft.running_turn.patient_id, draft.running_turn.decided = None, True


def _deletes_done(draft: Conversation) -> None:
    draft.pending_clear = None


def _of_epoch(data: bytes, epoch: int) -> bytes:
    """Return a document as of another epoch; whatever else it is stays as it is."""
    document = read_object(data) or {}  # else a file, or damaged before: it comes back as it was
    if "epoch" not in document:
        return data
    return json.dumps({**document, "epoch": epoch}, separators=(",", ":")).encode()


def _epoch_of(data: bytes) -> int | None:
    found = (read_object(data) or {}).get("epoch")
    return found if isinstance(found, int) else None


def _note_begun(draft: Conversation, *, epoch: int, ts: str, later: LastClear | None) -> None:
    draft.epoch, draft.pending_restore, draft.last_clear = epoch, ts, later
    draft.keep_questions([])


def _note_done(draft: Conversation) -> None:
    draft.pending_restore = None
