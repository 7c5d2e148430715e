"""`GET /metrics` for Prometheus."""

import hmac

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from data_models.errors import UnauthenticatedError
from routes.auth import handshake_of
from routes.context import CONTEXT


async def metrics(request: web.Request) -> web.Response:
    """Return the figures of this process; none names a patient, a user or a conversation.

    Raises:
        UnauthenticatedError: a token is set, and the caller does not show it.
    """
    token = request.app[CONTEXT].metrics_token
    shown = handshake_of(request, trusted_proxy=False).bearer or ""
    wanted = None if token is None else token.get_secret_value().encode()
    # A header may hold bytes that are no text: they are compared, too, and not an error.
    if wanted is not None and not hmac.compare_digest(shown.encode(errors="surrogatepass"), wanted):
        raise UnauthenticatedError
    body = generate_latest(request.app[CONTEXT].registry)
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


async def readyz(request: web.Request) -> web.Response:
    """`GET /readyz`: whether storage and model answer; 503 while one does not."""
    states = await request.app[CONTEXT].readiness.states()
    ready = all(state == "ok" for state in states.values())
    reply = {"status": "ready" if ready else "unavailable", **states}
    return web.json_response(reply, status=200 if ready else 503)
