"""Carries what happens in a run to the conversation it belongs to.

Everything a reply needs is in the run's message, so that whichever replica runs the turn delivers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from weakref import WeakValueDictionary

import structlog

from bots.reference import Activity, Reference, conversation_key, place_of
from bots.rendering.delivery_record import PERHAPS_TWICE
from bots.rendering.rendering import TurnRenderer, text_activity
from bots.rendering.run_renderer import RendererParts, RunRenderer
from data_models import errors
from data_models.conversations import turn_events
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import ChannelError
from data_models.values import Newest
from services.channels.deliveries import Owed
from services.channels.ports import Repeats
from services.runs.hub import Run

PATIENCE_SECONDS = 75.0
"""A reply is tried for a minute; what is owed longer than this, nobody is at work on."""
LATE_SECONDS = 15.0
"""How often a replica looks for what is owed to conversations that say nothing."""
_EARLIER = "*This could not be delivered earlier:*"
_HEADS = (_EARLIER, PERHAPS_TWICE)
_CLEARED = (
    "*A reply from before the conversation was cleared may not have reached you. It is not shown "
    "any more.*"
)
_FORGOTTEN = "*An earlier reply was not delivered and is too old to be shown. Please ask again.*"

logger = structlog.get_logger()


class Redelivery:
    """Pays what is left over: refused by the channel, or owed by a process that died."""

    def __init__(self, *, parts: RendererParts, answers: Repeats) -> None:
        self._outbox, self._look = parts.outbox, parts.look
        self._deliveries = parts.deliveries
        self._answers = answers
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Wait for other replicas no longer; what they owe stays noted."""
        self._closing.set()

    async def pay(self, contact: IncomingMessage, *, busy: Collection[str]) -> None:
        """Deliver what the conversation of `contact` is owed and certainly nobody else delivers.

        Args:
            contact: Says where the conversation is now.
            busy: Runs that this process delivers.
        """
        try:
            for note in await self._deliveries.read_owed(contact.conversation_id):
                if note.run_id not in busy and await self._is_left(note):
                    await self._pay_one(note, place_of(contact))
        except errors.RoundsError as error:
            # What is owed stays noted, and this contact's own reply goes out all the same.
            logger.warning("bot_debts_not_paid", code=error.code)

    async def pay_what_is_due(self) -> None:
        """Deliver, of every conversation, what nobody is at work on and what may be tried again.

        A conversation's oldest comes first; what does not go out keeps the others waiting.
        """
        by_conversation: dict[str, list[Owed]] = {}
        async for note in self._deliveries.all_owed():
            by_conversation.setdefault(note.message.conversation_id, []).append(note)
        for notes in by_conversation.values():
            if self._closing.is_set():
                return
            try:
                await self._pay_in_order(sorted(notes, key=lambda note: note.since))
            except errors.RoundsError as error:
                logger.warning("bot_debts_not_paid", code=error.code)

    async def _pay_in_order(self, notes: list[Owed]) -> None:
        for note in notes:
            if not await self._is_left(note):
                return  # A turn goes on there; it delivers these before its own replies.
        for note in notes:
            reference = note.message.delivery
            if reference is None or not self._deliveries.is_due(note):
                return
            if not await self._pay_one(note, reference):
                return

    async def _is_left(self, note: Owed) -> bool:
        """Whether nobody is at work on it: what is answered is delivered, or noted, in a minute."""
        if self._deliveries.is_left(note):
            return True
        is_quiet = self._deliveries.is_left(note, after=timedelta(seconds=PATIENCE_SECONDS))
        return is_quiet and await self._answers.fate(note.message) != "unknown"

    async def run(self) -> None:
        """Look for what is due until `close`."""
        while await self._has_waited(LATE_SECONDS):
            try:
                await self.pay_what_is_due()
            except errors.RoundsError as error:
                logger.warning("bot_debts_not_paid", code=error.code)

    async def _has_waited(self, seconds: float) -> bool:
        """Return after `seconds`, or at once with False when the server stops."""
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return True
        return False

    async def _pay_one(self, note: Owed, reference: Reference) -> bool:
        """Deliver the replies of `note`; False if that is another's work, or not all are out."""
        if (ours := await self._deliveries.take_over(note)) is None:
            return False
        logger.info("bot_reply_late", run_id=note.run_id)
        place = {**(note.message.delivery or reference), "serviceUrl": reference["serviceUrl"]}
        queue = await self._due(note)
        while queue:
            try:
                await self._outbox.send(place, queue[0])
            except errors.ChannelError as error:
                await self._keep(ours, queue, error)
                return False
            queue.pop(0)
        await self._deliveries.settle(ours)
        return True

    async def _keep(self, note: Owed, left: list[Activity], failure: errors.ChannelError) -> None:
        note.activities = [one for one in left if one.get("text") not in _HEADS]
        note.is_kept = True
        await self._deliveries.update(note, failure=failure)
        if not isinstance(failure, errors.ChannelUnavailableError):
            # Whoever runs the bot sees it: nothing but a new contact brings the replies now.
            logger.error("bot_conversation_parked", run_id=note.run_id, code=failure.code)

    async def _due(self, note: Owed) -> list[Activity]:
        """Return what the user is told now: of what was cleared, only that there was something."""
        match await self._answers.fate(note.message):
            case "cleared":
                return [text_activity(_CLEARED)]
            case "unknown":
                return [text_activity(_FORGOTTEN)] if note.activities else []
            case "standing":
                due = note.activities or await self._load_answer(note)
                # A process that died may have sent what it had not noted yet.
                is_sure = bool(note.activities) and not note.is_maybe_taken
                return [text_activity(_EARLIER if is_sure else PERHAPS_TWICE), *due] if due else []

    async def _load_answer(self, note: Owed) -> list[Activity]:
        """Return what a process that died had still to send, made from what it had stored."""
        if (run := await self._answers.find(note.message)) is None:
            return []
        renderer = TurnRenderer(look=self._look, asked=note.message)
        return [
            activity
            async for _, event in run.events()
            if not _is_known(event, note.delivered)
            for activity in renderer.activities(event)
        ]


def _is_known(event: turn_events.TurnEvent, delivered: Collection[str]) -> bool:
    """Tell whether the user has seen it, or is told of it by the next turn anyway."""
    match event:
        case turn_events.AgentMessageFinished(message=message):
            return message.message_id in delivered
        case turn_events.RunFailed(code=code):
            return code == errors.InterruptedTurnError.code
        case _:
            return False


COLLECT_SECONDS = 10.0
"""Channels wait 10 to 15 s for the answer to a request."""
REMEMBERED_RUNS = 10_000
CLOSE_SECONDS = 5.0
_LATE = "The answer takes longer than this channel waits. It follows here as soon as it is ready."

Send = Callable[[Activity], Awaitable[None]]


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
                if isinstance(event, turn_events.RunStarted):
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
