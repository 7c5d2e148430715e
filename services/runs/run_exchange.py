"""What lets a run be watched from a replica that does not run it: both sides of it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime
from math import inf

import structlog

from data_models.blob_store import BlobStore
from data_models.claim import Claim
from data_models.clock import Clock
from data_models.conversation_accessor import ConversationAccessor
from data_models.errors import ClaimLostError, StoreError, StoreUnavailableError
from services.conversations.claimant import Claimant
from services.conversations.stored_answers import StoredAnswers
from services.run_journal.journal import JournalNames, JournalWriter
from services.run_journal.pace import Pace
from services.run_journal.replica_signals import ReplicaSignal, ReplicaSignals
from services.runs.hub import Run, RunHub
from services.runs.remote_runs import RemoteRuns

# Shows the runs of this replica to others, once one of them asks; until then it writes nothing.
#
# Who watches a run from another replica sends this one a signal. They are looked at while a turn
# runs that is older than a second: once a second, however many turns run, and at each tick after
# somebody who watched here is gone.

_FAILED_WRITES_LIMIT = 20
_CLOSE_SECONDS = 2.0

logger = structlog.get_logger()


@dataclass(slots=True)
class _Running:
    """A run of this replica.

    Attributes:
        left_at: When its last watcher here was found gone.
        is_shared: Whether its journal is written.
        until: So long nobody can have taken its conversation over.
    """

    run: Run
    claim: Claim
    since: float
    until: datetime
    left_at: float | None = None
    is_shared: bool = False

    async def hold(self, clock: Clock) -> None:
        """Return if the run may be written down; the last of it is while nobody came after it.

        Raises:
            ClaimLostError: this replica stood still. What it would write may be cleared by now.
            StoreUnavailableError: nobody can tell just now.
        """
        if not self.run.is_finished:
            await self.claim.hold()
            self.until = self.claim.held_until or self.until
        elif self.claim.is_lost or clock.now() > self.until:
            raise ClaimLostError("the conversation may be another replica's")

    def was_left(self, now: float) -> float:
        """Return how long ago its last watcher was found gone; infinite if somebody watches."""
        if not self.run.is_deserted:
            self.left_at = None
            return inf
        self.left_at = now if self.left_at is None else self.left_at
        return now - self.left_at


class SharedRuns:
    """The runs of this process that others may ask for."""

    def __init__(
        self, *, store: BlobStore, signals: ReplicaSignals, replica: str, clock: Clock, pace: Pace
    ) -> None:
        self._pace = pace
        self._store = store
        self._signals = signals
        self._replica = replica
        self._clock = clock
        self._running: dict[str, _Running] = {}
        self._listener: asyncio.Task[None] | None = None
        self._looked_at = clock.monotonic()
        self._journals: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()
        self._has_signal = False

    @contextmanager
    def offered(self, run: Run, claim: Claim) -> Iterator[None]:
        """Let other replicas ask for `run`, which holds `claim`, while it goes on."""
        self._running[run.run_id] = _Running(
            run,
            claim,
            since=self._clock.monotonic(),
            until=claim.held_until or self._clock.now(),
        )
        if self._listener is None:
            # A context of its own: what it asks of storage is no turn's.
            self._listener = asyncio.create_task(self._listen(), context=Context())
        try:
            yield
        finally:
            del self._running[run.run_id]

    async def close(self) -> None:
        """Finish and delete the journals; runs that still go on are not shown any more."""
        self._closing.set()
        if self._journals:
            await asyncio.wait(self._journals, timeout=_CLOSE_SECONDS)
        for task in (*self._journals, *((self._listener,) if self._listener else ())):
            task.cancel()
        if self._has_signal:
            with suppress(StoreError):
                await self._signals.take_down(self._replica)

    async def _listen(self) -> None:
        try:
            while self._running:
                await asyncio.sleep(self._pace.tick)
                if self._shall_look():
                    self._looked_at = self._clock.monotonic()
                    await self._look()
        finally:
            self._listener = None

    def _shall_look(self) -> bool:
        now = self._clock.monotonic()
        waiting = [each for each in self._running.values() if not each.run.is_finished]
        if any(each.was_left(now) < self._pace.left for each in waiting):
            return True
        is_long = any(now - each.since >= self._pace.young for each in waiting)
        return is_long and now - self._looked_at >= self._pace.signal

    async def _look(self) -> None:
        try:
            rings = await self._signals.received(self._replica)
        except StoreError as error:
            logger.warning("bell_unreadable", code=error.code)
            return
        self._has_signal = self._has_signal or bool(rings)
        for send in rings:
            self._answer(send)

    def _answer(self, send: ReplicaSignal) -> None:
        running = self._running.get(send.run_id)
        if running is None:
            return
        if send.what == "stop":
            running.run.request_stop("cancelled")
        elif not running.is_shared:
            running.is_shared = True
            logger.info("run_shared", run_id=send.run_id)
            task = asyncio.create_task(self._write_down(running), context=Context())
            self._journals.add(task)
            task.add_done_callback(self._journals.discard)

    async def _write_down(self, running: _Running) -> None:
        run = running.run
        names = JournalNames(
            conversation_id=run.conversation_id, run_id=run.run_id, replica=self._replica
        )
        writer = JournalWriter(store=self._store, names=names)
        try:
            await running.hold(self._clock)
            await writer.sweep()
            await self._follow(running, writer)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), self._pace.kept)
        except StoreError as error:
            # Who watches is told the stored answer in the end.
            logger.warning("run_not_shared", run_id=run.run_id, code=error.code)
        finally:
            with suppress(StoreError):
                await writer.delete()

    async def _follow(self, running: _Running, writer: JournalWriter) -> None:
        run, failures = running.run, 0
        while True:
            is_last = run.is_finished
            events = run.past(writer.seq)
            try:
                if events:
                    await running.hold(self._clock)
                    await writer.add(events)
                failures = 0
            except StoreUnavailableError:
                failures += 1
                if failures > _FAILED_WRITES_LIMIT:
                    raise
            if is_last and writer.seq == len(run.past()):
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(run.wait(), self._pace.batch)
            if failures:
                await asyncio.sleep(self._pace.batch)


@dataclass(frozen=True, slots=True)
class RunExchange:
    """The runs of this replica that others may ask for, and those of others that it shows."""

    shared: SharedRuns
    elsewhere: RemoteRuns

    async def close(self) -> None:
        """Show nothing any more, and leave nothing behind."""
        self.elsewhere.close()
        await self.shared.close()


def run_exchange_for(
    *,
    sessions: BlobStore,
    users: BlobStore,
    replica: str,
    conversations: ConversationAccessor,
    claimant: Claimant,
    answers: StoredAnswers,
    hub: RunHub,
    clock: Clock,
    pace: Pace | None = None,
) -> RunExchange:
    """Return both sides; journals stand in `sessions`, signals, which name nobody, in `users`."""
    signals, pace = ReplicaSignals(store=users), pace or Pace()
    return RunExchange(
        shared=SharedRuns(store=sessions, signals=signals, replica=replica, clock=clock, pace=pace),
        elsewhere=RemoteRuns(
            conversations=conversations,
            claimant=claimant,
            answers=answers,
            store=sessions,
            signals=signals,
            hub=hub,
            clock=clock,
            pace=pace,
        ),
    )
