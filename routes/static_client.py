"""The built web client, or a page that says how to build it; and the headers of every answer."""

import asyncio
import gzip
import math
import mimetypes
from collections.abc import Awaitable, Callable, Collection
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

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


ASSETS = "assets"
_FILES = ("index.html", "operator.html", "worker.js")
DIST = Path(__file__).resolve().parent.parent / "web" / "dist"
_FOREVER = "public, max-age=31536000, immutable"
_SCRIPT = "text/javascript; charset=utf-8"
_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Rounds</title>
<h1>Rounds is running</h1>
<p>The web page is not built yet. In the folder of Rounds, run</p>
<pre>.venv/bin/python -m scripts.build_web</pre>
<p>and load this page again. The chat itself already answers over WebSocket and HTTP;
<a href="/api/openapi.json">this document</a> describes how.</p>
</html>
"""


class Asset(NamedTuple):
    """A file, also as browsers rather take it."""

    body: bytes
    packed: bytes
    media_type: str


class StaticClient:
    """The files of one build, read once: they are few, small and never change while we run."""

    def __init__(self, folder: Path = DIST) -> None:
        self._folder = folder
        self._assets: dict[str, Asset] = {}
        self._files: dict[str, bytes | None] = {}

    def load(self) -> None:
        """Read the build; call it again after a new one."""
        paths = {name: self._folder / name for name in _FILES}
        self._files = {n: one.read_bytes() if one.is_file() else None for n, one in paths.items()}
        files = (self._folder / ASSETS).glob("*") if self._files["index.html"] else ()
        self._assets = {path.name: _asset(path) for path in files}

    async def page(self, _: web.Request) -> web.Response:
        """`GET /`: the web client."""
        return _page(self._files.get("index.html"))

    async def operator_page(self, _: web.Request) -> web.Response:
        """`GET /operator`: the page alone; all it shows comes from the guarded API."""
        return _page(self._files.get("operator.html"))

    async def worker(self, _: web.Request) -> web.Response:
        """`GET /worker.js`: asked for anew each time, so that a new one replaces it at once."""
        if (body := self._files.get("worker.js")) is None:
            raise web.HTTPNotFound
        headers = {"Cache-Control": "no-cache", "Content-Type": _SCRIPT}
        return web.Response(body=body, headers=headers)

    async def asset(self, request: web.Request) -> web.Response:
        """`GET /assets/{name}`: the name holds a hash of the content, so it may be kept forever."""
        if (found := self._assets.get(request.match_info["name"])) is None:
            raise web.HTTPNotFound
        headers = {
            "Cache-Control": _FOREVER,
            "Content-Type": found.media_type,
            "Vary": "Accept-Encoding",
        }
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=found.body, headers=headers)
        return web.Response(body=found.packed, headers=headers | {"Content-Encoding": "gzip"})


def _page(body: bytes | None) -> web.Response:
    if body is None:
        return web.Response(text=_NOT_BUILT, content_type="text/html", status=200)
    headers = {"Cache-Control": "no-cache"}
    return web.Response(body=body, content_type="text/html", headers=headers)


@lru_cache(maxsize=256)
def _asset(path: Path) -> Asset:
    # Its name holds a hash of its content.
    body = path.read_bytes()
    return Asset(body, gzip.compress(body, mtime=0), _media_type(path))


def _media_type(path: Path) -> str:
    if path.suffix == ".js":
        return _SCRIPT  # some machines' tables know another
    if path.suffix == ".webmanifest":
        return "application/manifest+json"
    return mimetypes.guess_type(path.name)[0] or "application/octet-stream"
