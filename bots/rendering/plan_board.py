"""What of a run was delivered, noted for other replicas; and the card of a plan that runs.

The card is brought up to date in its place as the plan's steps are done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import structlog

from bots.reference import Activity
from bots.rendering.cards import plan_card
from bots.rendering.rendering import card_activity
from bots.rendering.text_stream import Pace
from data_models.clock import Clock
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.plan import Plan
from data_models.conversations.turn_events import SharedState
from data_models.errors import ChannelError, ChannelUnavailableError, StoreError
from data_models.values import Newest
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


UPDATE_SECONDS = 1.05
_TRIES = 4
_REMEMBERED_PLANS = 1_000

Put = Callable[[str, Activity], Awaitable[None]]


class Proposals:
    """The messages of this process that carry the card of a plan, the newest thousand."""

    def __init__(self) -> None:
        self._kept = Newest[str, tuple[str, Activity]](limit=_REMEMBERED_PLANS)

    def keep(self, plan_id: str, sent_id: str, message: Activity) -> None:
        """Remember what the channel calls the message that proposes a plan, and its words."""
        self._kept[plan_id] = (sent_id, message)

    def of(self, plan_id: str) -> tuple[str, Activity]:
        """Return the channel's id and the message; nothing if another process sent it."""
        return self._kept.get(plan_id, ("", {}))


class PlanBoard:
    """Follows the plan through one turn.

    Args:
        put: Puts an activity in the place of a message.
        card_id: The message whose button began the turn; empty if none did.
    """

    def __init__(self, *, put: Put, card_id: str, proposals: Proposals, clock: Clock) -> None:
        self._put = put
        self._card_id = card_id
        self._refused: set[str] = set()
        self._proposals = proposals
        self._pace = Pace(seconds=UPDATE_SECONDS, clock=clock)
        self._first: Plan | None = None
        self._is_first = True
        self._newest: Activity | None = None
        self._shown: Activity | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the channel has a card that follows the plan."""
        return self._card_id != ""

    def see(self, state: SharedState) -> Activity | None:
        """Return the card if it is to be sent; one that is there already is updated."""
        plan = state.plan
        if self._is_first:
            self._first, self._is_first = plan, False
        if plan is None or plan == self._first or plan.status == "proposed":
            return None
        if self._first is None or plan.plan_id != self._first.plan_id:
            return None
        card = plan_card(plan, patient_id=state.patient_id, patient=state.patient)
        card_id, message = self._proposals.of(plan.plan_id)
        if not self._card_id and card_id not in self._refused:
            self._card_id = card_id
        said = message if self._card_id == card_id else {}
        activity = {**said, **card_activity(card, summary=f"The plan is {plan.status}")}
        if not self._card_id:
            return activity if plan.status == "running" else None
        self._newest = activity
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._bring_up_to_date())
        return None

    def note_place(self, card_id: str, activity: Activity) -> None:
        """Remember where the card is that `see` returned."""
        self._card_id, self._shown = card_id, activity

    async def close(self) -> None:
        """Return when the card shows how the plan stands."""
        if self._work is not None:
            await self._work

    def abandon(self) -> None:
        """Change nothing more."""
        if self._work is not None:
            self._work.cancel()

    async def _bring_up_to_date(self) -> None:
        failures = 0
        while self._newest != self._shown and failures < _TRIES:
            await self._pace.come()
            newest, wait_seconds = self._newest, 0.0
            try:
                await self._put(self._card_id, newest or {})
            except ChannelUnavailableError as error:
                failures, wait_seconds = failures + 1, error.wait_seconds or UPDATE_SECONDS
            except ChannelError as error:
                # The card stays as it was, and the first that may not be changed has a successor.
                logger.info("bot_card_not_updated", code=error.code)
                failures = _TRIES
                if not self._refused:
                    self._refused.add(self._card_id)
                    self._card_id = ""
            else:
                failures, self._shown = 0, newest
            self._pace.note_sent(wait_seconds=wait_seconds)
