"""Runs of turns as their watchers see them: ordered, replayable, kept a little while."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from data_models.chat_context import AgentMessage
from data_models.clock import Clock
from data_models.conversations import turn_events
from data_models.conversations.incoming_message import IncomingMessage

StopReason = Literal["cancelled", "interrupted"]
KEPT_SECONDS = 300.0
KEPT_RUNS = 300
"""Of 30 kB each, if it had one answer. Whoever asks for a forgotten one gets its stored answer."""


class Run:
    """One run of a turn: a list of events that grows until its last.

    Watchers read from the list, each at its own pace, so a slow one costs no memory and holds
    nobody up. `seq` of an event is its place, from 1. `others_wait` is set once a message of the
    conversation came in that waits for this run's end.
    """

    def __init__(self, *, run_id: str, message: IncomingMessage, replayed: bool = False) -> None:
        self.run_id = run_id
        self.message = message
        self.replayed = replayed
        self.queued = False
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

    def past(self, after: int = 0) -> Sequence[turn_events.TurnEvent]:
        """Return what has happened so far past the `after`-th event."""
        return self._events[after:]

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

    async def stop_requested(self) -> StopReason:
        """Return why the turn shall stop, once somebody asks for it."""
        return await asyncio.shield(self._stop)

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
