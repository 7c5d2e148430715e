"""The built web client, or a page that says how to build it."""

import gzip
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

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
