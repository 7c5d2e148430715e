"""What of one run was delivered, noted beside the delivery so that another replica can go on."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from bots.reference import Activity
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import ChannelError, ChannelUnavailableError, StoreError
from services.channels.deliveries import Deliveries

PERHAPS_TWICE = "*This could not be delivered earlier, or you have seen it already:*"

logger = structlog.get_logger()


class DeliveryRecord:
    """Notes for one run. A store that fails costs the note, never the reply.

    Attributes:
        is_taken_over: Whether another replica had the run: what it sent last may not be noted.
    """

    def __init__(self, *, deliveries: Deliveries, run_id: str, message: IncomingMessage) -> None:
        self._deliveries = deliveries
        self._note = deliveries.new_note(run_id, message)
        self._had: list[str] = []
        self._sent: dict[str, str] = {}
        self._agents: dict[str, str] = {}
        self.is_taken_over = False
        self._noted = 0
        self._failure: ChannelError | None = None

    @property
    def undelivered(self) -> list[Activity]:
        """What the channel did not take, in order; who sends it takes it out."""
        return self._note.activities

    async def begin(self) -> None:
        """Note that the replies are ours to deliver."""
        with self._costing_no_reply():
            self.is_taken_over = await self._deliveries.owe(self._note)
            self._had = self._note.delivered

    def had(self, message_id: str) -> bool:
        """Whether a replica that died over this run had delivered an agent's message."""
        return message_id in self._had

    def note_delivered(self, sent_id: str, message_id: str, agent: str) -> None:
        """Remember that an agent's message has been delivered."""
        self._sent[sent_id] = message_id
        self._agents[message_id] = agent

    async def goes_on(self) -> None:
        """Note what was delivered so far: another message follows."""
        if len(self._sent) > self._noted:
            await self._update()

    @property
    def must_wait(self) -> bool:
        """Whether what was not taken is nothing to try again within this run."""
        failure = self._failure
        if not self.undelivered or failure is None:
            return False
        return not isinstance(failure, ChannelUnavailableError) or (
            failure.is_maybe_taken or failure.wait_seconds is not None
        )

    async def keep(self, activity: Activity, failure: ChannelError | None = None) -> None:
        """Keep what the channel did not take, and why; None as it waits for what is before it."""
        self.undelivered.append(activity)
        self._failure = failure or self._failure
        await self._update()

    async def end(self, *, remembers_ids: bool) -> None:
        """Note that all is delivered, or that what is not waits to be tried again."""
        if self.undelivered:
            self._note.is_kept = True
            await self._update(self._failure)
            return
        sent = {sent_id: ours for sent_id, ours in self._sent.items() if sent_id}
        with self._costing_no_reply():
            await self._deliveries.settle(
                self._note, sent if remembers_ids else {}, agents=self._agents
            )

    async def _update(self, failure: ChannelError | None = None) -> None:
        self._noted = len(self._sent)
        self._note.delivered = [*self._had, *self._sent.values()]
        with self._costing_no_reply():
            await self._deliveries.update(self._note, failure=failure)

    @contextmanager
    def _costing_no_reply(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            logger.warning("bot_delivery_not_noted", run_id=self._note.run_id, code=error.code)
