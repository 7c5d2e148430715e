"""Claims conversations, queues what meets a running turn, takes dead turns over."""

from collections import OrderedDict
from collections.abc import Callable

from data_models.claim import Claim, Successor, claimed, lease_end
from data_models.claim_decision import (
    ClaimState,
    ClaimTimes,
    claim_state,
    queue_length,
)
from data_models.clock import Clock
from data_models.conversation import AnsweredMessage, Conversation, QueuedMessage, RunningTurn
from data_models.conversation_accessor import ConversationAccessor
from data_models.documents import Stored
from data_models.errors import (
    BlobChangedError,
    NotFoundError,
    StoreUnavailableError,
    TooManyMessagesError,
)
from data_models.incoming_message import IncomingMessage
from data_models.patient_context_registry_accessor import PatientContextRegistryAccessor
from services.conversations.owner_index import OwnerIndex
from services.conversations.takeover import Takeover
from services.replica import Replica

_BELL_TRIES = 50
SERVED_CONVERSATIONS = 20_000


class RecentNames:
    """The names seen last, bounded."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._names: OrderedDict[str, None] = OrderedDict()

    def seen(self, name: str) -> bool:
        """Return whether `name` was seen before, and see it."""
        before = name in self._names
        self._names[name] = None
        self._names.move_to_end(name)
        if len(self._names) > self._limit:
            self._names.popitem(last=False)
        return before


class Claimant:
    """What one replica does at the door of a conversation. Holds nothing of any turn."""

    def __init__(
        self,
        *,
        conversations: ConversationAccessor,
        registries: PatientContextRegistryAccessor,
        takeover: Takeover,
        owners: OwnerIndex,
        replica: Replica,
        clock: Clock,
        times: ClaimTimes,
        queue_depth: int = 20,
    ) -> None:
        self._conversations = conversations
        self._registries = registries
        self._takeover = takeover
        self._owners = owners
        self._replica = replica
        self._clock = clock
        self._times = times
        self._queue_depth = queue_depth
        self._served = RecentNames(limit=SERVED_CONVERSATIONS)

    async def look(self, message: IncomingMessage, *, fresh: bool) -> Stored[Conversation]:
        """Return the conversation of `message`, a new one with no ETag if there is none.

        Raises:
            NotFoundError: it is somebody else's.
        """
        if fresh:
            self._conversations.forget(message.conversation_id)
        stored = await self._conversations.read(message.conversation_id)
        if stored is not None:
            if stored.document.owner != message.owner:
                raise NotFoundError("conversation of somebody else")
            return stored
        now = self._clock.now()
        if message.channel == "web":
            await self._owners.add(message.owner, message.conversation_id)
        new = Conversation(
            conversation_id=message.conversation_id,
            owner=message.owner,
            channel=message.channel_id,
            created_at=now,
            updated_at=now,
        )
        return Stored(new, None)

    def state(self, conversation: Conversation, *, runs_here: bool) -> ClaimState:
        """Return whether a turn may begin; our own claim without a turn is abandoned."""
        running = conversation.running_turn
        if running is not None and running.replica == self._replica.name:
            return "held" if runs_here else "abandoned"
        return claim_state(
            running, now=self._clock.now(), times=self._times, is_dead=self._replica.is_dead
        )

    async def answered(
        self, conversation: Conversation, message: IncomingMessage
    ) -> AnsweredMessage | None:
        """Return what answered this message within the last day."""
        return await self._conversations.answered(conversation, message.message_hash)

    async def claim(
        self, stored: Stored[Conversation], message: IncomingMessage, run_id: str
    ) -> Claim | None:
        """Claim for `message`, taking over from a dead turn; None if somebody was faster."""
        return await self._claim(stored, await self._running(stored.document, message, run_id))

    async def claim_next(self, stored: Stored[Conversation]) -> Claim | None:
        """Claim for the message that waits longest; None if none waits or somebody was faster."""
        successor = await self.successor(stored.document)
        if successor is None:
            return None
        stored.document.inbox_head = successor.number + 1
        return await self._claim(stored, successor.running)

    async def successor(self, conversation: Conversation) -> Successor | None:
        """Return the claim of the message that comes next."""
        queued = await self._conversations.next_in_line(conversation)
        if queued is None:
            return None
        running = await self._running(conversation, queued.message, queued.run_id)
        return Successor(running=running, number=queued.number)

    async def enqueue(
        self,
        stored: Stored[Conversation],
        message: IncomingMessage,
        run_id: str,
        held: Claim | None,
    ) -> None:
        """Store `message` in the inbox and tell whoever holds the claim (`held` if it is ours).

        Raises:
            TooManyMessagesError: 20 messages wait already.
        """
        if queue_length(stored.document) >= self._queue_depth:
            raise TooManyMessagesError
        queued = QueuedMessage(
            conversation_id=message.conversation_id,
            number=stored.document.inbox_tail,
            run_id=run_id,
            message=message,
        )
        queued.number = await self._conversations.enqueue(queued)
        if held is not None:
            await held.update(_counting_in(queued.number))
        else:
            await self._ring(stored, queued.number)

    def forget(self, conversation_id: str) -> None:
        """Trust nothing remembered of the conversation."""
        self._conversations.forget(conversation_id)

    async def forget_queued(self, conversation_id: str, number: int) -> None:
        """Delete a queued message whose turn is committed."""
        await self._conversations.forget_queued(conversation_id, number)

    async def _ring(self, stored: Stored[Conversation], number: int) -> None:
        conversation_id = stored.document.conversation_id
        for _ in range(_BELL_TRIES):
            _counting_in(number)(stored.document)
            try:
                await self._conversations.write(stored.document, etag=stored.etag)
            except BlobChangedError:
                newer = await self._conversations.read(conversation_id, fresh=True)
                if newer is None:
                    break
                stored = newer
                continue
            return
        raise StoreUnavailableError("the conversation document changes too fast")

    async def _claim(self, stored: Stored[Conversation], running: RunningTurn) -> Claim | None:
        conversation, dead = stored.document, stored.document.running_turn
        served = self._served.seen(conversation.conversation_id)
        if dead is not None:
            taken = await self._takeover.fence(conversation, dead, self._clock.now())
            conversation.answered.append(taken.answered)
            conversation.interruption = taken.interruption or conversation.interruption
        return await claimed(
            conversations=self._conversations,
            conversation=conversation,
            etag=stored.etag,
            running=running,
            clock=self._clock,
            times=self._times,
            was_known=served and dead is None and stored.etag is not None,
        )

    async def _running(
        self, conversation: Conversation, message: IncomingMessage, run_id: str
    ) -> RunningTurn:
        registry = await self._registries.read(
            conversation.conversation_id, epoch=conversation.epoch
        )
        now = self._clock.now()
        return RunningTurn(
            run_id=run_id,
            message=message,
            replica=self._replica.name,
            patient_id=registry.document.active_patient_id,
            started_at=now,
            expires_at=lease_end(now, self._times),
        )


def _counting_in(number: int) -> Callable[[Conversation], None]:
    def change(draft: Conversation) -> None:
        draft.inbox_tail = max(draft.inbox_tail, number + 1)

    return change
