"""Takes messages of every channel and answers them one at a time per conversation.

A message that finds its conversation free is claimed; one that meets a running turn is queued
durably and runs in order, on whichever replica frees the conversation. Either way it is stored
before `submit` returns, and its turn runs whether or not anybody watches.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import structlog

from data_models.claim import Claim, Successor
from data_models.claim_decision import queue_length
from data_models.clock import IdSource
from data_models.conversation import AnsweredMessage, Conversation
from data_models.documents import Stored
from data_models.errors import (
    EmptyMessageError,
    MessageTooLongError,
    RoundsError,
    ServerStoppingError,
    StoreError,
    StoreUnavailableError,
)
from data_models.incoming_message import IncomingMessage
from data_models.turn_events import Notice, RunFailed
from services.conversations.claimant import Claimant
from services.conversations.stored_answers import StoredAnswers
from services.lane import Lane
from services.run_hub import Run, RunHub
from services.turn_pipeline import TurnPipeline

Deliver = Callable[[Run], Coroutine[None, None, None]]
_POLL_SECONDS = 0.25
_CLAIM_TRIES = 50
_POLL_FAILURES = 40
_LATE_SECONDS = 5.0

logger = structlog.get_logger()


class TurnDesk:
    """The one door to the pipeline, for transports."""

    def __init__(
        self,
        *,
        pipeline: TurnPipeline,
        claimant: Claimant,
        answers: StoredAnswers,
        hub: RunHub,
        ids: IdSource,
        message_limit_chars: int = 16_000,
    ) -> None:
        self._pipeline = pipeline
        self._claimant = claimant
        self._answers = answers
        self._hub = hub
        self._ids = ids
        self._message_limit_chars = message_limit_chars
        self._lanes: dict[str, Lane] = {}
        self._deliver: dict[str, Deliver] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_stopping = False
        self._is_late = False

    async def submit(self, message: IncomingMessage) -> Run:
        """Store `message` and have it answered; it is durable when this returns.

        The same message id within 24 hours starts no second turn: its run is returned, or a
        run that repeats the stored answer.

        Raises:
            EmptyMessageError, MessageTooLongError, TooManyMessagesError: the user's to mend.
            NotFoundError: the conversation is somebody else's.
            StoreError, ServerStoppingError: the message was not stored; send it again.
        """
        self._check(message)
        if self._is_stopping:
            raise ServerStoppingError
        # A caller that goes away leaves no claim without a turn behind.
        admission = asyncio.create_task(self._admit(message))
        self._keep(admission)
        return await asyncio.shield(admission)

    def find(self, conversation_id: str, run_id: str, *, owner: str) -> Run | None:
        """Return a run of the caller's conversation that goes on or ended within five minutes."""
        run = self._hub.find(run_id)
        if run is None or run.conversation_id != conversation_id or run.message.owner != owner:
            return None
        return run

    async def stop(self, conversation_id: str, *, owner: str, run_id: str | None = None) -> bool:
        """Cancel the turn that runs here; False if none does. What was shown is kept."""
        lane = self._lanes.get(conversation_id)
        run = lane.current if lane is not None else None
        if run is None or run.is_finished or run.message.owner != owner:
            return False
        if run_id is not None and run.run_id != run_id:
            return False
        run.request_stop("cancelled")
        return True

    def on_orphan(self, channel: str, deliver: Deliver) -> None:
        """Have `deliver` reply when a queued message that came in elsewhere runs here."""
        self._deliver[channel] = deliver

    async def drain(self, *, seconds: float) -> None:
        """Let running turns finish; what is not done in time is stored as interrupted.

        What still waits then stays queued, for whoever serves the conversation next.
        """
        self._is_stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.idle(), seconds)
        self._is_late = True
        for lane in self._lanes.values():
            if lane.current is not None:
                lane.current.request_stop("interrupted")
        with suppress(TimeoutError):
            await asyncio.wait_for(self.idle(), _LATE_SECONDS)

    async def idle(self) -> None:
        """Return once no turn runs or waits here."""
        while drivers := [lane.driver for lane in self._lanes.values() if lane.driver is not None]:
            await asyncio.wait(drivers)

    @property
    def waiting(self) -> int:
        """How many messages that came in here wait for their turn."""
        return sum(len(lane.waiting) for lane in self._lanes.values())

    def _check(self, message: IncomingMessage) -> None:
        if not message.text.strip() and message.press is None:
            raise EmptyMessageError
        if len(message.text) > self._message_limit_chars:
            raise MessageTooLongError(limit_chars=self._message_limit_chars)

    async def _admit(self, message: IncomingMessage) -> Run:
        lane = self._lanes.setdefault(message.conversation_id, Lane())
        lane.visitors += 1
        try:
            async with lane.lock:
                await lane.committed()
                known = lane.find(message.message_hash)
                return known if known is not None else await self._accept(lane, message)
        finally:
            lane.visitors -= 1
            self._tidy(message.conversation_id)

    async def _accept(self, lane: Lane, message: IncomingMessage) -> Run:
        for attempt in range(_CLAIM_TRIES):
            stored = await self._claimant.look(message, fresh=attempt > 0)
            answered = await self._claimant.answered(stored.document, message)
            if answered is not None:
                run = Run(run_id=answered.run_id, message=message)
                self._spawn(self._repeat(run, answered))
                return run
            if lane.driver is not None or self._must_wait(stored.document):
                return await self._enqueue(lane, message, stored)
            run = Run(run_id=self._ids.new_id("run"), message=message)
            claim = await self._claimant.claim(stored, message, run.run_id)
            if claim is not None:
                self._drive(lane, self._hub.add(run), claim)
                return run
        raise StoreUnavailableError("the conversation could not be claimed")

    def _must_wait(self, conversation: Conversation) -> bool:
        held = self._claimant.state(conversation, runs_here=False) == "held"
        return held or queue_length(conversation) > 0

    async def _enqueue(
        self, lane: Lane, message: IncomingMessage, stored: Stored[Conversation]
    ) -> Run:
        run = Run(run_id=self._ids.new_id("run"), message=message)
        run.emit(Notice("queued", "Your message waits until the one before it is answered."))
        run.queued = True
        lane.waiting[run.run_id] = run
        stored_durably = False
        try:
            await self._claimant.enqueue(stored, message, run.run_id)
            stored_durably = True
        finally:
            if not stored_durably:
                del lane.waiting[run.run_id]
                self._serve_those_who_wait(lane, run)
        self._hub.add(run)
        if lane.driver is None:
            self._drive(lane, run, None)
        return run

    def _serve_those_who_wait(self, lane: Lane, run: Run) -> None:
        """Answer what a dead replica left in the queue, although `run` found no place in it."""
        if lane.driver is None:
            lane.is_queue_left = True
            self._drive(lane, run, None)

    def _drive(self, lane: Lane, run: Run, claim: Claim | None) -> None:
        async def drive() -> None:
            try:
                await self._answer_all(lane, run, claim)
            finally:
                # Nobody else ends what is left here, and watchers wait for an end.
                self._end_unfinished(lane, RoundsError())
                lane.current, lane.driver, lane.is_queue_left = None, None, False
                lane.released.set()
                self._tidy(run.conversation_id)

        lane.driver = asyncio.create_task(drive())

    async def _answer_all(self, lane: Lane, run: Run, claim: Claim | None) -> None:
        """Answer `run` if it holds `claim`, then whatever waits, until nothing of ours does."""
        message = run.message
        while True:
            while claim is not None:
                claim = await self._answer_one(lane, claim, run)
                if claim is not None:
                    run = self._run_of(lane, claim)
            if not lane.waiting and not lane.is_queue_left:
                return
            claim = await self._turn_comes(lane, message)
            if claim is not None:
                run = self._run_of(lane, claim)

    async def _answer_one(self, lane: Lane, claim: Claim, run: Run) -> Claim | None:
        """Answer `run` and free the conversation; return the claim of the message after it."""
        lane.released.clear()
        lane.current = run
        queued_as = claim.conversation.inbox_head - 1 if run.queued else None
        try:
            successor = await self._answer_and_release(claim, run)
            if queued_as is not None:
                await self._claimant.forget_queued(run.conversation_id, queued_as)
        except StoreError as error:
            # The claim stays: it names the message, and whoever comes next takes it over.
            logger.warning("turn_not_released", run_id=run.run_id, code=error.code)
            self._claimant.forget(run.conversation_id)
            if not run.is_finished:
                run.emit(RunFailed(error.code, error.user_message, run.run_id))
            successor = None
        self._hub.ended(run)
        lane.current = None
        lane.released.set()
        return successor

    async def _answer_and_release(self, claim: Claim, run: Run) -> Claim | None:
        answered = await self._claimant.answered(claim.conversation, run.message)
        if answered is not None:
            await self._repeat(run, answered)
            successor = await self._successor(claim)
            return await claim.release(None, change=_unchanged, successor=successor)
        outcome = await self._pipeline.run(claim, run)
        successor = await self._successor(claim)
        return await claim.release(outcome.answered, change=outcome.commit, successor=successor)

    async def _successor(self, claim: Claim) -> Successor | None:
        return None if self._is_late else await self._claimant.successor(claim.conversation)

    def _run_of(self, lane: Lane, claim: Claim) -> Run:
        """Return the waiting run of a queued message, or a new one that its channel delivers."""
        mine = lane.waiting.pop(claim.run_id, None)
        if mine is not None:
            return mine
        run = self._hub.add(Run(run_id=claim.run_id, message=claim.message))
        run.queued = True
        deliver = self._deliver.get(claim.message.channel)
        if deliver is not None:
            self._spawn(deliver(run))
        return run

    async def _turn_comes(self, lane: Lane, message: IncomingMessage) -> Claim | None:
        """Wait until a queued message can run here; None once none of ours waits any more."""
        failures = 0
        while lane.waiting or lane.is_queue_left:
            if self._is_late:
                self._end_unfinished(lane, ServerStoppingError())
                break
            try:
                stored = await self._claimant.look(message, fresh=True)
                await self._repeat_answered(lane, stored.document)
                if queue_length(stored.document) == 0:
                    lane.is_queue_left = False
                if self._claimant.state(stored.document, runs_here=False) != "held":
                    claim = await self._claimant.claim_next(stored)
                    if claim is not None:
                        return claim
                failures = 0
            except StoreError as error:
                failures += 1
                if failures > _POLL_FAILURES:
                    self._end_unfinished(lane, error)
                    break
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _repeat_answered(self, lane: Lane, conversation: Conversation) -> None:
        """Repeat to their watchers what another replica answered."""
        for run in list(lane.waiting.values()):
            answered = await self._claimant.answered(conversation, run.message)
            if answered is not None:
                lane.waiting.pop(run.run_id, None)
                await self._repeat(run, answered)

    async def _repeat(self, run: Run, answered: AnsweredMessage) -> None:
        run.replayed = True
        await self._answers.repeat(run, answered)
        self._hub.ended(run)

    def _end_unfinished(self, lane: Lane, error: RoundsError) -> None:
        """End the runs that were not answered; what is queued runs at the next contact."""
        runs = [*lane.waiting.values(), *([lane.current] if lane.current is not None else [])]
        lane.waiting.clear()
        for run in runs:
            if not run.is_finished:
                run.emit(RunFailed(error.code, error.user_message, run.run_id))
            self._hub.ended(run)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        self._keep(asyncio.create_task(work))

    def _keep(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may have gone away

    def _tidy(self, conversation_id: str) -> None:
        lane = self._lanes.get(conversation_id)
        if lane is not None and lane.driver is None and lane.visitors == 0:
            del self._lanes[conversation_id]


def _unchanged(_: Conversation) -> None:
    """Change nothing but the claim."""
