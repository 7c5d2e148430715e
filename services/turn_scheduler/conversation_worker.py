"""Answers the messages of one conversation, one after the other, until none of ours waits."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import structlog

from data_models.conversations.claim import Claim, Successor
from data_models.conversations.claim_decision import queue_length
from data_models.conversations.conversation import AnsweredMessage, Conversation
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import RunFailed, RunFinished, TurnTiming
from data_models.documents import Stored
from data_models.errors import InterruptedTurnError, RoundsError, ServerStoppingError, StoreError
from services.conversations.claimant import Claimant
from services.conversations.earlier_turns import StoredAnswers
from services.language.words.detection import language_of
from services.language.words.own_texts import in_own_language
from services.runs.hub import Run, RunHub, StopRequests
from services.turn_pipeline import TurnPipeline
from services.turn_scheduler.turn_slots import RunningTurns, TurnSlots

Deliver = Callable[[Run], Coroutine[None, None, None]]
_POLL_SECONDS = 0.25
_POLL_FAILURES = 40

logger = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class ConversationWorker:
    """Drives conversations. Which message comes next says the conversation; nobody else runs turns.

    Attributes:
        slots: Where turns wait that this process cannot begin yet.
        crisis_response: What a call for help is told that finds no way in.
        is_late: Set when the process must end: nothing more is begun.
    """

    pipeline: TurnPipeline
    claimant: Claimant
    answers: StoredAnswers
    hub: RunHub
    slots: TurnSlots
    stops: StopRequests

    def __post_init__(self) -> None:
        self.crisis_response = self.pipeline.crisis_response
        self._deliver: dict[str, Deliver] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.is_late = False

    def on_orphan(self, channel: str, deliver: Deliver) -> None:
        """Have `deliver` reply when a message that came in elsewhere runs here."""
        self._deliver[channel] = deliver

    def drive(
        self, running: RunningTurns, run: Run, claim: Claim | None, *, ended: Callable[[], None]
    ) -> None:
        """Answer `run` if it holds `claim`, then whatever waits; `ended` is called after."""

        async def work() -> None:
            try:
                await self._answer_all(running, run, claim)
            finally:
                # Nobody else ends what is left here, and watchers wait for an end.
                self._end_unfinished(running, RoundsError())
                running.current, running.driver, running.is_queue_left = None, None, False
                running.released.set()
                ended()

        running.driver = asyncio.create_task(work())

    async def _answer_all(self, running: RunningTurns, run: Run, claim: Claim | None) -> None:
        """Answer `run` if it holds `claim`, then whatever waits, until nothing of ours does."""
        message = run.message
        while True:
            while claim is not None:
                if (claim := await self._answer_one(running, claim, run)) is not None:
                    run = self._run_of(running, claim)
            if not running.waiting and not running.is_queue_left:
                return
            if (claim := await self._turn_comes(running, message)) is not None:
                run = self._run_of(running, claim)

    async def _answer_one(self, running: RunningTurns, claim: Claim, run: Run) -> Claim | None:
        """Answer `run` and free the conversation; return the claim of the message after it."""
        running.released.clear()
        running.current = run
        queued_as = claim.conversation.inbox_head - 1 if run.queued else None
        try:
            successor = await self._answer_and_release(claim, run)
            if queued_as is not None:
                await self.claimant.conversations.forget_queued(run.conversation_id, queued_as)
        except StoreError as error:
            # The claim stays: it names the message, and whoever comes next takes it over.
            logger.warning("turn_not_released", run_id=run.run_id, code=error.code)
            self.claimant.conversations.forget(run.conversation_id)
            self._fail(run, error)
            successor = None
        self.hub.note_end(run)
        running.current = None
        running.released.set()
        return successor

    async def _answer_and_release(self, claim: Claim, run: Run) -> Claim | None:
        answered = await self.claimant.find_answer(claim.conversation, run.message)
        if answered is not None:
            await self._repeat(run, answered)
            successor = await self._successor(claim)
            return await claim.release(None, successor=successor)
        needs_no_seat = not self.slots.has_room and self.crisis_response.is_due(run.message)
        with self.stops.heeded(run):
            async with nullcontext() if needs_no_seat else self.slots.slot(claim, run):
                outcome = await self.pipeline.run(claim, run)
        successor = await self._successor(claim)
        return await claim.release(outcome.answered, change=outcome.commit, successor=successor)

    async def _successor(self, claim: Claim) -> Successor | None:
        return None if self.is_late else await self.claimant.successor(claim.conversation)

    def _run_of(self, running: RunningTurns, claim: Claim) -> Run:
        """Return the waiting run of a queued message, or a new one that its channel delivers."""
        if (mine := running.waiting.pop(claim.run_id, None)) is not None:
            return mine
        return self.orphan(claim, queued=True)

    def orphan(self, claim: Claim, *, queued: bool) -> Run:
        """Return a run for a message that came in elsewhere; its channel delivers."""
        run = self.hub.add(Run(run_id=claim.run_id, message=claim.message))
        run.queued = queued
        if (deliver := self._deliver.get(claim.message.channel)) is not None:
            self.keep(asyncio.create_task(deliver(run)))
        return run

    async def _turn_comes(self, running: RunningTurns, message: IncomingMessage) -> Claim | None:
        """Wait until a queued message can run here; None once none of ours waits any more."""
        failures = 0
        while running.waiting or running.is_queue_left:
            if self.is_late:
                self._end_unfinished(running, ServerStoppingError())
                break
            try:
                stored = await self.claimant.look(message, fresh=True)
                await self._repeat_answered(running, stored.document)
                if queue_length(stored.document) == 0:
                    running.is_queue_left = False
                if (claim := await self._claim_next(stored)) is not None:
                    return claim
                failures = 0
            except StoreError as error:
                failures += 1
                if failures > _POLL_FAILURES:
                    self._end_unfinished(running, error)
                    break
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _claim_next(self, stored: Stored[Conversation]) -> Claim | None:
        """Claim for what comes next: a dead turn that may be answered, else who waits longest."""
        state = self.claimant.state(stored.document, runs_here=False)
        claim = await self.claimant.resume(stored) if state == "abandoned" else None
        if claim is not None or state == "held":
            return claim
        return await self.claimant.claim_next(stored)

    async def _repeat_answered(self, running: RunningTurns, conversation: Conversation) -> None:
        """Repeat to their watchers what another replica answered."""
        turn = conversation.running_turn
        for run in list(running.waiting.values()):
            answered = await self.claimant.find_answer(conversation, run.message)
            if answered is not None:
                running.waiting.pop(run.run_id, None)
                # What this replica remembers is older than that answer.
                self.claimant.conversations.forget(conversation.conversation_id)
                await self._repeat(run, answered)
            elif turn is not None and turn.run_id == run.run_id:
                if run.is_stopping:  # it had begun before it was taken out of the queue
                    await self.stops.send(
                        run.conversation_id, owner=run.message.owner, run_id=run.run_id
                    )
            elif run.queued and (run.is_stopping or _is_passed(run, conversation)):
                del running.waiting[run.run_id]  # it was taken out of the queue
                run.emit(RunFinished("cancelled", TurnTiming()))
                self.hub.note_end(run)
            elif not run.queued:
                del running.waiting[run.run_id]  # its replica gave it up, and nothing is stored
                self.refused(run, InterruptedTurnError())

    async def _repeat(self, run: Run, answered: AnsweredMessage) -> None:
        run.replayed = True
        if self.crisis_response.give(run):
            run.emit(RunFinished("success", TurnTiming()))
        else:
            await self.answers.repeat(run, answered)
        self.hub.note_end(run)

    def _end_unfinished(self, running: RunningTurns, error: RoundsError) -> None:
        """End the runs that were not answered; what is queued runs at the next contact."""
        runs = [
            *running.waiting.values(),
            *([running.current] if running.current is not None else []),
        ]
        running.waiting.clear()
        for run in runs:
            self._fail(run, error)
            self.hub.note_end(run)

    def _fail(self, run: Run, error: RoundsError) -> None:
        if not run.is_finished:
            self.crisis_response.give(run)
            language = language_of(run.message.text, default=run.message.language)
            told = in_own_language(error.user_message, language)
            run.emit(RunFailed(error.code, told, run.run_id))

    def refused(self, run: Run, error: RoundsError) -> Run:
        """End a run whose message could not be taken in; a call for help is answered first."""
        self._fail(run, error)
        self.hub.note_end(run)
        return run

    def repeat(self, run: Run, answered: AnsweredMessage) -> None:
        """Have the stored answer told again to the watchers of `run`."""
        self.keep(asyncio.create_task(self._repeat(run, answered)))

    def keep(self, task: "asyncio.Task[Any]") -> None:
        """Keep a task alive whose caller may go away."""
        self._tasks.add(task)
        task.add_done_callback(self._drop)

    def _drop(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may have gone away


def _is_passed(run: Run, conversation: Conversation) -> bool:
    """Whether the queue went on behind the message: withdrawn elsewhere, as nothing answered it."""
    return run.place is not None and run.place < conversation.inbox_head
