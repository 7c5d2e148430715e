"""Takes messages of every channel and answers them one at a time per conversation.

A message that finds its conversation free is claimed; one that meets a running turn is queued
durably and runs in order, on whichever replica frees the conversation. Either way it is stored
before `submit` returns, and its turn runs whether or not anybody watches.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog

from data_models import errors
from data_models.clock import IdSource
from data_models.conversations.claim import Claim
from data_models.conversations.claim_decision import queue_length
from data_models.conversations.conversation import Conversation
from data_models.conversations.incoming_message import IncomingMessage
from data_models.documents import Stored
from services.language.replies.commands import command_in
from services.runs.hub import Run
from services.turn_scheduler.conversation_worker import ConversationWorker, Deliver
from services.turn_scheduler.turn_slots import RunningTurns

logger = structlog.get_logger()

_CLAIM_TRIES = 50
_LATE_SECONDS = 5.0


@dataclass(kw_only=True, eq=False, repr=False)
class TurnScheduler:
    """The one way into the pipeline, for transports."""

    driver: ConversationWorker
    ids: IdSource
    message_limit_chars: int = 16_000

    def __post_init__(self) -> None:
        self.claimant, self.hub = self.driver.claimant, self.driver.hub
        self.stops, self._crisis_response = self.driver.stops, self.driver.crisis_response
        self._conversations: dict[str, RunningTurns] = {}
        self._is_stopping = False

    async def submit(self, message: IncomingMessage) -> Run:
        """Store `message` and have it answered; it is durable when this returns.

        The same message id within 24 hours starts no second turn: its run is returned, or a
        run that repeats the stored answer. A call for help is answered also where it cannot be
        stored: its run says so in the end.

        Raises:
            EmptyMessageError, MessageTooLongError, TooManyMessagesError: the user's to mend.
            NotFoundError: the conversation is somebody else's.
            StoreError, ServerStoppingError: the message was not stored; send it again.
        """
        if not message.text.strip() and message.press is None:
            raise errors.EmptyMessageError
        if len(message.text) > self.message_limit_chars:
            raise errors.MessageTooLongError(limit_chars=self.message_limit_chars)
        await self._stop_by_word(message)
        # A caller that goes away leaves no claim without a turn behind.
        admission = asyncio.create_task(self._admit(message))
        self.driver.keep(admission)
        try:
            return await asyncio.shield(admission)
        except (
            errors.StoreError,
            errors.ServerStoppingError,
            errors.TooManyMessagesError,
        ) as error:
            if not self._crisis_response.is_due(message):
                raise
            return self.driver.refused(self.hub.add(self._new_run(message)), error)

    async def submit_if_idle(self, message: IncomingMessage, *, since: datetime) -> Run | None:
        """Have `message` answered at once or not at all; raises as `submit` does.

        None where a turn runs, a message waits, or anything happened since `since`, when the
        conversation had last changed as the caller saw it.
        """
        async with self._visit(message.conversation_id) as running:
            stored = await self.claimant.look(message, fresh=True)
            is_free = self.claimant.state(stored.document, runs_here=False) == "free"
            is_idle = is_free and running.driver is None and queue_length(stored.document) == 0
            if self._is_stopping or not is_idle or stored.document.updated_at != since:
                return None
            return await self._claim(running, stored, message)

    def find(self, conversation_id: str, run_id: str, *, owner: str) -> Run | None:
        """Return a run of the caller's conversation that goes on or ended within five minutes."""
        run = self.hub.find(run_id)
        if run is None or run.conversation_id != conversation_id or run.message.owner != owner:
            return None
        return run

    async def watch(self, conversation_id: str, run_id: str, *, owner: str) -> Run | None:
        """Return a run of the caller's conversation, also one that goes on or waits elsewhere.

        What another replica answers is shown once its answer is stored; it is answered here
        should that one die.

        Raises:
            StoreError: it does not run here, and nobody can tell just now whether elsewhere.
        """
        run = self.find(conversation_id, run_id, owner=owner)
        if run is not None or self._is_stopping:
            return run
        conversations = self.claimant.conversations
        stored = await conversations.read(conversation_id, fresh=True)
        if stored is None or stored.document.owner != owner:
            return None
        turn = stored.document.running_turn
        if turn is not None and turn.run_id == run_id and turn.purpose == "turn":
            return await self._wait_for(turn.message, run_id)
        async for queued in conversations.list_in_line(stored.document):
            if queued.run_id == run_id:
                return await self._wait_for(queued.message, run_id, place=queued.number)
        return None

    async def stop(self, conversation_id: str, *, owner: str, run_id: str | None = None) -> bool:
        """Cancel the running turn, here or elsewhere; False if none runs. What was shown is kept.

        A message that waits, at whichever replica, is withdrawn by its own `run_id`: its turn ends
        before it begins.

        Raises:
            StoreError: it does not run here, and no other replica could be asked; or what waits
                could not be taken out of the queue.
        """
        running = self._conversations.get(conversation_id)
        run = running.of(run_id) if running is not None else None
        if run is None or run_id not in (None, run.run_id):
            inbox = self.claimant.inbox
            took = run_id and await inbox.take_back(conversation_id, run_id, owner=owner)
            # Also what waited: its turn may have begun while it was taken back.
            sent = await self.stops.send(conversation_id, owner=owner, run_id=run_id)
            return bool(took) or sent
        if run.is_finished or run.message.owner != owner:
            return False
        if running is not None and run is not running.current:
            await self.claimant.inbox.take_back(conversation_id, run.run_id, owner=owner)
        # Also what waited: its turn may have begun while it was taken back.
        run.request_stop("cancelled")
        return not run.is_finished

    async def _stop_by_word(self, message: IncomingMessage) -> None:
        """Stop what runs, if that is what `message` says: it waits for nothing then."""
        if message.press is not None or command_in(message.text) not in ("stop", "wrong_patient"):
            return
        try:
            await self.stop(message.conversation_id, owner=message.owner)
        except errors.StoreError as error:
            # It is taken in all the same, and its own failure told, if it fails too.
            logger.warning("turn_not_stopped", code=error.code)

    async def go_on(self, message: IncomingMessage) -> Run | None:
        """Go on with what a dead replica left of the conversation of `message`.

        Args:
            message: Any of the conversation, with or without its text: which one is answered
                next says the conversation itself.

        Returns:
            The run that answers it now. None if it is answered, or somebody else is at it.

        Raises:
            RoundsError: the conversation cannot be read or claimed just now.
        """
        async with self._visit(message.conversation_id) as running:
            return await self._revive(running, message)

    async def is_answered(self, message: IncomingMessage) -> bool:
        """Whether the turn of `message` is over and stored, wherever it ran."""
        stored = await self.claimant.look(message, fresh=True)
        return await self.claimant.find_answer(stored.document, message) is not None

    def on_orphan(self, channel: str, deliver: Deliver) -> None:
        """Have `deliver` reply when a queued message that came in elsewhere runs here."""
        self.driver.on_orphan(channel, deliver)

    async def drain(self, *, seconds: float) -> None:
        """Let running turns finish; what is not done in time is stored as interrupted.

        What still waits then stays queued, for whoever serves the conversation next.
        """
        self._is_stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.idle(), seconds)
        self.driver.is_late = True
        for running in self._conversations.values():
            if running.current is not None:
                running.current.request_stop("interrupted")
        with suppress(TimeoutError):
            await asyncio.wait_for(self.idle(), _LATE_SECONDS)
        await self.stops.close()

    async def idle(self) -> None:
        """Return once no turn runs or waits here."""
        while drivers := [
            running.driver for running in self._conversations.values() if running.driver is not None
        ]:
            await asyncio.wait(drivers)

    @property
    def waiting(self) -> int:
        """How many messages that came in here wait for their turn."""
        queued = sum(len(running.waiting) for running in self._conversations.values())
        return queued + self.driver.slots.waiting

    async def _admit(self, message: IncomingMessage) -> Run:
        if self._is_stopping:
            raise errors.ServerStoppingError
        async with self._visit(message.conversation_id) as running:
            known = running.find(message)
            return known if known is not None else await self._accept(running, message)

    @asynccontextmanager
    async def _visit(self, conversation_id: str) -> AsyncIterator[RunningTurns]:
        """Yield the conversation's running to one visitor at a time, between its turns' commits."""
        running = self._conversations.setdefault(conversation_id, RunningTurns())
        running.visitors += 1
        try:
            async with running.lock:
                await running.wait_for_commit()
                yield running
        finally:
            running.visitors -= 1
            self._tidy(conversation_id)

    async def _wait_for(
        self, message: IncomingMessage, run_id: str, *, place: int | None = None
    ) -> Run:
        """Return a run that waits here for a message that another replica has taken in."""
        async with self._visit(message.conversation_id) as running:
            if (run := running.find(message)) is None:
                run = Run(run_id=run_id, message=message)
                run.place = place
                self._waiting(running, run, is_queued=place is not None)
                self._wait(running, self.hub.add(run))
            return run

    async def _accept(self, running: RunningTurns, message: IncomingMessage) -> Run:
        for attempt in range(_CLAIM_TRIES):
            stored = await self.claimant.look(message, fresh=attempt > 0)
            answered = await self.claimant.find_answer(stored.document, message)
            if answered is not None:
                self.driver.repeat(run := Run(run_id=answered.run_id, message=message), answered)
                return run
            if running.driver is None:
                await self._resume(running, stored)
            if (same := self._same_elsewhere(running, stored.document, message)) is not None:
                self._wait(running, self.hub.add(same))
                return same
            if running.driver is not None or self.claimant.must_wait(stored.document):
                return await self._enqueue(running, message, stored)
            if (begun := await self._claim(running, stored, message)) is not None:
                return begun
        raise errors.StoreUnavailableError("the conversation could not be claimed")

    async def _claim(
        self, running: RunningTurns, stored: Stored[Conversation], message: IncomingMessage
    ) -> Run | None:
        run = self._new_run(message)
        if (claim := await self.claimant.claim(stored, message, run.run_id)) is None:
            return None
        self._drive(running, self.hub.add(run), claim)
        return run

    async def _revive(self, running: RunningTurns, message: IncomingMessage) -> Run | None:
        if running.driver is not None or self._is_stopping:
            return None
        stored = await self.claimant.look(message, fresh=True)
        run = await self._resume(running, stored)
        state = self.claimant.state(stored.document, runs_here=False)
        is_left = state == "abandoned" or (state == "free" and queue_length(stored.document) > 0)
        if run is None and is_left:
            self._serve_those_who_wait(running, self._new_run(message))
        return run

    async def _resume(self, running: RunningTurns, stored: Stored[Conversation]) -> Run | None:
        """Begin to answer the message of a dead turn, if there is one that may be answered."""
        if self.claimant.state(stored.document, runs_here=False) != "abandoned":
            return None
        if (claim := await self.claimant.resume(stored)) is None:
            return None
        run = self.driver.orphan(claim, queued=False)
        self._drive(running, run, claim)
        return run

    def _same_elsewhere(
        self, running: RunningTurns, conversation: Conversation, message: IncomingMessage
    ) -> Run | None:
        """Return the run of a message that came again, while another replica answers it."""
        run_id = None if running.driver else self.claimant.run_elsewhere(conversation, message)
        run = None if run_id is None else Run(run_id=run_id, message=message)
        return run and self._waiting(running, run, is_queued=False)

    async def _enqueue(
        self, running: RunningTurns, message: IncomingMessage, stored: Stored[Conversation]
    ) -> Run:
        run = self._waiting(running, self._new_run(message), is_queued=True)
        stored_durably = False
        try:
            run.place = await self.claimant.inbox.put(stored, message, run.run_id)
            stored_durably = True
        finally:
            if not stored_durably:
                # It may run already: then only the answer to our write was lost.
                running.waiting.pop(run.run_id, None)
                self._serve_those_who_wait(running, run)
        self._wait(running, self.hub.add(run))
        return run

    def _waiting(self, running: RunningTurns, run: Run, *, is_queued: bool) -> Run:
        run.queued = is_queued
        if is_queued:
            run.emit(self._crisis_response.while_waiting(run.message))
        running.wait_with(run)
        return run

    def _wait(self, running: RunningTurns, run: Run) -> None:
        if running.driver is None:
            self._drive(running, run, None)

    def _serve_those_who_wait(self, running: RunningTurns, run: Run) -> None:
        """Answer what a dead replica left in the queue, although `run` found no place in it."""
        if running.driver is None:
            running.is_queue_left = True
            self._wait(running, run)

    def _new_run(self, message: IncomingMessage) -> Run:
        return Run(run_id=self.ids.new_id("run"), message=message)

    def _drive(self, running: RunningTurns, run: Run, claim: Claim | None) -> None:
        self.driver.drive(running, run, claim, ended=partial(self._tidy, run.conversation_id))

    def _tidy(self, conversation_id: str) -> None:
        running = self._conversations.get(conversation_id)
        if running is not None and running.driver is None and running.visitors == 0:
            del self._conversations[conversation_id]
