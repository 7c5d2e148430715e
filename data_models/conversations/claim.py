"""The claim on a conversation: one turn at a time on any number of replicas."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime

from data_models import errors
from data_models.clock import Clock
from data_models.conversations.claim_decision import ClaimTimes, with_answer
from data_models.conversations.conversation import AnsweredMessage, Conversation, RunningTurn
from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.documents import Stored
from data_models.identifiers import PatientId

Change = Callable[[Conversation], None]
_MERGE_TRIES = 8


@dataclass(frozen=True, slots=True)
class Successor:
    """The queued message that is claimed in the same write that frees its predecessor."""

    running: RunningTurn
    number: int


@dataclass(kw_only=True, eq=False, repr=False)
class Claim:
    """The right to write in one conversation, held by one turn.

    Every change of the conversation document goes through here. A write that meets another
    version reads it: if the claim is still ours (somebody rang the inbox bell), the change is
    applied to what is there; if not, `ClaimLostError` ends the turn and nothing more is written.

    Attributes:
        conversation: The document as last written; change it only through `update`.
        was_known: Whether this replica remembered the conversation from an earlier turn.
        message: The message that is being answered.
        is_lost: Whether a write found that another replica took the turn over.
    """

    conversations: ConversationAccessor
    conversation: Conversation
    etag: str
    clock: Clock
    times: ClaimTimes
    was_known: bool

    def __post_init__(self) -> None:
        if self.conversation.running_turn is None:
            raise errors.ClaimLostError("the document names no running turn")
        self._lock = asyncio.Lock()
        self._running = self.conversation.running_turn
        self.message = self._running.message
        self.is_lost = False

    @property
    def run_id(self) -> str:
        """The run that holds the claim."""
        return self._running.run_id

    @property
    def epoch(self) -> int:
        """The epoch this turn reads and writes in."""
        return self.conversation.epoch

    async def update(self, change: Change) -> None:
        """Apply `change` to the conversation document and store it.

        Raises:
            ClaimLostError: another replica took the turn over; the change was not stored.
        """
        async with self._lock:
            for _ in range(_MERGE_TRIES):
                draft = self.conversation.draft()
                change(draft)
                draft.updated_at = self.clock.now()
                if await self._store_draft(draft):
                    return
            raise errors.StoreUnavailableError("the conversation document changes too fast")

    async def confirm(self) -> None:
        """Renew the claim now.

        Raises:
            ClaimLostError: another replica took the turn over.
        """
        await self.update(self._extend)

    async def hold(self) -> None:
        """Return if this turn may write: the claim is alive, or could be renewed.

        A process that was paused learns here that it was taken for dead.

        Raises:
            ClaimLostError: another replica took the turn over.
        """
        running = self.conversation.running_turn
        if running is None or running.expires_at <= self.clock.now():
            await self.confirm()

    async def name_patient(self, patient_id: PatientId | None) -> None:
        """Record the decided patient, so that whoever takes over rewrites the right document."""

        def change(draft: Conversation) -> None:
            if draft.running_turn is not None:
                draft.running_turn.patient_id = patient_id
                draft.running_turn.decided = True

        await self.update(change)

    async def release(
        self,
        answered: AnsweredMessage | None,
        *,
        change: Change = lambda _: None,
        successor: Successor | None = None,
    ) -> "Claim | None":
        """Commit the turn as answered and free the conversation, or hand it to `successor`.

        One write does both, so a queued message never waits behind a free conversation.
        `answered` is None for a turn that was already answered before. Returns the
        successor's claim.
        """
        now = self.clock.now()
        if answered is not None:
            number = self.conversation.next_answered_page
            page = with_answer(self.conversation.draft(), answered, now=now)
            if page is not None:
                await self.conversations.store_answered_page(page, number)

        def commit(draft: Conversation) -> None:
            change(draft)
            if answered is not None:
                with_answer(draft, answered, now=now)
            draft.running_turn = None
            if successor is not None:
                draft.running_turn, draft.inbox_head = successor.running, successor.number + 1

        try:
            await self.update(commit)
        except errors.ClaimLostError:
            # Somebody else's claim may have followed our own write, whose answer was lost.
            if answered is None or not await self._is_stored(answered):
                raise
        return None if successor is None else self._handed_over(successor)

    def _handed_over(self, successor: "Successor") -> "Claim | None":
        running = self.conversation.running_turn
        if running is None or running.run_id != successor.running.run_id:
            return None
        return replace(self, was_known=True)

    @asynccontextmanager
    async def renewing(self, on_lost: Callable[[], object] = lambda: None) -> AsyncIterator[None]:
        """Renew the claim in the background; call `on_lost` when it turns out to be lost.

        Whoever does not ask for that is told by the next write.
        """
        task = asyncio.create_task(self._renew(on_lost))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _renew(self, on_lost: Callable[[], object]) -> None:
        while True:
            await asyncio.sleep(self.times.renew_every.total_seconds())
            try:
                await self.update(self._extend)
            except errors.StoreUnavailableError:
                continue  # the lease is three renewals long
            except errors.StoreError:
                self.is_lost = True
                on_lost()
                return

    def _extend(self, draft: Conversation) -> None:
        if draft.running_turn is not None:
            draft.running_turn.expires_at = lease_end(self.clock.now(), self.times)

    async def _store_draft(self, draft: Conversation) -> bool:
        try:
            self.etag = await self.conversations.write(draft, etag=self.etag)
        except errors.BlobChangedError:
            await self._look_again()
            return False
        self.conversation = draft
        return True

    async def _look_again(self) -> None:
        stored = await self.conversations.read(self.conversation.conversation_id, fresh=True)
        running = stored.document.running_turn if stored is not None else None
        ours = (self._running.run_id, self._running.replica)
        if stored is None or running is None or (running.run_id, running.replica) != ours:
            self.is_lost = True
            raise errors.ClaimLostError("another replica holds the claim")
        self._see(stored)

    async def _is_stored(self, answered: AnsweredMessage) -> bool:
        stored = await self.conversations.read(self.conversation.conversation_id, fresh=True)
        if stored is None or answered not in stored.document.answered:
            return False
        self._see(stored)
        return True

    def _see(self, stored: Stored[Conversation]) -> None:
        if stored.etag is not None:  # it has one: it was read
            self.conversation, self.etag = stored.document, stored.etag


def lease_end(now: datetime, times: ClaimTimes) -> datetime:
    """Return when a claim made or renewed at `now` expires."""
    return now + times.lease


async def take_claim(
    *,
    conversations: ConversationAccessor,
    conversation: Conversation,
    etag: str | None,
    running: RunningTurn,
    clock: Clock,
    times: ClaimTimes,
    was_known: bool,
) -> Claim | None:
    """Claim the conversation for `running`; None if somebody else was faster.

    The one write is the lock, the durable record of the user's message, and the check that
    what this replica remembers is fresh.
    """
    conversation.running_turn = running
    conversation.updated_at = clock.now()
    try:
        new_etag = await conversations.write(conversation, etag=etag)
    except (errors.BlobChangedError, errors.BlobExistsError):
        return None
    return Claim(
        conversations=conversations,
        conversation=conversation,
        etag=new_etag,
        clock=clock,
        times=times,
        was_known=was_known,
    )
