"""Refusals of conversations take as long for a foreign one as for one that does not exist."""

import asyncio
import math
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from data_models.clock import Clock
from data_models.errors import NotFoundError

STEP_SECONDS = 0.05
"""A foreign conversation is read before it is refused, in a few thousandths of a second."""


def wait_seconds(elapsed: float) -> float:
    """Return how long to wait so that a refusal comes at a whole number of steps."""
    return math.floor(elapsed / STEP_SECONDS + 1) * STEP_SECONDS - elapsed


def evened(
    clock: Clock, *, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> Middleware:
    """Return the middleware that lets no time tell what exists.

    Args:
        pause: Waits for so many seconds.
    """

    @web.middleware
    async def answer_evenly(request: web.Request, handler: Handler) -> web.StreamResponse:
        began = clock.monotonic()
        try:
            return await handler(request)
        except NotFoundError:
            await pause(wait_seconds(clock.monotonic() - began))
            raise

    return answer_evenly
