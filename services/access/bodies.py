"""Bodies of requests: bounded in size by the application, in time here."""

import asyncio

from aiohttp import web

BODY_SECONDS = 10.0


async def body_of(request: web.Request) -> bytes:
    """Return the body of `request`; who sends it drop by drop holds a place for no longer.

    Raises:
        web.HTTPRequestTimeout: it did not come whole within `BODY_SECONDS`.
        web.HTTPRequestEntityTooLarge: it is larger than the application takes.
    """
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout from None


async def large_body_of(request: web.Request, *, limit_bytes: int, seconds: float) -> bytes | None:
    """Return the body, which may be larger than the application's others; None beyond the limit.

    Raises:
        web.HTTPRequestTimeout: it did not come whole within `seconds`.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.content.iter_any():
                body += part
                if len(body) > limit_bytes:
                    return None
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    return bytes(body)
