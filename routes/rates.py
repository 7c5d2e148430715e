"""How often a caller may read, change or export something (spec page 7, R18)."""

from collections.abc import Mapping

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from data_models.errors import ForbiddenError
from routes.auth import MCP, SIGN_OUT, is_guarded, principal_of
from services.access.limits import MessageRate

READS = frozenset({hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS})
DRAFT = "/api/chats/{chat_id}/draft"
UNCOUNTED: Mapping[str, str] = {
    "/api/chats/{chat_id}/stop": "It ends work; in a flood it is needed most.",
    "/api/ag-ui": "It is a message, and counted as one when it is taken.",
    DRAFT: "Saved while a message is written: it counts as a read.",
    "/api/messages": "The bot counts by the user whom the channel names.",
    "/api/{agent}/messages": "The bot counts by the user whom the channel names.",
}
"""Writing routes that this door does not count, and why."""
EXPORTS = frozenset({"/api/chats/{chat_id}/export", "/api/rounds/{round_id}/print"})
_SOCKETS = frozenset({"/api/ws/chats/{chat_id}/messages"})
_OPERATORS = "/api/operator/"
"""Asks for the role itself."""


def counting(rate: MessageRate, *, reads: MessageRate, exports: MessageRate) -> Middleware:
    """Return the middleware that counts each request; the caller is verified before.

    A route that is added later is counted unless it stands in `UNCOUNTED`. A key without the scope
    `chat` changes nothing, one without `read` reads nothing.
    """

    @web.middleware
    async def count(request: web.Request, handler: Handler) -> web.StreamResponse:
        resource = request.match_info.route.resource
        if resource is None or not is_guarded(request):
            return await handler(request)
        route = resource.canonical
        _check_scope(request, route)
        caller = principal_of(request).id
        if not _only_reads(request, route) and route not in UNCOUNTED:
            rate.take(caller)
        if route == DRAFT or _only_reads(request, route):
            reads.take(caller)
        if route in EXPORTS:
            exports.take(caller)
        return await handler(request)

    return count


def _only_reads(request: web.Request, route: str) -> bool:
    """Whether nothing is changed: programs send what they ask for."""
    return request.method in READS or route == MCP


def _check_scope(request: web.Request, route: str) -> None:
    """Return if the caller's key may do this.

    Raises:
        ForbiddenError: it may not.
    """
    if route.startswith(_OPERATORS) or route == SIGN_OUT:
        return
    writes = not _only_reads(request, route) or route in _SOCKETS
    if ("chat" if writes else "read") not in principal_of(request).scopes:
        raise ForbiddenError
