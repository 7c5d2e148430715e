"""`GET /metrics` for Prometheus."""

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from routes.context import CONTEXT


async def metrics(request: web.Request) -> web.Response:
    """Return the figures of this process; none names a patient, a user or a conversation."""
    body = generate_latest(request.app[CONTEXT].registry)
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


async def readyz(request: web.Request) -> web.Response:
    """`GET /readyz`: whether storage and model answer; 503 while one does not."""
    states = await request.app[CONTEXT].readiness.states()
    ready = all(state == "ok" for state in states.values())
    reply = {"status": "ready" if ready else "unavailable", **states}
    return web.json_response(reply, status=200 if ready else 503)
