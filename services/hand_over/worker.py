"""Takes the notes that came up, because the replica of their turn died, and sees to the turns."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import structlog

from data_models.errors import CorruptDocumentError, NotFoundError, RoundsError, StoreError
from data_models.incoming_message import IncomingMessage
from data_models.work_queue import WorkItem, WorkQueue
from services.hand_over.note import message_of
from services.hand_over.watch import HIDDEN_SECONDS, RENEW_SECONDS, keep_hidden, take_back
from services.runs.hub import Run

POLL_SECONDS = 2.0
TAKEN_LIMIT = 8
AT_ONCE = 8
"""How many notes one replica works on; it does its own turns beside."""
LOOK_AGAIN_SECONDS = 1.0
_FAILED_SECONDS = 5.0

Settle = Callable[[IncomingMessage], Awaitable[None]]
logger = structlog.get_logger()


class Scheduler(Protocol):
    """Runs turns; `services.turn_scheduler.turn_scheduler.TurnScheduler` fits."""

    async def go_on(self, message: IncomingMessage) -> Run | None:
        """See `TurnScheduler.go_on`."""
        ...

    async def is_answered(self, message: IncomingMessage) -> bool:
        """See `TurnScheduler.is_answered`."""
        ...


class Meter(Protocol):
    """Counts what became of notes; `services.telemetry.metrics.Metrics` fits."""

    def handed_over(self, outcome: str) -> None:
        """Count a note: `taken`, `answered` or `poisoned`."""
        ...


class HandOverWorker:
    """One per replica. Which message of a conversation comes next says the conversation."""

    def __init__(
        self,
        *,
        queue: WorkQueue,
        poison: WorkQueue,
        scheduler: Scheduler,
        settle: Settle,
        meter: Meter,
        poll_seconds: float = POLL_SECONDS,
        look_again_seconds: float = LOOK_AGAIN_SECONDS,
        hidden_seconds: int = HIDDEN_SECONDS,
        renew_seconds: float = RENEW_SECONDS,
    ) -> None:
        self._queue = queue
        self._poison = poison
        self._scheduler = scheduler
        self._settle = settle
        self._meter = meter
        self._poll_seconds = poll_seconds
        self._look_again_seconds = look_again_seconds
        self._hidden_seconds = hidden_seconds
        self._renew_seconds = renew_seconds
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Work until cancelled; what was not finished comes up elsewhere."""
        try:
            while True:
                free = AT_ONCE - len(self._tasks)
                items = await self._take(free) if free else []
                for item in items:
                    self._begin(item)
                if not items:
                    await asyncio.sleep(self._poll_seconds)
        finally:
            for task in list(self._tasks):
                task.cancel()

    def _begin(self, item: WorkItem) -> None:
        task = asyncio.create_task(self._serve(item))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self, limit: int) -> Sequence[WorkItem]:
        try:
            return await self._queue.take(limit=limit, hidden_seconds=self._hidden_seconds)
        except StoreError as error:
            logger.warning("turn_queue_failed", code=error.code)
            await asyncio.sleep(_FAILED_SECONDS)
            return []

    async def _serve(self, item: WorkItem) -> None:
        self._meter.handed_over("taken")
        if item.taken > TAKEN_LIMIT:
            await self._bury(item)
            return
        answering = asyncio.create_task(self._until_answered(item.body))
        try:
            held = await keep_hidden(
                self._queue,
                item,
                asyncio.shield(answering),
                seconds=self._hidden_seconds,
                every=self._renew_seconds,
            )
            if answering.done():
                answering.result()
            if held is not None:
                await take_back(self._queue, held)
                self._meter.handed_over("answered")
        except CorruptDocumentError:
            await self._bury(item)
        except RoundsError as error:
            # It comes up again, here or elsewhere.
            logger.warning("turn_not_taken_over", code=error.code, attempt=item.taken)
        finally:
            answering.cancel()

    async def _until_answered(self, note: str) -> None:
        message = message_of(note)
        try:
            while not await self._scheduler.is_answered(message):
                run = await self._scheduler.go_on(message)
                if run is None:
                    await asyncio.sleep(self._look_again_seconds)
                else:
                    await run.wait()
        except NotFoundError:
            return  # somebody else's by now: nobody waits for this
        await self._settle(message)

    async def _bury(self, item: WorkItem) -> None:
        """Set a note aside that nobody can serve; an operator is to look (`TurnPoisoned`)."""
        logger.error("turn_poisoned", attempt=item.taken)
        self._meter.handed_over("poisoned")
        try:
            await self._poison.put(item.body, hidden_seconds=0)
            await self._queue.remove(item)
        except StoreError as error:
            logger.warning("turn_queue_failed", code=error.code)
