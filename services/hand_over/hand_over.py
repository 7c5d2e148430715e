"""What the server starts of the hand-over: notes of its own turns, and work on others'.

A note is in the queue for each turn that runs here: should this process die, the note comes up.
The turn itself is durable in its conversation before (`TurnScheduler.submit`), with its order
among the others. The note says only: see to it that this is answered. While all is well nobody
ever takes it, so a turn costs two requests to the queue and waits for one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from data_models import errors
from data_models.conversations.incoming_message import IncomingMessage
from data_models.storage.blob_store import WorkItem, WorkQueue
from data_models.values import read_value
from services.telemetry.metrics import Metrics
from services.turn_scheduler.turn_scheduler import TurnScheduler
from settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnQueues:
    """Where notes of turns are kept, and where those that nobody can serve.

    Attributes:
        hidden_seconds: As long as a dead replica's claim is respected, or longer.
        renew_seconds: How often the note of a running turn is hidden again.
    """

    turns: WorkQueue
    poison: WorkQueue
    hidden_seconds: int
    renew_seconds: float

    async def close(self) -> None:
        """Release connections."""
        await self.turns.close()
        await self.poison.close()


def turn_queues_for(settings: Settings) -> TurnQueues | None:
    """Return the queues that `TURN_QUEUE` names; None if it names none.

    Raises:
        ConfigurationError: there is no account to keep them in.
    """
    if (name := settings.turn_queue) is None:
        return None
    return TurnQueues(
        turns=_opened(settings, name),
        poison=_opened(settings, f"{name}-poison"),
        hidden_seconds=settings.note_hidden_seconds,
        renew_seconds=settings.claim_renew_seconds,
    )


def _opened(settings: Settings, name: str) -> WorkQueue:
    # Azure's SDK takes half a second to import.
    from data_models.storage.azure_work_queue import AzureWorkQueue

    account, blobs = settings.azure_account, settings.app_blob_storage_endpoint
    if account is None:
        raise errors.ConfigurationError(
            "TURN_QUEUE: needs Azure Storage, for a queue on one machine hands nothing over. "
            "Example: AZURE_STORAGE_CONNECTION_STRING=... TURN_QUEUE=rounds-turns"
        )
    if blobs is not None:
        account = settings.turn_queue_endpoint or blobs.replace(".blob.", ".queue.")
    return AzureWorkQueue(account, queue=name)


# What the queue keeps of a message: enough to find it, not a word of what it says.


def note_of(message: IncomingMessage) -> str:
    """Return the note of a message that its conversation holds durably."""
    found = message.model_copy(update={"text": "", "press": None})
    return found.model_dump_json()


def message_of(note: str) -> IncomingMessage:
    """Return the message that a note is about, without its text.

    Raises:
        CorruptDocumentError: it is no note of ours.
    """
    return read_value(note.encode(), IncomingMessage)


POLL_SECONDS = 2.0
TAKEN_LIMIT = 8
AT_ONCE = 8
"""How many notes one replica works on; it does its own turns beside."""
LOOK_AGAIN_SECONDS = 1.0
_FAILED_SECONDS = 5.0

Settle = Callable[[IncomingMessage], Awaitable[None]]
logger = structlog.get_logger()


async def _nothing_owed(_: IncomingMessage) -> None:
    """No channel is open that could owe a reply."""


@dataclass(kw_only=True, eq=False, repr=False)
class HandOver:
    """One per process; without queues it does nothing.

    Which message of a conversation comes next says the conversation.
    """

    queues: TurnQueues | None
    scheduler: TurnScheduler
    meter: Metrics
    poll_seconds: float = POLL_SECONDS
    look_again_seconds: float = LOOK_AGAIN_SECONDS

    def __post_init__(self) -> None:
        self._settle: Settle = _nothing_owed
        self._watched, self._served = set[asyncio.Task[None]](), set[asyncio.Task[None]]()
        self._worker: asyncio.Task[None] | None = None

    def on_settled(self, settle: Settle) -> None:
        """Have `settle` see to it that the replies to an answered message are delivered."""
        self._settle = settle

    async def watch(self, message: IncomingMessage, done: Awaitable[object]) -> None:
        """Have another replica answer `message` should this one die before it is `done`.

        A queue that fails costs the watch, never the message: its conversation holds it.
        """
        if (queues := self.queues) is None:
            return
        try:
            item = await queues.turns.put(note_of(message), hidden_seconds=queues.hidden_seconds)
        except errors.StoreError as error:
            logger.warning("turn_not_watched", code=error.code)
            return
        _start(_keep(queues, item, done), among=self._watched)

    def start(self) -> None:
        """Begin to take what others left, because the replica of their turn died."""
        if self.queues is not None:
            self._worker = asyncio.create_task(self._work(self.queues))

    async def rest(self) -> None:
        """Take nothing more; what was taken and is not finished comes up elsewhere."""
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker

    async def close(self) -> None:
        """Let go of everything: notes of turns that are not over come up elsewhere."""
        await self.rest()
        for task in list(self._watched):
            task.cancel()
        await asyncio.gather(*self._watched, return_exceptions=True)
        if self.queues is not None:
            await self.queues.close()

    async def _work(self, queues: TurnQueues) -> None:
        try:
            while True:
                free = AT_ONCE - len(self._served)
                items = await _take(queues, free) if free else []
                for item in items:
                    _start(self._serve(queues, item), among=self._served)
                if not items:
                    await asyncio.sleep(self.poll_seconds)
        finally:
            for task in list(self._served):
                task.cancel()

    async def _serve(self, queues: TurnQueues, item: WorkItem) -> None:
        self.meter.count_hand_over("taken")
        if item.taken > TAKEN_LIMIT:
            await self._bury(queues, item)
            return
        answering = asyncio.create_task(self._wait_for_answer(item.body))
        try:
            held = await keep_hidden(queues, item, asyncio.shield(answering))
            if answering.done():
                answering.result()
            if held is not None:
                await take_back(queues.turns, held)
                self.meter.count_hand_over("answered")
        except errors.CorruptDocumentError:
            await self._bury(queues, item)
        except errors.RoundsError as error:
            # It comes up again, here or elsewhere.
            logger.warning("turn_not_taken_over", code=error.code, attempt=item.taken)
        finally:
            answering.cancel()

    async def _wait_for_answer(self, note: str) -> None:
        message = message_of(note)
        try:
            while not await self.scheduler.is_answered(message):
                if (run := await self.scheduler.go_on(message)) is None:
                    await asyncio.sleep(self.look_again_seconds)
                else:
                    await run.wait()
        except errors.NotFoundError:
            return  # somebody else's by now: nobody waits for this
        await self._settle(message)

    async def _bury(self, queues: TurnQueues, item: WorkItem) -> None:
        """Set a note aside that nobody can serve; an operator is to look (`TurnPoisoned`)."""
        logger.error("turn_poisoned", attempt=item.taken)
        self.meter.count_hand_over("poisoned")
        try:
            await queues.poison.put(item.body, hidden_seconds=0)
            await queues.turns.remove(item)
        except errors.StoreError as error:
            logger.warning("turn_queue_failed", code=error.code)


def _start(work: Coroutine[None, None, None], *, among: set[asyncio.Task[None]]) -> None:
    """Do `work` beside; it is `among` those that are under way until it is over."""
    task = asyncio.create_task(work)
    among.add(task)
    task.add_done_callback(among.discard)


async def _take(queues: TurnQueues, limit: int) -> Sequence[WorkItem]:
    try:
        return await queues.turns.take(limit=limit, hidden_seconds=queues.hidden_seconds)
    except errors.StoreError as error:
        logger.warning("turn_queue_failed", code=error.code)
        await asyncio.sleep(_FAILED_SECONDS)
        return []


async def _keep(queues: TurnQueues, item: WorkItem, done: Awaitable[object]) -> None:
    if (held := await keep_hidden(queues, item, done)) is not None:
        await take_back(queues.turns, held)


async def keep_hidden(
    queues: TurnQueues, item: WorkItem, done: Awaitable[object]
) -> WorkItem | None:
    """Keep a note hidden until `done`, and return it as it is then.

    None if it is ours no more, or `done` was cancelled or failed: then the note is to come up.
    """
    ending = asyncio.ensure_future(done)
    held: WorkItem | None = item
    while held is not None:
        finished, _ = await asyncio.wait({ending}, timeout=queues.renew_seconds)
        if finished:
            return None if ending.cancelled() or ending.exception() is not None else held
        try:
            held = await queues.turns.hide(held, seconds=queues.hidden_seconds)
        except errors.StoreError as error:
            logger.warning("turn_watch_not_renewed", code=error.code)
    return None


async def take_back(queue: WorkQueue, item: WorkItem) -> None:
    """Remove a note whose turn is over; one that stays comes up and is found to be answered."""
    try:
        await queue.remove(item)
    except errors.StoreError as error:
        logger.warning("turn_watch_not_removed", code=error.code)
