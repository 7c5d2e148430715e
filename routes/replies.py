"""JSON out."""

from typing import Any

import orjson
from aiohttp import web


def json_reply(value: Any, *, status: int = 200) -> web.Response:
    """Return `value` as a JSON response."""
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")
