"""Delivers what a conversation did not get before: at its next contact or by itself (R53)."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

import structlog

from bots.reference import Activity, Reference, place_of
from bots.rendering.delivery_record import PERHAPS_TWICE
from bots.rendering.rendering import TurnRenderer, text_activity
from bots.rendering.run_renderer import RendererParts
from data_models import errors
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import AgentMessageFinished, RunFailed, TurnEvent
from services.channels.deliveries import Owed
from services.channels.ports import Repeats

PATIENCE_SECONDS = 75.0
"""A reply is tried for a minute; what is owed longer than this, nobody is at work on."""
LATE_SECONDS = 15.0
"""How often a replica looks for what is owed to conversations that say nothing."""
_LATE = "*This could not be delivered earlier:*"
_HEADS = (_LATE, PERHAPS_TWICE)
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
                return [text_activity(_LATE if is_sure else PERHAPS_TWICE), *due] if due else []

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


def _is_known(event: TurnEvent, delivered: Collection[str]) -> bool:
    """Tell whether the user has seen it, or is told of it by the next turn anyway."""
    match event:
        case AgentMessageFinished(message=message):
            return message.message_id in delivered
        case RunFailed(code=code):
            return code == errors.InterruptedTurnError.code
        case _:
            return False
