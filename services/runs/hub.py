"""Runs of turns as their watchers see them: ordered, replayable, kept a while; and their stops."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from typing import Literal

import structlog
from pydantic import BaseModel

from data_models.chat_context import AgentMessage
from data_models.clock import Clock
from data_models.conversations import turn_events
from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import StoreError
from data_models.identifiers import hashed
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import read_if_whole

StopReason = Literal["cancelled", "interrupted"]
KEPT_SECONDS = 300.0
KEPT_RUNS = 300
"""Of 30 kB each, if it had one answer. Whoever asks for a forgotten one gets its stored answer."""


class Run:
    """One run of a turn: a list of events that grows until its last.

    Watchers read from the list, each at its own pace, so a slow one costs no memory and holds
    nobody up. `seq` of an event is its place, from 1. `others_wait` is set once a message of the
    conversation came in that waits for this run's end. `place` is its message's number in the
    queue, once that is stored.
    """

    def __init__(self, *, run_id: str, message: IncomingMessage, replayed: bool = False) -> None:
        self.run_id = run_id
        self.message = message
        self.replayed = replayed
        self.queued = False
        self.place: int | None = None
        self.others_wait = False
        self._events: list[turn_events.TurnEvent] = []
        self._grown = asyncio.Event()
        self._finished = asyncio.Event()
        self._stop: asyncio.Future[StopReason] = asyncio.get_running_loop().create_future()

    @property
    def conversation_id(self) -> str:
        """The conversation the turn belongs to."""
        return self.message.conversation_id

    @property
    def is_finished(self) -> bool:
        """Whether the last event has happened."""
        return self._finished.is_set()

    def past(self) -> Sequence[turn_events.TurnEvent]:
        """Return what has happened so far."""
        return self._events[:]

    def emit(self, event: turn_events.TurnEvent) -> None:
        """Add an event; nothing may follow `RunFinished` or `RunFailed`."""
        self._events.append(event)
        if isinstance(event, turn_events.RunFinished | turn_events.RunFailed):
            self._finished.set()
        self._grown.set()

    async def events(self, *, after: int = 0) -> AsyncIterator[tuple[int, turn_events.TurnEvent]]:
        """Yield (seq, event) for every event past `after`, then live, until the last."""
        seq = after
        while True:
            while seq < len(self._events):
                seq += 1
                yield seq, self._events[seq - 1]
            if self.is_finished:
                return
            self._grown.clear()
            await self._grown.wait()

    def request_stop(self, reason: StopReason) -> None:
        """Ask the turn to end soon; what was shown so far is kept."""
        if not self._stop.done():
            self._stop.set_result(reason)

    @property
    def is_stopping(self) -> bool:
        """Whether somebody has asked the turn to end."""
        return self._stop.done()

    def stop_requested(self) -> asyncio.Future[StopReason]:
        """Return what tells why the turn shall stop, once somebody asks for it."""
        return asyncio.shield(self._stop)

    async def wait(self) -> None:
        """Return when the last event has happened."""
        await self._finished.wait()


def show_whole(run: Run, message: AgentMessage) -> None:
    """Show a message in `run` that is complete already."""
    run.emit(turn_events.AgentMessageStarted(message.message_id, message.agent))
    if message.text:
        run.emit(turn_events.AgentTextDelta(message.message_id, message.text))
    run.emit(turn_events.AgentMessageFinished(message))


class RunHub:
    """The runs of this process: those that go on, and the last that ended within five minutes."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._ended: OrderedDict[str, float] = OrderedDict()

    def add(self, run: Run) -> Run:
        """Keep `run` from now on."""
        self._forget_old()
        self._runs[run.run_id] = run
        self._ended.pop(run.run_id, None)  # an earlier attempt at the same turn may have ended
        return run

    def note_end(self, run: Run) -> None:
        """Start the five minutes after which `run` is forgotten."""
        self._ended[run.run_id] = self._clock.monotonic()

    def find(self, run_id: str) -> Run | None:
        """Return the run of that id, if it is still kept."""
        self._forget_old()
        return self._runs.get(run_id)

    def _forget_old(self) -> None:
        oldest = self._clock.monotonic() - KEPT_SECONDS
        while self._ended:
            run_id, ended_at = next(iter(self._ended.items()))
            if ended_at > oldest and len(self._ended) <= KEPT_RUNS:
                return
            del self._ended[run_id]
            self._runs.pop(run_id, None)


# Stops that users ask for at another replica than the one that runs their turn.

# A blob for each replica, `bells/{hash of its name}.json`, beside the conversations.

_KEPT_RINGS = 64


class _Ring(BaseModel, frozen=True, extra="ignore"):
    """A run that is to stop. Ids only, nothing of a patient."""

    run_id: str
    what: Literal["stop"]


class _Rings(BaseModel):
    rings: list[_Ring] = []


async def ask_to_stop(store: BlobStore, replica: str, run_id: str) -> None:
    """Ask `replica` to stop a run of the caller's; it is asked when this returns.

    What was asked stays until 64 others came, so hearing it twice must do no harm.

    Raises:
        StoreUnavailableError: it may not be.
    """

    def rung(data: bytes | None) -> bytes | None:
        rings, ring = _rings(data), _Ring(run_id=run_id, what="stop")
        if ring in rings:
            return None
        return _Rings(rings=[*rings, ring][-_KEPT_RINGS:]).model_dump_json().encode()

    await change_blob(store, _bell(replica), rung, what="the signal of a replica")


async def read_stops(store: BlobStore, replica: str) -> list[str]:
    """Return the runs that `replica` was asked to stop, oldest first: one read."""
    blob = await store.read(_bell(replica))
    return [ring.run_id for ring in _rings(None if blob is None else blob.data)]


def _bell(replica: str) -> str:
    return f"bells/{hashed(replica)}.json"


def _rings(data: bytes | None) -> list[_Ring]:
    found = read_if_whole(data, _Rings)
    # One of a release that says it otherwise: nothing is lost but a stop.
    return [] if found is None else found.rings


LOOK_SECONDS = 1.0
"""How often signals are looked at while turns run: one read, however many do. Turns that are
shorter cost none."""

logger = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class StopRequests:
    """Sends stops to other replicas and listens for those that are meant for the runs here."""

    conversations: ConversationAccessor
    store: BlobStore
    replica: str
    look_seconds: float = LOOK_SECONDS
    _running: dict[str, Run] = field(default_factory=dict, init=False)
    _begun: dict[str, float] = field(default_factory=dict, init=False)
    _listener: asyncio.Task[None] | None = field(default=None, init=False)
    _has_signal: bool = field(default=False, init=False)

    async def send(self, conversation_id: str, *, owner: str, run_id: str | None) -> bool:
        """Ask the replica that runs the owner's turn to cancel it; False if none does.

        Raises:
            StoreError: it could not be asked.
        """
        stored = await self.conversations.read(conversation_id, fresh=True)
        if stored is None or stored.document.owner != owner:
            return False
        running = stored.document.running_turn
        if running is None or running.purpose != "turn" or run_id not in (None, running.run_id):
            return False
        await ask_to_stop(self.store, running.replica, running.run_id)
        return True

    @contextmanager
    def heeded(self, run: Run) -> Iterator[None]:
        """Stop `run` when another replica asks for it, while it goes on."""
        self._running[run.run_id] = run
        self._begun[run.run_id] = asyncio.get_running_loop().time()
        if self._listener is None:
            # A context of its own: what it asks of storage is no turn's.
            self._listener = asyncio.create_task(self._listen(), context=Context())
        try:
            yield
        finally:
            del self._running[run.run_id], self._begun[run.run_id]

    async def close(self) -> None:
        """Listen no more, and leave nothing behind."""
        if self._listener is not None:
            self._listener.cancel()
        if self._has_signal:
            with suppress(StoreError):
                await self.store.delete(_bell(self.replica))

    async def _listen(self) -> None:
        try:
            while self._running:
                await asyncio.sleep(self.look_seconds)
                now = asyncio.get_running_loop().time()
                if any(now - begun >= self.look_seconds for begun in self._begun.values()):
                    await self._look()
        finally:
            self._listener = None

    async def _look(self) -> None:
        try:
            asked = await read_stops(self.store, self.replica)
        except StoreError as error:
            logger.warning("bell_unreadable", code=error.code)
            return
        self._has_signal = self._has_signal or bool(asked)
        for run_id in asked:
            if (run := self._running.get(run_id)) is not None:
                run.request_stop("cancelled")
