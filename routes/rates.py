"""How often a caller may change something: by the same limit as messages (spec page 7, R18)."""

from collections.abc import Mapping

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from routes.auth import is_guarded, principal_of
from services.access.limits import MessageRate

READS = frozenset({hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS})
UNCOUNTED: Mapping[str, str] = {
    "/api/chats/{chat_id}/stop": "It ends work; in a flood it is needed most.",
    "/api/ag-ui": "It is a message, and counted as one when it is taken.",
    "/api/messages": "The bot counts by the user whom the channel names.",
    "/api/{agent}/messages": "The bot counts by the user whom the channel names.",
}
"""Writing routes that this door does not count, and why."""


def counting(rate: MessageRate) -> Middleware:
    """Return the middleware that counts each change; the caller is verified before.

    A route that is added later is counted unless it stands in `UNCOUNTED`.
    """

    @web.middleware
    async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
        if _changes_something(request):
            rate.take(principal_of(request).id)
        return await handler(request)

    return counted


def _changes_something(request: web.Request) -> bool:
    resource = request.match_info.route.resource
    if resource is None or request.method in READS or resource.canonical in UNCOUNTED:
        return False
    return is_guarded(request)
