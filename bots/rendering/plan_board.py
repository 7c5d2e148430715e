"""The card of a plan that runs, brought up to date in its place as its steps are done."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bots.reference import Activity
from bots.rendering.cards import plan_card
from bots.rendering.rendering import card_activity
from bots.rendering.text_stream import Pace
from data_models.clock import Clock
from data_models.conversations.plan import Plan
from data_models.conversations.turn_events import SharedState
from data_models.errors import ChannelError, ChannelUnavailableError
from data_models.values import Newest

UPDATE_SECONDS = 1.05
_TRIES = 4
_REMEMBERED_PLANS = 1_000

Put = Callable[[str, Activity], Awaitable[None]]
logger = structlog.get_logger()


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
