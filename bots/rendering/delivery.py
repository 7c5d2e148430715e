"""Carries what happens in a run to the conversation it belongs to.

Everything a reply needs is in the run's message, so that whichever replica runs the turn delivers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import structlog

from bots.reference import Activity, Reference, conversation_key, place_of
from bots.rendering.redelivery import Redelivery
from bots.rendering.rendering import TurnRenderer, text_activity
from bots.rendering.run_renderer import RendererParts, RunRenderer
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import RunStarted
from data_models.errors import ChannelError
from data_models.values import Newest
from services.runs.hub import Run

COLLECT_SECONDS = 10.0
"""Channels wait 10 to 15 s for the answer to a request."""
REMEMBERED_RUNS = 10_000
CLOSE_SECONDS = 5.0
_LATE = "The answer takes longer than this channel waits. It follows here as soon as it is ready."

Send = Callable[[Activity], Awaitable[None]]
logger = structlog.get_logger()


@dataclass(slots=True)
class _Box:
    """Replies that the answer to the request carries; what comes after goes its own way."""

    late: Send
    activities: list[Activity] = field(default_factory=list)
    is_open: bool = True

    async def put(self, activity: Activity) -> None:
        if self.is_open:
            self.activities.append(activity)
        else:
            await self.late(activity)


class Delivery:
    """Replies to messages, each run once however often its message comes in."""

    def __init__(self, *, parts: RendererParts, redelivery: Redelivery) -> None:
        self._parts = parts
        self._redelivery = redelivery
        self._seen = Newest[str, None](limit=REMEMBERED_RUNS)
        self._last: WeakValueDictionary[str, asyncio.Task[None]] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy: set[str] = set()
        self._after: Callable[[IncomingMessage], Awaitable[None]] | None = None

    def on_delivered(self, after: Callable[[IncomingMessage], Awaitable[None]]) -> None:
        """Have `after` look at each message once its replies are out."""
        self._after = after

    def watch_late_replies(self) -> None:
        """Deliver by itself, until `close`, what conversations are owed."""
        _ = self._spawn(self._redelivery.run())

    def start(self, run: Run) -> "asyncio.Task[None] | None":
        """Deliver `run` in the background, unless that was begun before."""
        if run.message.delivery is None or self._is_known(run):
            return None
        key = conversation_key(place_of(run.message))
        task = self._spawn(self._deliver(run, self._last.get(key)))
        self._last[key] = task
        return task

    async def settle(self, message: IncomingMessage) -> None:
        """Deliver what the conversation of an answered message is owed by a process that died."""
        if (reference := message.delivery) is None:
            return
        if (last := self._last.get(conversation_key(reference))) is not None:
            await asyncio.wait({last})
        await self._redelivery.pay(message, busy=self._busy)

    async def collect(self, run: Run, *, seconds: float = COLLECT_SECONDS) -> list[Activity]:
        """Return the replies of `run`; what is late follows through the conversation.

        A stored answer is repeated: whoever waits for replies has not had them.
        """
        if (reference := run.message.delivery) is None:
            return []
        self._is_known(run)
        box = _Box(late=lambda activity: self._send(reference, activity))
        task = self._spawn(self._collect(run, box))
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            box.activities.append(text_activity(_LATE))
        box.is_open = False
        return box.activities

    def tell(self, reference: Reference, text: str) -> None:
        """Send a line of the server's own in the background."""
        self.send(reference, text_activity(text))

    def send(self, reference: Reference, activity: Activity) -> None:
        """Send what no run says in the background; it is lost if the channel does not take it."""
        _ = self._spawn(self._send(reference, activity))

    def go_on(self, work: Coroutine[None, None, None]) -> None:
        """Do `work` in the background; it is given some seconds when the server stops."""
        _ = self._spawn(work)

    async def close(self) -> None:
        """Give what is under way a few seconds, then end it; what others deliver, at once."""
        self._redelivery.close()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=CLOSE_SECONDS)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _is_known(self, run: Run) -> bool:
        known = run.run_id in self._seen
        self._seen[run.run_id] = None
        return known

    async def _deliver(self, run: Run, before: "asyncio.Task[None] | None") -> None:
        self._busy.add(run.run_id)
        try:
            await self._show(run, before)
        finally:
            self._busy.discard(run.run_id)
        if self._after is not None:
            await self._after(run.message)

    async def _show(self, run: Run, before: "asyncio.Task[None] | None") -> None:
        show = RunRenderer(run=run, parts=self._parts)
        try:
            async for _, event in run.events():
                if run.replayed:
                    # What of it is not out yet comes now, or by itself from whoever had it.
                    others = self._busy - {run.run_id}
                    return await self._redelivery.pay(run.message, busy=others)
                if isinstance(event, RunStarted):
                    # Noted at once: who dies while another reply goes out owes this one too.
                    show.begin(lambda: self._pay_debts(run, before))
                    if before is not None:
                        await asyncio.wait({before})
                await show.take(event)
            return await show.end()
        finally:
            show.abandon()

    async def _pay_debts(self, run: Run, before: "asyncio.Task[None] | None") -> None:
        """Deliver what the conversation should have had before."""
        if before is not None:
            await asyncio.wait({before})
        await self._redelivery.pay(run.message, busy=self._busy)

    async def _collect(self, run: Run, box: _Box) -> None:
        renderer = TurnRenderer(look=self._parts.look, asked=run.message)
        async for _, event in run.events():
            for activity in renderer.activities(event):
                await box.put(activity)

    async def _send(self, reference: Reference, activity: Activity) -> None:
        try:
            await self._parts.outbox.send(reference, activity)
        except ChannelError as error:
            logger.warning("bot_line_lost", code=error.code)

    def _spawn(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # The type only: the text of an unexpected error may quote the conversation.
            logger.error("bot_delivery_broke", error=type(error).__name__)
