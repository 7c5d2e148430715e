"""The sign that somebody is typing, repeated for as long as the work takes."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

REPEAT_SECONDS = 3.0
"""Channels show the sign for some seconds, or until the next message."""


class TypingSign:
    """Shows the sign while it is on; a context manager, off at its begin and at its end."""

    def __init__(self, *, show: Callable[[], Awaitable[None]]) -> None:
        self._show = show
        self._on = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to show it."""
        self._on.set()

    def off(self) -> None:
        """Show it no more."""
        self._on.clear()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._repeat())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _repeat(self) -> None:
        while await self._on.wait():
            # It may have been turned off since the waiting ended.
            if self._on.is_set():
                await self._show()
                await asyncio.sleep(REPEAT_SECONDS)
