"""`GET /api/operator/quality`: how good the answers of this server are, live."""

from aiohttp import web

from routes.auth import operator_of
from routes.context import CONTEXT
from routes.operator_answers import PREFIX
from routes.replies import json_reply
from services.telemetry.quality import quality_rows


async def show_quality(request: web.Request) -> web.Response:
    """Return the counts by agent and model since this process began."""
    operator_of(request)
    rows = quality_rows(request.app[CONTEXT].registry)
    return json_reply({"rows": [one.model_dump() for one in rows]})


def quality_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [web.get(f"{PREFIX}quality", show_quality)]
