"""Lets turns begin only as fast as this process keeps up, so that messages are still taken in.

A turn that waits for a slot is durable: its conversation names it, and its claim is renewed. A
conversation has one turn at a time, so a flood of one takes one slot and waits in line like all.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from data_models.conversations.claim import Claim
from data_models.conversations.incoming_message import IncomingMessage
from services.runs.hub import Run

FEW = 4
"""So many turns run however busy the loop is."""
LATE_SECONDS = 0.03
PATIENCE_SECONDS = 0.25
"""A loop that is always late, as where others use the processor, begins a turn so often still."""
_LOOK_SECONDS = 0.01

_Seat: TypeAlias = "asyncio.Future[None]"


class TurnSlots:
    """Slots turns in the order in which they came.

    A count alone cannot tell turns that wait for a model, of which a hundred cost little, from
    turns that compute. So beyond the first few, one is seated at each look at the loop that finds
    it on time.

    Args:
        limit: How many run at once, at most.
    """

    def __init__(self, *, limit: int = 128) -> None:
        self._limit = limit
        self._seated: set[_Seat] = set()
        self._line: deque[_Seat] = deque()
        self._usher: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many turns wait for a slot."""
        return len(self._line)

    @property
    def has_room(self) -> bool:
        """Whether a turn is seated at once."""
        return not self._line and len(self._seated) < min(FEW, self._limit)

    @asynccontextmanager
    async def slot(self, claim: Claim, run: Run) -> AsyncIterator[None]:
        """Wait for a slot, or until `run` is to stop, which needs none; hold `claim` meanwhile."""
        slot: _Seat = asyncio.get_running_loop().create_future()
        try:
            if not self.has_room:
                await self._wait(slot, claim, run)
            self._seated.add(slot)
            yield
        finally:
            self._seated.discard(slot)

    async def _wait(self, slot: _Seat, claim: Claim, run: Run) -> None:
        self._line.append(slot)
        if self._usher is None:
            self._usher = asyncio.create_task(self._seat_all())
        stopped = run.stop_requested()
        try:
            async with claim.renewing():
                either: set[asyncio.Future[Any]] = {slot, stopped}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            with suppress(ValueError):
                self._line.remove(slot)

    async def _seat_all(self) -> None:
        loop = asyncio.get_running_loop()
        seated_at = loop.time()
        while self._line:
            due = loop.time() + _LOOK_SECONDS
            await asyncio.sleep(_LOOK_SECONDS)
            is_late = loop.time() - due > LATE_SECONDS
            is_patient = loop.time() - seated_at < PATIENCE_SECONDS
            most = min(FEW, self._limit) if is_late and is_patient else self._limit
            room = most - len(self._seated)
            if self._line and room > 0:
                slot = self._line.popleft()
                self._seated.add(slot)
                slot.set_result(None)
                seated_at = loop.time()
        self._usher = None


# One conversation as one process serves it.


@dataclass(slots=True)
class RunningTurns:
    """What this process has under way for one conversation.

    Attributes:
        lock: Messages are admitted one at a time.
        visitors: Messages that are being admitted.
        current: The run that is being answered.
        waiting: Runs of queued messages that came in here, by run id.
        driver: Answers, one run after the other; None while nothing runs or waits.
        is_queue_left: Whether messages wait that came in elsewhere, perhaps at a dead replica.
        released: Set while no turn stands between its last event and its release.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    visitors: int = 0
    current: Run | None = None
    waiting: dict[str, Run] = field(default_factory=dict)
    driver: "asyncio.Task[None] | None" = None
    is_queue_left: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def find(self, message: IncomingMessage) -> Run | None:
        """Return the run of that message, if it runs or waits here."""
        runs = [*self.waiting.values(), *([self.current] if self.current else [])]
        return next((run for run in runs if message.is_again(run.message)), None)

    def of(self, run_id: str | None) -> Run | None:
        """Return the run that waits here by that id, else the one that runs."""
        waits = self.waiting.get(run_id or "")
        return waits if waits is not None and waits.queued else self.current

    def wait_with(self, run: Run) -> None:
        """Have `run` wait behind what is under way, which is told that others wait."""
        self.waiting[run.run_id] = run
        if self.current is not None:
            self.current.others_wait = True

    async def wait_for_commit(self) -> None:
        """Return once a turn whose last event is out is also released: it takes one write."""
        while self.current is not None and self.current.is_finished:
            await self.released.wait()
