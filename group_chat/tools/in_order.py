"""Calls that run side by side end in the order in which they were asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class CallLine:
    """The calls of one agent's message that are under way.

    What comes of them is kept in the order of the line, so that the same prompt leads to the same
    views and the same results whichever tool was quicker.
    """

    _last: asyncio.Event = field(default_factory=asyncio.Event)
    _is_begun: bool = False

    @contextmanager
    def place(self) -> Iterator[Callable[[], Awaitable[object]]]:
        """Stand in line; yield what waits until all who stood before are done."""
        before = self._last.wait if self._is_begun else _nobody
        own = self._last = asyncio.Event()
        self._is_begun = True
        try:
            yield before
        finally:
            own.set()


async def _nobody() -> None:
    """Wait for nobody."""
