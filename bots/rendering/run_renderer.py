"""One run as its conversation sees it, from the first typing sign to the last card."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import structlog

from bots.connector import Connector, Outbox
from bots.reference import Activity, place_of
from bots.rendering.delivery_record import PERHAPS_TWICE, DeliveryRecord
from bots.rendering.files import FileTransfers
from bots.rendering.plan_board import PlanBoard, Proposals
from bots.rendering.rendering import TYPING, Look, TurnRenderer, text_activity
from bots.rendering.text_stream import LiveAnswer, TextStream, TypingSign
from data_models import errors
from data_models.chat_context import AgentMessage
from data_models.clock import Clock
from data_models.conversations import turn_events
from data_models.conversations.plan import Plan
from group_chat.speakers.gate import step_line
from services.channels.deliveries import Deliveries
from services.runs.hub import Run

_STOPPED = "*Stopped. What you have seen is kept.*"

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RendererParts:
    """What all shows share."""

    connector: Connector
    outbox: Outbox
    deliveries: Deliveries
    files: FileTransfers
    look: Look
    proposals: Proposals
    clock: Clock


class RunRenderer:
    """Shows events in order, until `abandon`: then nothing moves any more."""

    def __init__(self, *, run: Run, parts: RendererParts) -> None:
        self._run = run
        self._reference = reference = place_of(run.message)
        self._parts = parts
        self._renderer = TurnRenderer(look=parts.look, asked=run.message)
        self._abilities = self._renderer.abilities
        self._began = parts.clock.now()
        self._record = DeliveryRecord(
            deliveries=parts.deliveries, run_id=run.run_id, message=run.message
        )
        self._sign = TypingSign(show=lambda: parts.outbox.hint(reference, TYPING))
        self._live = LiveAnswer(open_stream=self._open_stream, renderer=self._renderer)
        self._board = PlanBoard(
            put=partial(parts.connector.update, reference),
            card_id=_pressed(run),
            proposals=parts.proposals,
            clock=parts.clock,
        )
        self._preparation: asyncio.Task[None] | None = None
        self._held: list[Activity] = []
        self._behind: list[AgentMessage] = []
        self._state: turn_events.SharedState | None = None

    def abandon(self) -> None:
        """Show nothing more."""
        self._sign.abandon()
        self._live.abandon()
        self._board.abandon()
        if self._preparation is not None:
            self._preparation.cancel()

    def begin(self, prepare: Callable[[], Awaitable[None]]) -> None:
        """Note that replies are owed, and have `prepare` done before the first of them."""

        async def both() -> None:
            await self._record.begin()
            await prepare()

        self._preparation = asyncio.create_task(both())

    async def take(self, event: turn_events.TurnEvent) -> None:
        """Show what `event` means to the user."""
        if not await self._was_delivered(event):
            await self._show(event)

    async def _show(self, event: turn_events.TurnEvent) -> None:
        if self._abilities.streams and not self._may_call_a_step(event):
            self._live.watch(event)
        self._turn_sign(event)
        match event:
            case turn_events.AgentMessageStarted():
                await self._record.goes_on()
            case turn_events.AgentMessageFinished(message=message):
                await self._speak(message)
                return
            case turn_events.Notice(kind="progress") if self._abilities.streams:
                return
            case turn_events.RunFinished(outcome="cancelled") if self._live.is_stopped_by_user:
                await self._say(text_activity(_STOPPED))
            case _:
                pass
        for activity in self._renderer.activities(event):
            await self._say(activity)
        if isinstance(event, turn_events.StateChanged):
            self._state = event.state
            await self._follow_plan(event)

    async def end(self) -> None:
        """Return when all is said, and note what the channel did not take."""
        if self._live.is_open:
            await self._say(text_activity(_STOPPED))
        await self._offer_files()
        await self._board.close()
        await self._prepare()
        await self._record.end(remembers_ids=self._abilities.takes_feedback)

    async def _was_delivered(self, event: turn_events.TurnEvent) -> bool:
        """Whether it is of a message that came before a replica died over the turn."""
        match event:
            case turn_events.AgentMessageStarted(message_id=message_id):
                await self._prepare()
            case turn_events.AgentTextDelta(message_id=message_id):
                pass
            case turn_events.AgentMessageFinished(message=message):
                message_id = message.message_id
            case _:
                return False
        return self._record.had(message_id)

    async def _speak(self, message: AgentMessage) -> None:
        """Send an agent's message, the first part as the end of its stream if it has one."""
        if self._live.is_behind(message.message_id):
            self._behind.append(message)
            return
        if self._is_on_the_card(message):
            return
        if self._record.is_taken_over and message.timestamp < self._began:
            await self._send(text_activity(PERHAPS_TWICE))
        parts, final = await self._live.finish(message)
        sent_id = None if final is None else await self._end_stream(final)
        for part in parts if sent_id is None else parts[1:]:
            part_id = await self._send(part)
            sent_id = part_id if "text" in part else sent_id
        if sent_id is not None:
            self._record.note_delivered(sent_id, message.message_id, message.agent)
            self._remember_proposal(sent_id, parts)
        behind, self._behind = self._behind, []
        for other in behind:
            await self._speak(other)
        held, self._held = self._held, []
        for activity in held:
            await self._send(activity)

    def _remember_proposal(self, sent_id: str, parts: list[Activity]) -> None:
        for part in parts:
            if sent_id and "text" in part and "attachments" in part:
                self._parts.proposals.keep(self._renderer.proposed, sent_id, part)

    def _is_on_the_card(self, message: AgentMessage) -> bool:
        """Whether it calls steps of a plan, which the plan's card shows as they begin."""
        plan = self._plan_on_a_card()
        if plan is None or not message.text:
            return False
        called = {step_line(plan, step.number) for step in plan.steps}
        return called.issuperset(message.text.splitlines())

    def _may_call_a_step(self, event: turn_events.TurnEvent) -> bool:
        """Whether a message begins of which only its end tells whether the user is to see it."""
        plan, state = self._plan_on_a_card(), self._state
        if plan is None or state is None or not isinstance(event, turn_events.AgentMessageStarted):
            return False
        return event.agent == state.facilitator and plan.next_step() is not None

    def _plan_on_a_card(self) -> Plan | None:
        """Return the plan that runs, if the chat has a card that follows it and is enough."""
        if self._state is None or not (self._abilities.is_quiet and self._board.is_shown):
            return None
        return self._state.plan

    async def _end_stream(self, final: Activity) -> str | None:
        """Send the final message of a stream; None if it has to be sent as any other."""
        stream_id = str(final["entities"][-1]["streamId"])
        try:
            await self._prepare()
            return await self._parts.outbox.end_stream(self._reference, final) or stream_id
        except errors.ChannelUnavailableError as error:
            if error.is_maybe_taken:
                await self._record.keep(final, error)
                return stream_id
            logger.info("bot_stream_not_ended", run_id=self._run.run_id, code=error.code)
        except errors.ChannelError as error:
            logger.info("bot_stream_not_ended", run_id=self._run.run_id, code=error.code)
        return None

    async def _say(self, activity: Activity) -> None:
        """Send `activity`, once an agent has finished that speaks."""
        if self._live.is_writing:
            self._held.append(activity)
            return
        carried = await self._live.carry(activity)
        if carried is activity or await self._end_stream(carried) is None:
            await self._send(activity)

    async def _send(self, activity: Activity) -> str | None:
        """Send `activity` after what could not be sent before; None if it has to wait."""
        await self._prepare()
        if self._record.must_wait:
            await self._record.keep(activity)
            return None
        try:
            while self._record.undelivered:
                await self._parts.outbox.send(self._reference, self._record.undelivered[0])
                self._record.undelivered.pop(0)
            return await self._parts.outbox.send(self._reference, activity)
        except errors.ChannelError as error:
            logger.warning("bot_reply_kept", run_id=self._run.run_id, code=error.code)
            await self._record.keep(activity, error)
        return None

    async def _follow_plan(self, event: turn_events.StateChanged) -> None:
        card = self._board.see(event.state)
        if card is not None and not self._live.is_open:
            sent_id = await self._send(card)
            self._board.note_place(sent_id or "", card)

    async def _offer_files(self) -> None:
        """Tell of the files that agents made in this turn."""
        state = self._state
        for artifact in state.artifacts if state is not None else ():
            if state is None or artifact.run_id != self._run.run_id:
                continue
            try:
                offer = await self._parts.files.offer(self._run.message, state, artifact)
            except errors.RoundsError as error:
                # The answer names the file, and whoever asks for it again gets it.
                logger.warning("bot_file_not_offered", code=error.code)
            else:
                await self._send(offer)

    async def _prepare(self) -> None:
        if self._preparation is not None:
            await self._preparation

    def _open_stream(self) -> TextStream:
        return TextStream(
            send=lambda activity: self._parts.connector.send_once(self._reference, activity),
            farewell=self._renderer.to_be_continued,
            on_user_stop=lambda: self._run.request_stop("cancelled"),
            clock=self._parts.clock,
        )

    def _turn_sign(self, event: turn_events.TurnEvent) -> None:
        """Show typing while an agent works, and not once it has spoken."""
        if isinstance(
            event,
            turn_events.RunStarted | turn_events.AgentMessageStarted | turn_events.ToolCallStarted,
        ):
            self._sign.start()
        if isinstance(event, turn_events.AgentMessageFinished) or self._live.is_open:
            self._sign.off()


def _pressed(run: Run) -> str:
    """Return the message whose button was pressed, where the channel says so."""
    message = run.message
    return str(place_of(message).get("pressedId") or "") if message.press is not None else ""
