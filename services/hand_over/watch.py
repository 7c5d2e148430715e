"""A note in the queue for each turn that runs here: should this process die, the note comes up.

The turn itself is durable in its conversation before (`TurnScheduler.submit`), with its order
among the others. The note says only: see to it that this is answered. While all is well nobody
ever takes it, so a turn costs two requests to the queue and waits for one.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field

import structlog

from data_models.errors import StoreError
from data_models.incoming_message import IncomingMessage
from data_models.work_queue import WorkItem, WorkQueue
from services.hand_over.note import note_of

HIDDEN_SECONDS = 40
"""As long as a dead replica's claim is respected: 30 s, and 5 s of grace."""
RENEW_SECONDS = 12.0

logger = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class TurnWatch:
    """Puts notes, keeps them hidden while their turns run, and takes them back."""

    queue: WorkQueue
    hidden_seconds: int = HIDDEN_SECONDS
    renew_seconds: float = RENEW_SECONDS
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    async def begin(self, message: IncomingMessage, done: Awaitable[object]) -> None:
        """Put the note of `message`; take it back when `done` is.

        A queue that fails costs the watch, never the message: its conversation holds it.
        """
        try:
            item = await self.queue.put(note_of(message), hidden_seconds=self.hidden_seconds)
        except StoreError as error:
            logger.warning("turn_not_watched", code=error.code)
            return
        task = asyncio.create_task(self._keep(item, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Let go of all notes: those of turns that are not over come up elsewhere."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep(self, item: WorkItem, done: Awaitable[object]) -> None:
        held = await keep_hidden(
            self.queue, item, done, seconds=self.hidden_seconds, every=self.renew_seconds
        )
        if held is not None:
            await take_back(self.queue, held)


async def keep_hidden(
    queue: WorkQueue, item: WorkItem, done: Awaitable[object], *, seconds: int, every: float
) -> WorkItem | None:
    """Keep a note hidden until `done`, and return it as it is then.

    None if it is ours no more, or `done` was cancelled or failed: then the note is to come up.
    """
    ending = asyncio.ensure_future(done)
    held: WorkItem | None = item
    while held is not None:
        finished, _ = await asyncio.wait({ending}, timeout=every)
        if finished:
            return None if ending.cancelled() or ending.exception() is not None else held
        try:
            held = await queue.hide(held, seconds=seconds)
        except StoreError as error:
            logger.warning("turn_watch_not_renewed", code=error.code)
    return None


async def take_back(queue: WorkQueue, item: WorkItem) -> None:
    """Remove a note whose turn is over; one that stays comes up and is found to be answered."""
    try:
        await queue.remove(item)
    except StoreError as error:
        logger.warning("turn_watch_not_removed", code=error.code)
