"""The messages of a conversation that wait for the one before: stored first, counted in after."""

from contextlib import suppress
from dataclasses import dataclass

from data_models import errors
from data_models.conversations.claim_decision import queue_length
from data_models.conversations.conversation import Conversation, QueuedMessage
from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.conversations.incoming_message import IncomingMessage
from data_models.documents import Stored

_COUNT_TRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """Puts messages in line, without the claim. Who frees the claim takes the first of them.

    Attributes:
        depth: So many may wait in one conversation.
    """

    conversations: ConversationAccessor
    depth: int

    async def put(
        self, stored: Stored[Conversation], message: IncomingMessage, run_id: str
    ) -> None:
        """Store `message` and count it in, so that whoever frees the claim finds it.

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

    async def take_back(self, conversation_id: str, run_id: str) -> None:
        """Delete the message of a run that waits, so that no replica answers it, whatever dies.

        Raises:
            StoreError: it may still be there.
        """
        if (stored := await self.conversations.read(conversation_id, fresh=True)) is None:
            return
        async for queued in self.conversations.list_in_line(stored.document):
            if queued.run_id == run_id:
                await self.conversations.forget_queued(conversation_id, queued.number)

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
