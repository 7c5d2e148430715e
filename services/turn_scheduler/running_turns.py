"""One conversation as one process serves it."""

import asyncio
from dataclasses import dataclass, field

from services.runs.hub import Run


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

    def find(self, message_hash: str) -> Run | None:
        """Return the run of that message, if it runs or waits here."""
        runs = [*self.waiting.values(), *([self.current] if self.current else [])]
        return next((run for run in runs if run.message.message_hash == message_hash), None)

    def wait_with(self, run: Run) -> None:
        """Have `run` wait behind what is under way, which is told that others wait."""
        self.waiting[run.run_id] = run
        if self.current is not None:
            self.current.others_wait = True

    async def wait_for_commit(self) -> None:
        """Return once a turn whose last event is out is also released: it takes one write."""
        while self.current is not None and self.current.is_finished:
            await self.released.wait()
