"""Reads and writes what belongs to a conversation as a whole: its document, queue, answered ids."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

from pydantic import AwareDatetime

from data_models import errors
from data_models.chart_view import ChartView
from data_models.conversations.claim_decision import find_answer, queue_length
from data_models.conversations.conversation import (
    AnsweredBlob,
    AnsweredMessage,
    Conversation,
    QueuedMessage,
)
from data_models.conversations.incoming_message import IncomingMessage
from data_models.documents import Documents, Stored, parse_document
from data_models.identifiers import ConversationLayout, PatientId, hashed, storage_folder
from data_models.storage.blob_store import BlobStore, put_blob
from data_models.values import Document

_INBOX_TRIES = 200


class ConversationAccessor:
    """The conversation document and the small blobs beside it."""

    def __init__(self, *, documents: Documents) -> None:
        self._documents = documents

    async def read(
        self, conversation_id: str, *, fresh: bool = False
    ) -> Stored[Conversation] | None:
        """Return the conversation document, or None if there is none yet.

        One that was not remembered has everything beside it forgotten: what was remembered alone
        may be older, and a claim on this document would make it trusted.

        Raises:
            CorruptConversationError: it exists but cannot be read.
        """
        name = ConversationLayout.of(conversation_id).conversation
        if not fresh and not self._documents.is_remembered(name):
            self.forget(conversation_id)
        try:
            return await self._documents.read(
                name, Conversation, conversation_id=conversation_id, fresh=fresh
            )
        except errors.CorruptDocumentError as error:
            raise errors.CorruptConversationError(str(error)) from error

    def forget(self, conversation_id: str) -> None:
        """Trust nothing remembered of this conversation: another replica may have written."""
        self._documents.forget(ConversationLayout.of(conversation_id).folder)

    async def write(self, conversation: Conversation, *, etag: str | None) -> str:
        """Create or replace the conversation document; see `Documents.write` for errors."""
        name = ConversationLayout.of(conversation.conversation_id).conversation
        return await self._documents.write(name, conversation, etag=etag)

    async def enqueue(self, queued: QueuedMessage) -> int:
        """Store a message at the first free number from `queued.number` on and return it."""
        layout = ConversationLayout.of(queued.conversation_id)
        for number in range(queued.number, queued.number + _INBOX_TRIES):
            queued.number = number
            try:
                await self._documents.write(layout.inbox(number), queued, etag=None)
            except errors.BlobExistsError:
                continue
            return number
        raise errors.BlobExistsError("no free number in the inbox")

    async def next_in_line(self, conversation: Conversation) -> QueuedMessage | None:
        """Return the queued message that comes next, or None."""
        async for queued in self.list_in_line(conversation):
            return queued
        return None

    async def list_in_line(self, conversation: Conversation) -> AsyncIterator[QueuedMessage]:
        """Yield the queued messages in their order; numbers without a blob are passed."""
        layout = ConversationLayout.of(conversation.conversation_id)
        for number in range(conversation.inbox_head, conversation.inbox_tail):
            stored = await self._documents.read(
                layout.inbox(number),
                QueuedMessage,
                conversation_id=conversation.conversation_id,
                fresh=True,
            )
            if stored is not None:
                yield stored.document

    async def forget_queued(self, conversation_id: str, number: int) -> None:
        """Delete a queued message whose turn is committed."""
        await self._documents.delete(ConversationLayout.of(conversation_id).inbox(number))

    async def find_unannounced(self, conversation: Conversation) -> int:
        """Return the number after the last stored message, counting what died unannounced.

        A message is stored first and counted in `inbox_tail` after; a process may die between.
        """
        layout = ConversationLayout.of(conversation.conversation_id)
        number = conversation.inbox_tail
        while await self._documents.etag_of(layout.inbox(number)) is not None:
            number += 1
        return number

    async def sweep(self, conversation: Conversation) -> None:
        """Delete what a crash may have left: queued messages of turns that are over."""
        layout = ConversationLayout.of(conversation.conversation_id)
        async for row in self._documents.store.list(layout.inbox_prefix):
            if 0 <= layout.inbox_number(row.name) < conversation.inbox_head:
                await self._documents.delete(row.name)

    async def store_answered_page(self, page: AnsweredBlob, number: int) -> None:
        """Store a page of older answered ids; a page left by a crash is replaced."""
        name = ConversationLayout.of(page.conversation_id).answered(number)
        etag = await self._documents.etag_of(name)
        await self._documents.write(name, page, etag=etag)

    async def find_answer(
        self, conversation: Conversation, message_hash: str
    ) -> AnsweredMessage | None:
        """Return what answered this message in the last day, inline or in a page."""
        if (inline := find_answer(conversation, message_hash)) is not None:
            return inline
        for page in reversed(conversation.answered_pages):
            found = await self._find_in_page(
                conversation.conversation_id, page.number, message_hash
            )
            if found is not None:
                return found
        return None

    async def _find_in_page(
        self, conversation_id: str, number: int, message_hash: str
    ) -> AnsweredMessage | None:
        name = ConversationLayout.of(conversation_id).answered(number)
        blob = await self._documents.raw(name)
        # A search in the bytes first: pages are many in a busy conversation, hits are rare.
        if blob is None or message_hash.encode() not in blob:
            return None
        page = parse_document(blob, AnsweredBlob, conversation_id=conversation_id)
        return next((row for row in page.messages if row.message_hash == message_hash), None)


# Two charts side by side, as a user confirmed it: kept beside both and with neither.


class Comparison(Document):
    """`comparisons/{run_id}.json`.

    Attributes:
        patients: Whose charts stand in it, in the order of their columns.
        asked: What the user wanted compared, as typed.
        compared_by: Principal id of who confirmed it.
    """

    run_id: str
    patients: list[PatientId]
    asked: str
    compared_by: str
    compared_at: AwareDatetime
    view: ChartView


class ComparisonAccessor:
    """Keeps comparisons."""

    def __init__(self, *, documents: Documents) -> None:
        self._documents = documents

    async def keep(self, comparison: Comparison) -> None:
        """Store it; one of the same run, of an attempt that died, is written over.

        Raises:
            StoreError: it could not be stored.
        """
        name = ConversationLayout.of(comparison.conversation_id).comparison(comparison.run_id)
        await self._documents.put(name, comparison)


LISTED_CONVERSATIONS = 200


# Which conversations are whose: `users/{hash of owner}/{folder}`, in a container of its own.


class OwnerIndex:
    """An entry per conversation, written before the conversation's first document.

    An entry without a conversation does no harm: the reader passes it over.
    """

    def __init__(self, *, store: BlobStore) -> None:
        self._store = store

    async def add(self, owner: str, conversation_id: str, *, is_listed: bool = True) -> None:
        """Note that `conversation_id` is `owner`'s; repeating it is no error.

        Args:
            is_listed: Whether the owner's list of conversations has it.
        """
        folder = _prefix(owner) if is_listed else f"users/{hashed(owner)}-unlisted/"
        name = f"{folder}{storage_folder(conversation_id)}"
        await put_blob(self._store, name, conversation_id.encode())

    async def read(self, owner: str) -> list[str]:
        """Return the owner's conversation ids, the newest 200, newest first."""
        rows = [row async for row in self._store.list(_prefix(owner))]
        rows.sort(key=lambda row: row.modified_at, reverse=True)
        blobs = [await self._store.read(row.name) for row in rows[:LISTED_CONVERSATIONS]]
        return [blob.data.decode(errors="replace") for blob in blobs if blob is not None]


def _prefix(owner: str) -> str:
    return f"users/{hashed(owner)}/"


_COUNT_TRIES = 50


# Messages that wait for the one before: stored first, counted in after.


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """Puts messages in line, without the claim. Who frees the claim takes the first of them.

    Attributes:
        depth: So many may wait in one conversation.
    """

    conversations: ConversationAccessor
    depth: int

    async def put(self, stored: Stored[Conversation], message: IncomingMessage, run_id: str) -> int:
        """Store `message`, count it in for whoever frees the claim, and return its number.

        Raises:
            TooManyMessagesError: as many wait as may.
            StoreError: it is not stored.
        """
        if queue_length(stored.document) >= self.depth:
            raise errors.TooManyMessagesError(waiting=self.depth)
        queued = QueuedMessage(
            conversation_id=message.conversation_id,
            number=stored.document.inbox_tail,
            run_id=run_id,
            message=message,
        )
        queued.number = await self.conversations.enqueue(queued)
        try:
            await self._count_in(stored, queued)
        except errors.StoreError:
            # The sender is told that it was not stored; then it must not run later.
            with suppress(errors.StoreError):
                await self.conversations.forget_queued(message.conversation_id, queued.number)
            raise
        return queued.number

    async def take_back(self, conversation_id: str, run_id: str, *, owner: str) -> bool:
        """Delete the message of a run of the owner's that waits, so that no replica answers it.

        False where none waits by that id.

        Raises:
            StoreError: it may still be there.
        """
        stored = await self.conversations.read(conversation_id, fresh=True)
        if stored is None or stored.document.owner != owner:
            return False
        async for queued in self.conversations.list_in_line(stored.document):
            if queued.run_id == run_id:
                await self.conversations.forget_queued(conversation_id, queued.number)
                return True
        return False

    async def _count_in(self, stored: Stored[Conversation], queued: QueuedMessage) -> None:
        conversation_id = stored.document.conversation_id
        for _ in range(_COUNT_TRIES):
            conversation = stored.document
            if queued.number < conversation.inbox_head and not await self._move(
                queued, conversation
            ):
                return
            conversation.inbox_tail = max(conversation.inbox_tail, queued.number + 1)
            try:
                await self.conversations.write(conversation, etag=stored.etag)
            except errors.BlobChangedError:
                newer = await self.conversations.read(conversation_id, fresh=True)
                if newer is None:
                    break
                stored = newer
                continue
            # Written without the claim: the other documents may be newer than what we remember.
            self.conversations.forget(conversation_id)
            return
        raise errors.StoreUnavailableError("the conversation document changes too fast")

    async def _move(self, queued: QueuedMessage, conversation: Conversation) -> bool:
        """Move a message that was stored where the queue has passed already; False if it ran.

        The number was taken from an older state, and whoever had it before is answered and gone.
        """
        running = conversation.running_turn
        if running is not None and running.run_id == queued.run_id:
            return False
        message_hash = queued.message.message_hash
        if await self.conversations.find_answer(conversation, message_hash) is not None:
            return False
        await self.conversations.forget_queued(conversation.conversation_id, queued.number)
        queued.number = conversation.inbox_tail
        queued.number = await self.conversations.enqueue(queued)
        return True
