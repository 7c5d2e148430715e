"""Claims conversations, and takes dead turns over."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from data_models.clock import Clock
from data_models.conversations import claim_decision
from data_models.conversations.claim import Claim, Successor, lease_end, take_claim
from data_models.conversations.conversation import (
    AnsweredMessage,
    Conversation,
    OpenQuestion,
    RunningTurn,
)
from data_models.conversations.conversation_accessor import ConversationAccessor, Inbox, OwnerIndex
from data_models.conversations.incoming_message import IncomingMessage
from data_models.documents import Stored
from data_models.errors import BlobChangedError, NotFoundError
from data_models.patient_context_models import PatientContextRegistryAccessor
from data_models.values import Newest
from services.basis import Replica
from services.conversations.earlier_turns import Takeover

SERVED_CONVERSATIONS = 20_000


@dataclass(kw_only=True, eq=False)
class Claimant:
    """What one replica does at the door of a conversation. Holds nothing of any turn.

    Attributes:
        inbox: Where a message is put that meets a running turn.
    """

    conversations: ConversationAccessor
    registries: PatientContextRegistryAccessor
    takeover: Takeover
    owners: OwnerIndex
    replica: Replica
    clock: Clock
    times: claim_decision.ClaimTimes
    queue_depth: int = 20
    is_promised: Callable[[IncomingMessage], bool] = lambda _: False

    def __post_init__(self) -> None:
        self.inbox = Inbox(conversations=self.conversations, depth=self.queue_depth)
        self._served = Newest[str, None](limit=SERVED_CONVERSATIONS)

    async def look(self, message: IncomingMessage, *, fresh: bool) -> Stored[Conversation]:
        """Return the conversation of `message`, a new one with no ETag if there is none.

        Raises:
            NotFoundError: it is somebody else's.
        """
        if fresh:
            self.conversations.forget(message.conversation_id)
        stored = await self.conversations.read(message.conversation_id)
        if stored is not None:
            if stored.document.owner != message.owner:
                raise NotFoundError("conversation of somebody else")
            return stored
        now = self.clock.now()
        if not message.is_delivered:
            await self.owners.add(
                message.owner, message.conversation_id, is_listed=not message.is_of_rounds
            )
        new = Conversation(
            conversation_id=message.conversation_id,
            owner=message.owner,
            channel=message.channel_id,
            created_at=now,
            updated_at=now,
        )
        return Stored(new, None)

    def state(self, conversation: Conversation, *, runs_here: bool) -> claim_decision.ClaimState:
        """Return whether a turn may begin; our own claim without a turn is abandoned."""
        running = conversation.running_turn
        if running and running.purpose == "turn" and running.replica == self.replica.name:
            return "held" if runs_here else "abandoned"
        return claim_decision.claim_state(
            running, now=self.clock.now(), times=self.times, is_dead=self.replica.is_dead
        )

    def must_wait(self, conversation: Conversation) -> bool:
        """Whether a new message waits behind another replica's turn, or behind others in line."""
        held = self.state(conversation, runs_here=False) == "held"
        return held or claim_decision.queue_length(conversation) > 0

    def run_elsewhere(self, conversation: Conversation, message: IncomingMessage) -> str | None:
        """Return the run in which another replica answers this very message; None for none."""
        turn = conversation.running_turn
        if turn is None or turn.purpose != "turn" or turn.message.is_delivered:
            return None
        is_same = turn.message.message_hash == message.message_hash
        is_held = self.state(conversation, runs_here=False) == "held"
        return turn.run_id if is_same and is_held else None

    async def find_answer(
        self, conversation: Conversation, message: IncomingMessage
    ) -> AnsweredMessage | None:
        """Return what answered this message within the last day."""
        return await self.conversations.find_answer(conversation, message.message_hash)

    async def claim(
        self, stored: Stored[Conversation], message: IncomingMessage, run_id: str
    ) -> Claim | None:
        """Claim for `message`, taking over from a dead turn; None if somebody comes before it."""
        if (free := await self._free(stored)) is None:
            return None
        # What the dead replica had stored and not counted.
        if claim_decision.queue_length(free.document) > 0:
            await self._bury(free)
            return None
        running = await self._running(free.document, message, run_id)
        return await self._claim(free, running, is_takeover=free is not stored)

    async def claim_next(self, stored: Stored[Conversation]) -> Claim | None:
        """Claim for the message that waits longest; None if none waits or somebody was faster."""
        if (free := await self._free(stored)) is None:
            return None
        if (successor := await self.successor(free.document)) is None:
            if free is not stored or claim_decision.queue_length(free.document) > 0:
                # Numbers whose messages were taken back must not fill the queue.
                free.document.inbox_head = free.document.inbox_tail
                await self._bury(free)
            return None
        free.document.inbox_head = successor.number + 1
        return await self._claim(free, successor.running, is_takeover=free is not stored)

    async def claim_for_upkeep(
        self, conversation_id: str, message: IncomingMessage, run_id: str
    ) -> Claim | None:
        """Claim for work that answers nobody; None while a turn runs or messages wait.

        Raises:
            NotFoundError: there is no such conversation.
        """
        stored = await self.conversations.read(conversation_id, fresh=True)
        if stored is None:
            raise NotFoundError("no such conversation")
        self.conversations.forget(conversation_id)
        if self.state(stored.document, runs_here=True) == "held":
            return None
        if (free := await self._free(stored)) is None:
            return None
        if claim_decision.queue_length(free.document) > 0:
            if free is not stored:
                await self._bury(free)
            return None
        running = await self._running(free.document, message, run_id)
        running.purpose = "upkeep"
        return await self._claim(free, running, is_takeover=True)

    async def resume(self, stored: Stored[Conversation]) -> Claim | None:
        """Take a dead turn over in order to answer its message, under the run id it had.

        None if it must not run again (`may_run_again`), had ended, or somebody was faster.
        """
        dead = stored.document.running_turn
        if dead is None or not claim_decision.may_run_again(
            stored.document, dead, is_promised=self.is_promised(dead.message)
        ):
            return None
        free, again = Stored(stored.document.draft(), stored.etag), self._ours(dead)
        again.attempts += 1
        if (claim := await self._claim(free, again, is_takeover=True)) is None:
            return None
        answered = await self.takeover.fence_again(claim.conversation, dead, self.clock.now())
        tail = await self.conversations.find_unannounced(claim.conversation)
        await claim.update(partial(_count_until, tail=tail))
        await self.conversations.sweep(claim.conversation)
        if answered is None:
            return claim
        await claim.release(answered, change=lambda draft: draft.keep_questions([]))
        return None

    async def successor(self, conversation: Conversation) -> Successor | None:
        """Return the claim of the message that comes next."""
        if (queued := await self.conversations.next_in_line(conversation)) is None:
            return None
        running = await self._running(conversation, queued.message, queued.run_id)
        return Successor(running=running, number=queued.number)

    async def _free(self, stored: Stored[Conversation]) -> Stored[Conversation] | None:
        """Return the conversation without a running turn, after taking a dead one over.

        The claim comes into our name first, so that of two replicas one takes over. What is
        returned is not stored yet. None if somebody was faster.
        """
        if (dead := stored.document.running_turn) is None:
            return stored
        conversation = stored.document.draft()
        conversation.running_turn = self._ours(dead)
        try:
            etag = await self.conversations.write(conversation, etag=stored.etag)
        except BlobChangedError:
            return None
        await self._settle(conversation, dead)
        conversation.running_turn = None
        return Stored(conversation, etag)

    def _ours(self, dead: RunningTurn) -> RunningTurn:
        expires_at = lease_end(self.clock.now(), self.times)
        return dead.model_copy(update={"replica": self.replica.name, "expires_at": expires_at})

    async def _settle(self, conversation: Conversation, dead: RunningTurn) -> None:
        """Keep the dead turn's message, find what was queued uncounted, sweep what is done."""
        questions = list[OpenQuestion]()
        if dead.purpose == "upkeep":
            await self.takeover.fence_documents(conversation, dead)
        elif await self.conversations.find_answer(conversation, dead.message.message_hash) is None:
            taken = await self.takeover.fence(conversation, dead, self.clock.now())
            conversation.answered.append(taken.answered)
            if taken.interruption is not None:
                conversation.interruption = taken.interruption
                questions = conversation.questions_after(dead)
        conversation.keep_questions(questions)
        conversation.inbox_tail = await self.conversations.find_unannounced(conversation)
        await self.conversations.sweep(conversation)

    async def _bury(self, free: Stored[Conversation]) -> None:
        """Store that nobody holds the conversation any more."""
        with suppress(BlobChangedError):
            await self.conversations.write(free.document, etag=free.etag)
        self.conversations.forget(free.document.conversation_id)

    async def _claim(
        self, free: Stored[Conversation], running: RunningTurn, *, is_takeover: bool
    ) -> Claim | None:
        conversation = free.document
        served = conversation.conversation_id in self._served
        claim = await take_claim(
            conversations=self.conversations,
            conversation=conversation,
            etag=free.etag,
            running=running,
            clock=self.clock,
            times=self.times,
            was_known=served and not is_takeover and free.etag is not None,
        )
        if claim is not None:
            self._served[conversation.conversation_id] = None
        return claim

    async def _running(
        self, conversation: Conversation, message: IncomingMessage, run_id: str
    ) -> RunningTurn:
        registry = await self.registries.read(
            conversation.conversation_id, epoch=conversation.epoch
        )
        now = self.clock.now()
        return RunningTurn(
            run_id=run_id,
            message=message,
            replica=self.replica.name,
            patient_id=registry.document.active_patient_id,
            started_at=now,
            expires_at=lease_end(now, self.times),
        )


def _count_until(draft: Conversation, *, tail: int) -> None:
    draft.inbox_tail = max(draft.inbox_tail, tail)
