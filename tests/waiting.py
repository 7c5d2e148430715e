"""Waiting for what shall happen, however busy the machine is."""

import asyncio
from collections.abc import Callable

PATIENCE_SECONDS = 60.0


async def until(is_so: Callable[[], object], *, seconds: float = PATIENCE_SECONDS) -> None:
    """Return once it is so; what the test looks at tells nobody of its changes."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
