"""What the server starts of the hand-over: the watch over its own turns, the worker for others'."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

from data_models.incoming_message import IncomingMessage
from services.hand_over.hand_over_factory import TurnQueues
from services.hand_over.watch import TurnWatch
from services.hand_over.worker import HandOverWorker, Meter, Scheduler, Settle


class HandOver:
    """The hand-over of one process; without queues it does nothing."""

    def __init__(self, *, queues: TurnQueues | None, scheduler: Scheduler, meter: Meter) -> None:
        self._queues = queues
        self._scheduler = scheduler
        self._meter = meter
        self._watch = None if queues is None else TurnWatch(queue=queues.turns)
        self._worker: asyncio.Task[None] | None = None
        self._settle: Settle = _nothing_owed

    def on_settled(self, settle: Settle) -> None:
        """Have `settle` see to it that the replies to an answered message are delivered."""
        self._settle = settle

    async def watch(self, message: IncomingMessage, done: Awaitable[object]) -> None:
        """Have another replica answer `message` should this one die before it is `done`."""
        if self._watch is not None:
            await self._watch.begin(message, done)

    def start(self) -> None:
        """Begin to take what others left."""
        if self._queues is None:
            return
        worker = HandOverWorker(
            queue=self._queues.turns,
            poison=self._queues.poison,
            scheduler=self._scheduler,
            settle=self._settle,
            meter=self._meter,
        )
        self._worker = asyncio.create_task(worker.run())

    async def rest(self) -> None:
        """Take nothing more; what was taken and is not finished comes up elsewhere."""
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker

    async def close(self) -> None:
        """Let go of everything."""
        await self.rest()
        if self._watch is not None and self._queues is not None:
            await self._watch.close()
            await self._queues.close()


async def _nothing_owed(_: IncomingMessage) -> None:
    """No channel is open that could owe a reply."""
