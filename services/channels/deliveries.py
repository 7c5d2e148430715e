"""Which replies a channel has not had yet, kept so that any replica can deliver them (R53).

A note per run, `owed/{folder}/{run_id}.json` in the container beside the conversations: written
when the turn begins, removed when its last reply was taken. So a clear leaves it alone, and any
replica finds with one listing what dead processes and busy channels left. Where a channel takes
feedback, what it called each message stays behind as `deliveries/{folder}/sent/{run_id}.json`,
without a word of the conversation, for as long as somebody may still say what they think of it.
Notes of before stand in `deliveries/{folder}/owed/`; they are found at the next contact.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

import structlog
from pydantic import AwareDatetime, BaseModel, Field

from data_models import errors
from data_models.clock import Clock
from data_models.conversations.incoming_message import IncomingMessage
from data_models.identifiers import storage_folder
from data_models.storage.blob_store import BlobInfo, BlobStore, put_blob
from data_models.values import Newest, read_value
from services.basis import Replica

LONGEST_DELIVERY = timedelta(minutes=7)
"""A turn takes five minutes at most, and a reply that is tried again one more."""
TRIED_FOR = timedelta(days=1)
"""So long a reply is tried by itself; then it waits for the next contact."""
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(hours=1)
KEPT_DAYS = 30
"""A note older than this is of no use to anybody; storage removes it too (`infra/`)."""
SEARCHED_RUNS = 200
_TIDIED_LIMIT = 10_000
_OWED = "owed/"

logger = structlog.get_logger()


class Owed(BaseModel, extra="ignore"):
    """The replies of one run that its conversation is still to get.

    Attributes:
        message: What was asked, without its text: enough to repeat the stored answer.
        activities: Replies as the channel refused them; empty while the turn goes on.
        delivered: Ids of the agents' messages that the channel took.
        is_kept: Whether nobody is at work on it.
        touched: When somebody was last at work on it; `since` if nobody was again.
        tries: How often it was tried after the run.
        next_try: When it is due again; None as long as nothing speaks against at once.
        is_parked: Whether only the next contact brings it: the conversation takes no messages, or
            a day of trying is over.
        is_maybe_taken: Whether the channel may have taken the first of `activities`.
    """

    run_id: str
    message: IncomingMessage
    replica: str
    since: AwareDatetime
    activities: list[dict[str, Any]] = Field(default_factory=list)
    delivered: list[str] = Field(default_factory=list)
    is_kept: bool = False
    touched: AwareDatetime | None = None
    tries: int = 0
    next_try: AwareDatetime | None = None
    is_parked: bool = False
    is_maybe_taken: bool = False


class Sent(BaseModel):
    """What the channel calls the messages of one run.

    Attributes:
        messages: Its id → ours.
        agents: Who said each, by our id; of notes of before, nobody.
    """

    run_id: str
    messages: dict[str, str]
    agents: dict[str, str] = Field(default_factory=dict)


class SentMessage(NamedTuple):
    """A message as we know it; empty texts where it is not remembered."""

    run_id: str = ""
    message_id: str = ""
    agent: str = ""


class Deliveries:
    """Notes of what is owed. One replica works on a note at a time, by conditional writes."""

    def __init__(self, *, store: BlobStore, replica: Replica, clock: Clock) -> None:
        self._store = store
        self._replica = replica
        self._clock = clock
        self._tidied = Newest[str, date](limit=_TIDIED_LIMIT)
        self._looked_back = Newest[str, None](limit=_TIDIED_LIMIT)
        self._waiting: dict[str, tuple[str, Owed]] = {}

    def new_note(self, run_id: str, message: IncomingMessage) -> Owed:
        """Return the note of a run whose replies are ours to deliver; it is not stored yet."""
        return Owed(
            run_id=run_id,
            message=message.model_copy(update={"text": ""}),
            replica=self._replica.name,
            since=self._clock.now(),
        )

    async def owe(self, note: Owed) -> bool:
        """Store the note of a run that begins.

        Returns:
            Whether a replica had the run before, and perhaps died over it: then the note says what
            that one had delivered.
        """
        try:
            await self._store.create(_owed(note), _bytes(note))
        except errors.BlobExistsError:
            # Noted where the message came in: it was queued there, or a replica died over it.
            if (blob := await self._store.read(_owed(note))) is not None:
                note.delivered = read_value(blob.data, Owed).delivered
                await put_blob(self._store, _owed(note), _bytes(note), replaces=blob)
            return True
        return False

    async def update(self, note: Owed, *, failure: errors.ChannelError | None = None) -> None:
        """Store how far the delivery is, unless another replica has taken it over.

        Args:
            failure: What the channel said last, if it is to be tried again.
        """
        blob, now = await self._store.read(_owed(note)), self._clock.now()
        if blob is None or read_value(blob.data, Owed).replica != self._replica.name:
            return
        changes = {"touched": now, **({} if failure is None else _next_try(note, failure, now))}
        data = _bytes(note.model_copy(update=changes))
        await put_blob(self._store, _owed(note), data, replaces=blob)

    async def settle(
        self,
        note: Owed,
        sent: Mapping[str, str] = MappingProxyType({}),
        *,
        agents: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Note that the channel has everything.

        Args:
            sent: The channel's ids → ours, kept for feedback.
            agents: Who said each message, by our id.
        """
        conversation_id = note.message.conversation_id
        if sent:
            kept = Sent(run_id=note.run_id, messages=dict(sent), agents=dict(agents))
            name = f"{_sent_prefix(conversation_id)}{note.run_id}.json"
            # One that exists is of a delivery that was finished twice.
            await put_blob(self._store, name, kept.model_dump_json().encode())
        await self._store.delete(_owed(note))
        if sent:
            # Last: what takes long here, or fails, must not leave owed what everybody has.
            await self._tidy(conversation_id)

    async def read_owed(self, conversation_id: str) -> list[Owed]:
        """Return what the conversation is owed, oldest first, whoever works on it."""
        await self._take_in_of_before(conversation_id)
        found = [note async for _, note in self._notes(_owed_prefix(conversation_id))]
        return sorted(found, key=lambda note: note.since)

    async def all_owed(self) -> AsyncIterator[Owed]:
        """Yield what any conversation is owed, each conversation's together.

        A note that waits is read once, not at each call. One that cannot be read is passed over:
        it stays for a person, and holds nobody else's replies up.
        """
        seen: dict[str, tuple[str, Owed]] = {}
        async for row in self._store.list(_OWED):
            etag, note = self._waiting.get(row.name, ("", None))
            if note is None or etag != row.etag:
                try:
                    blob = await self._store.read(row.name)
                    note = None if blob is None else read_value(blob.data, Owed)
                except errors.CorruptDocumentError as error:
                    logger.warning("owed_note_unreadable", code=error.code)
                    continue
            if note is not None:
                seen[row.name] = (row.etag, note)
                yield note
        self._waiting = seen

    def is_left(self, note: Owed, *, after: timedelta = LONGEST_DELIVERY) -> bool:
        """Whether certainly nobody delivers it any more; untouched for so long, nobody does."""
        age = self._clock.now() - (note.touched or note.since)
        return note.is_kept or self._replica.is_dead(note.replica) or age > after

    def is_due(self, note: Owed) -> bool:
        """Whether it is to be tried by itself now, once it is left."""
        is_soon = note.next_try is None or note.next_try <= self._clock.now()
        return is_soon and not note.is_parked

    async def take_over(self, note: Owed) -> Owed | None:
        """Return `note` as ours; None if it is delivered, or another replica was faster."""
        blob = await self._store.read(_owed(note))
        if blob is None or read_value(blob.data, Owed) != note:
            return None
        changes = {"replica": self._replica.name, "is_kept": False, "touched": self._clock.now()}
        ours = note.model_copy(update=changes)
        return (
            ours if await put_blob(self._store, _owed(note), _bytes(ours), replaces=blob) else None
        )

    async def find_sent(self, conversation_id: str, channel_message_id: str) -> SentMessage:
        """Return the run, our id and the agent of a message that the channel names.

        Returns:
            Empty texts if it is none of the newest two hundred runs'.
        """
        for row in (await self._list_sent(conversation_id))[:SEARCHED_RUNS]:
            blob = await self._store.read(row.name)
            sent = None if blob is None else Sent.model_validate_json(blob.data)
            if sent is not None and channel_message_id in sent.messages:
                ours = sent.messages[channel_message_id]
                return SentMessage(sent.run_id, ours, sent.agents.get(ours, ""))
        return SentMessage()

    async def _notes(self, prefix: str) -> AsyncIterator[tuple[str, Owed]]:
        async for row in self._store.list(prefix):
            if (blob := await self._store.read(row.name)) is not None:
                yield row.name, read_value(blob.data, Owed)

    async def _take_in_of_before(self, conversation_id: str) -> None:
        """Copy the notes that 0.1 left; looked for once in a process."""
        if conversation_id in self._looked_back:
            return
        folder = f"deliveries/{storage_folder(conversation_id)}/owed/"
        async for name, note in self._notes(folder):
            await put_blob(self._store, _owed(note), _bytes(note))
            await self._store.delete(name)
        self._looked_back[conversation_id] = None

    async def _tidy(self, conversation_id: str) -> None:
        """Remove what is never searched for; once a day for each conversation is enough."""
        now = self._clock.now()
        if self._tidied.get(conversation_id) == now.date():
            return
        self._tidied[conversation_id] = now.date()
        for number, row in enumerate(await self._list_sent(conversation_id)):
            is_old = now - row.modified_at > timedelta(days=KEPT_DAYS)
            if is_old or number >= SEARCHED_RUNS:
                await self._store.delete(row.name)

    async def _list_sent(self, conversation_id: str) -> list[BlobInfo]:
        """Return the notes of what was sent, newest first."""
        rows = [row async for row in self._store.list(_sent_prefix(conversation_id))]
        return sorted(rows, key=lambda row: row.modified_at, reverse=True)


def _owed(note: Owed) -> str:
    return f"{_owed_prefix(note.message.conversation_id)}{note.run_id}.json"


def _owed_prefix(conversation_id: str) -> str:
    return f"{_OWED}{storage_folder(conversation_id)}/"


def _next_try(note: Owed, failure: errors.ChannelError, now: datetime) -> dict[str, Any]:
    """Return what a note says after the channel did not take a reply."""
    asked = failure.wait_seconds if isinstance(failure, errors.ChannelUnavailableError) else None
    pause = FIRST_PAUSE * 2 ** min(note.tries, 16) if asked is None else timedelta(seconds=asked)
    next_try = now + min(pause, LONGEST_PAUSE if asked is None else TRIED_FOR)
    is_late = next_try - note.since > TRIED_FOR
    return {
        "tries": note.tries + 1,
        "next_try": next_try,
        "is_parked": is_late or not isinstance(failure, errors.ChannelUnavailableError),
        "is_maybe_taken": isinstance(failure, errors.ChannelUnavailableError)
        and failure.is_maybe_taken,
    }


def _sent_prefix(conversation_id: str) -> str:
    return f"deliveries/{storage_folder(conversation_id)}/sent/"


def _bytes(note: Owed) -> bytes:
    return note.model_dump_json().encode()
