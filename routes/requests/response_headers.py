"""Headers of answers, and refusals of conversations that tell nothing by their time."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from data_models.clock import Clock
from data_models.errors import NotFoundError

# Headers on every answer (spec page 7, R49).

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "require-trusted-types-for 'script'",
    )
)
PAGE = "/"
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Frame-Options": "DENY",
    hdrs.SERVER: "Rounds",
}
_TWO_YEARS = "max-age=63072000"


def security_headers(
    *, https: bool, microphone: bool = False, frame_ancestors: Collection[str] = ()
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Return the signal for `app.on_response_prepare`; sockets and errors pass it too.

    Args:
        https: Whether browsers reach the server by https only.
        microphone: Whether the page may ask for it.
        frame_ancestors: Origins whose pages may show the page in a frame; nothing else of here.
    """
    headers = dict(_HEADERS)
    if microphone:
        headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=(self)"

    framed = f"frame-ancestors {' '.join(frame_ancestors)}"

    async def add(request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(headers)
        if frame_ancestors and request.path == PAGE:
            del response.headers["X-Frame-Options"]  # it cannot name an origin
            response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.replace(
                "frame-ancestors 'none'", framed
            )
        if https:
            response.headers["Strict-Transport-Security"] = _TWO_YEARS
        if request.path.startswith("/api/"):
            response.headers[hdrs.CACHE_CONTROL] = "no-store"

    return add


_ANSWER_SECONDS = "600"
_METHODS = "GET, POST, PUT, DELETE"
_ALLOWED_HEADERS = "Authorization, Content-Type"


def preflights(*, allowed: Collection[str]) -> Middleware:
    """Return the middleware, outside the door, that answers browsers who ask what they may send.

    The question carries no token, and its answer tells nothing but the methods.
    """
    origins = frozenset(allowed)

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        asks = request.method == hdrs.METH_OPTIONS
        asks = asks and hdrs.ACCESS_CONTROL_REQUEST_METHOD in request.headers
        if not (asks and request.headers.get(hdrs.ORIGIN, "").lower() in origins):
            return await handler(request)
        return web.Response(
            status=204,
            headers={
                hdrs.ACCESS_CONTROL_ALLOW_METHODS: _METHODS,
                hdrs.ACCESS_CONTROL_ALLOW_HEADERS: _ALLOWED_HEADERS,
                hdrs.ACCESS_CONTROL_MAX_AGE: _ANSWER_SECONDS,
            },
        )

    return answer


def readable_by(
    *, allowed: Collection[str]
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Return the signal for `app.on_response_prepare`, after the security headers'.

    Cookies are never allowed: a page of elsewhere signs in by token.
    """
    origins = frozenset(allowed)

    async def add(request: web.Request, response: web.StreamResponse) -> None:
        origin = request.headers.get(hdrs.ORIGIN)
        is_api = request.path.startswith("/api/")
        if origin is None or origin.lower() not in origins or not is_api:
            return
        response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        response.headers[hdrs.VARY] = hdrs.ORIGIN

    return add


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
