"""Keeps updates as far apart as the channel asks."""

import asyncio

from data_models.clock import Clock


class Pace:
    """One step at a time, each at least `seconds` after the one before."""

    def __init__(self, *, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next_at = 0.0

    async def come(self) -> None:
        """Return when the next step may be taken."""
        await asyncio.sleep(max(self._next_at - self._clock.monotonic(), 0.0))

    def note_sent(self, *, wait_seconds: float = 0.0) -> None:
        """Count from now, and wait longer once if the channel asked for it."""
        self._next_at = self._clock.monotonic() + max(self._seconds, wait_seconds)
