"""Runs that another replica answers, shown here as they grow.

The replica that runs a turn is asked for a journal of it, which is read until the run's end. Where
there is none (an older release, a replica that died) the stored answer tells what is missing:
nobody waits for ever.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextvars import Context
from datetime import datetime

import structlog

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.conversation import Conversation, RunningTurn
from data_models.conversation_accessor import ConversationAccessor
from data_models.errors import (
    CorruptDocumentError,
    InterruptedTurnError,
    RoundsError,
    StoreUnavailableError,
)
from data_models.incoming_message import IncomingMessage
from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    Notice,
    RunFailed,
    RunFinished,
    RunStarted,
    TurnEvent,
)
from services.conversations.claimant import Claimant
from services.conversations.shown import Shown
from services.conversations.stored_answers import StoredAnswers
from services.run_journal.journal import JournalNames, JournalReader
from services.run_journal.pace import Pace
from services.run_journal.replica_signals import ReplicaSignal, ReplicaSignals
from services.runs.hub import Run, RunHub

# What watchers of a run are told of another attempt at it, behind what they have seen.


class RetriedRun:
    """The events of a run that was begun anew, as those of the one run that its watchers know.

    The next attempt says again what the one before had stored, under the same ids. What that one
    had only begun to say ends where it broke off.

    Args:
        past: What was shown.
        now: When what broke off ends.
    """

    def __init__(self, *, past: Sequence[TurnEvent], now: datetime) -> None:
        self._shown = Shown.of(past)
        self._now = now

    def opening(self) -> Iterator[TurnEvent]:
        """Yield what ends before anything follows: steps, and calls of tools."""
        return self._shown.loose_ends()

    def rest_of(self, event: TurnEvent) -> Iterator[TurnEvent]:
        """Yield what is new of the next event."""
        match event:
            case RunStarted() if self._shown.is_begun:
                return
            case Notice(kind="queued"):
                return
            case AgentMessageStarted(message_id=message_id) | AgentTextDelta(message_id=message_id):
                if message_id in self._shown.texts:
                    return
            case AgentMessageFinished(message=message) if message.message_id in self._shown.texts:
                yield from self._shown.rest_of(message)
                self._shown.whole.add(message.message_id)
                return
            case _:
                pass
        if isinstance(event, AgentMessageStarted | RunFinished | RunFailed):
            yield from self._shown.broken_off(self._now)
        yield event


Revive = Callable[[IncomingMessage], Awaitable[object]]
_FAILED_LOOKS_LIMIT = 40

logger = structlog.get_logger()


class RemoteRuns:
    """What this replica shows of runs of others. Only for the owner of their conversation."""

    def __init__(
        self,
        *,
        conversations: ConversationAccessor,
        claimant: Claimant,
        answers: StoredAnswers,
        store: BlobStore,
        signals: ReplicaSignals,
        hub: RunHub,
        clock: Clock,
        pace: Pace,
    ) -> None:
        self._pace = pace
        self._conversations = conversations
        self._claimant = claimant
        self._answers = answers
        self._store = store
        self._signals = signals
        self._hub = hub
        self._clock = clock
        self._revive: Revive = _nobody
        self._tasks: set[asyncio.Task[None]] = set()

    def on_dead(self, revive: Revive) -> None:
        """Have `revive` take a turn over, by its message, whose replica is found dead."""
        self._revive = revive

    async def watch(self, conversation_id: str, run_id: str, *, owner: str) -> Run | None:
        """Return the run as it goes on elsewhere; None if it does not, or is not the owner's.

        Raises:
            StoreError: nobody can tell just now.
        """
        running = await self._running(conversation_id, owner)
        if running is None or running.run_id != run_id:
            return None
        return self._shown(running)

    def same(self, conversation: Conversation, message: IncomingMessage) -> Run | None:
        """Return the run that answers `message` elsewhere already, if there is one."""
        running = self._held(conversation)
        if running is None or running.message.message_hash != message.message_hash:
            return None
        return self._shown(running)

    def take_up(self, conversation: Conversation, waiting: Mapping[str, Run]) -> Run | None:
        """Return the run of those that wait here which another replica answers; it is shown now.

        None for one that has only begun: it may be over before anybody could be asked.
        """
        running = self._held(conversation)
        run = None if running is None else waiting.get(running.run_id)
        if running is None or run is None:
            return None
        age = self._clock.now() - running.started_at
        if age.total_seconds() < self._pace.young:
            return None
        self._follow(run, running)
        return run

    async def stop(self, conversation_id: str, *, owner: str, run_id: str | None) -> bool:
        """Ask the replica that runs the turn to cancel it; False if none does.

        Raises:
            StoreError: it could not be asked.
        """
        running = await self._running(conversation_id, owner)
        if running is None or run_id not in (None, running.run_id):
            return False
        await self._signals.send(running.replica, ReplicaSignal(run_id=running.run_id, what="stop"))
        return True

    def close(self) -> None:
        """Stop to look; sockets are told that the server stops, and come back elsewhere."""
        for task in self._tasks:
            task.cancel()

    async def _running(self, conversation_id: str, owner: str) -> RunningTurn | None:
        stored = await self._conversations.read(conversation_id, fresh=True)
        if stored is None or stored.document.owner != owner:
            return None
        running = stored.document.running_turn
        return running if running is not None and running.purpose == "turn" else None

    def _held(self, conversation: Conversation) -> RunningTurn | None:
        """Return the turn that another replica runs and whose answer it does not deliver itself."""
        running = conversation.running_turn
        if running is None or running.purpose != "turn" or running.message.is_delivered:
            return None
        return running if self._claimant.state(conversation, runs_here=False) == "held" else None

    def _shown(self, running: RunningTurn) -> Run:
        known = self._hub.find(running.run_id)
        if known is not None:
            return known
        run = self._hub.add(Run(run_id=running.run_id, message=running.message))
        self._follow(run, running)
        return run

    def _follow(self, run: Run, running: RunningTurn) -> None:
        # A context of its own: what it asks of storage is no turn's.
        task = asyncio.create_task(self._show(run, running), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _show(self, run: Run, running: RunningTurn) -> None:
        view = _View(run=run, running=running, store=self._store)
        error: RoundsError = InterruptedTurnError()
        try:
            await self._tell(view)
        except RoundsError as failure:
            logger.warning("run_not_followed", run_id=run.run_id, code=failure.code)
            error = failure
        if run.is_deserted and not run.is_finished:
            self._hub.drop(run)  # who comes later is shown it from the first event on
        if not run.is_finished:
            run.emit(RunFailed(error.code, error.user_message, run.run_id))
        if self._hub.find(run.run_id) is run:  # else its message runs here by now
            self._hub.ended(run)

    async def _tell(self, view: "_View") -> None:
        """Emit what is read until the run has ended, or nobody watches it any more."""
        looked_at, watched_at, failures = -self._pace.silence, self._clock.monotonic(), 0
        while not view.run.is_finished:
            now = self._clock.monotonic()
            try:
                if await view.read():
                    looked_at = now
                elif now - looked_at >= self._pace.silence:
                    looked_at = now
                    if await self._is_over(view):
                        return
                failures = 0
            except StoreUnavailableError:
                failures += 1
                if failures > _FAILED_LOOKS_LIMIT:
                    raise
            watched_at = watched_at if view.run.is_deserted else now
            if now - watched_at > self._pace.deserted:
                return
            await asyncio.sleep(self._pace.poll)

    async def _is_over(self, view: "_View") -> bool:
        """Look whether the turn still runs; tell the rest from the stored answer if not."""
        first = view.running
        stored = await self._conversations.read(first.message.conversation_id, fresh=True)
        if stored is None:
            return True
        conversation, now = stored.document, stored.document.running_turn
        if now is None or now.run_id != first.run_id:
            return await self._ended(conversation, view)
        if now.attempts != first.attempts:
            return await self._goes_on(view, now)
        if self._claimant.state(conversation, runs_here=False) == "abandoned":
            await self._revive(first.message)
        elif not view.has_news:
            await self._signals.send(first.replica, ReplicaSignal(run_id=first.run_id, what="show"))
        return False

    async def _goes_on(self, view: "_View", now: RunningTurn) -> bool:
        """Show the turn as who took it over answers it; True if that was told to its end."""
        logger.info("run_followed_on", run_id=now.run_id, attempt=now.attempts)
        view.go_on_with(now, at=self._clock.now())
        here = self._hub.find(now.run_id)
        if here is None or here is view.run:
            return False
        async for _, event in here.events():
            view.show(event)
        return True

    async def _ended(self, conversation: Conversation, view: "_View") -> bool:
        await asyncio.sleep(self._pace.last_words)  # its last words may be on their way
        await view.read()
        if view.run.is_finished:
            return True
        message_hash = view.running.message.message_hash
        answered = await self._conversations.answered(conversation, message_hash)
        if answered is not None and answered.run_id == view.run.run_id:
            # What this replica remembers is older than that answer.
            self._conversations.forget(conversation.conversation_id)
            await self._answers.repeat(view.run, answered)
        return True


class _View:
    """A run of another replica and how far its journal is read.

    Attributes:
        has_news: Whether there is a journal.
    """

    def __init__(self, *, run: Run, running: RunningTurn, store: BlobStore) -> None:
        self.run = run
        self.running = running
        self.has_news = False
        self._store = store
        self._reader: JournalReader | None = self._reader_of(running)
        self._again: RetriedRun | None = None

    def go_on_with(self, running: RunningTurn, *, at: datetime) -> None:
        """Read on where another replica answers the turn anew."""
        self.running = running
        self.has_news = False
        self._reader = self._reader_of(running)
        self._again = RetriedRun(past=self.run.past(), now=at)
        for event in self._again.opening():
            self.run.emit(event)

    def show(self, event: TurnEvent) -> None:
        """Emit what is new of the next event."""
        if self._again is not None:
            for rest in self._again.rest_of(event):
                self.run.emit(rest)
        elif not (self.run.queued and _is_wait(event)):  # that is told here already
            self.run.emit(event)

    async def read(self) -> list[TurnEvent]:
        """Emit what is new, and return it."""
        if self._reader is None:
            return []
        try:
            events = await self._reader.news()
        except CorruptDocumentError:
            # A newer release says what this one cannot show; the stored answer it can.
            self._reader = None
            return []
        self.has_news = self.has_news or bool(events)
        for event in events:
            self.show(event)
        return events

    def _reader_of(self, running: RunningTurn) -> JournalReader:
        names = JournalNames(
            conversation_id=self.run.conversation_id,
            run_id=self.run.run_id,
            replica=running.replica,
        )
        return JournalReader(store=self._store, names=names)


def _is_wait(event: TurnEvent) -> bool:
    return isinstance(event, Notice) and event.kind == "queued"


async def _nobody(_: IncomingMessage) -> None:
    """Whoever comes next takes the turn over."""
