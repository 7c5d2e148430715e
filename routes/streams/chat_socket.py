"""`GET /api/ws/chats/{chat_id}/messages`: the door to a socket, and its life."""

import asyncio

import structlog
from aiohttp import WSCloseCode, web

from data_models.errors import RoundsError
from data_models.identifiers import is_web_name, number_in
from routes.requests.context import browser_session_of, chat_asked, entered_of, principal_of
from routes.requests.endpoint import NUMBER, Endpoint, in_query
from routes.requests.json_input import language_asked
from routes.streams.following import FOLLOWING
from routes.streams.socket_session import Socket, SocketSession

logger = structlog.get_logger()

# Browsers send their token as a second protocol and refuse an answer that picks none.
PROTOCOL = "rounds"


class OpenSockets(set[Socket]):
    """The sockets of one application, to be told when it stops."""


OPEN_SOCKETS = web.AppKey("open_sockets", OpenSockets)


async def chat_socket(request: web.Request) -> web.StreamResponse:
    """`GET /api/ws/…`: messages in, whole messages or AG-UI events out, until the socket closes.

    Raises:
        NotFoundError: the conversation is not the caller's.
        TooManySocketsError: the caller holds as many as it may.
        BadFrameError: the query names no place in a run.
    """
    (context, chat), principal = chat_asked(request), principal_of(request)
    # What a client that lost its connection still wants to see, and since when.
    run_id, after = request.query.get("run"), request.query.get("after", "0")
    resumption = (run_id, number_in(after)) if run_id and _streams(request) else None
    await context.reader.access(chat, unclaimed_ok=is_web_name(chat.chat_id))
    with context.slots.hold(principal.id):
        socket = web.WebSocketResponse(
            # The parser refuses what reaches the limit, not what exceeds it.
            max_msg_size=context.limits.frame_bytes + 1,
            heartbeat=context.limits.heartbeat_seconds,
            protocols=[PROTOCOL],
            # Frames are small; compressing costs more time than it saves, and invites bombs.
            compress=False,
            # Text comes as bytes: what is not UTF-8 is then a bad frame, not the end of the socket.
            decode_text=False,
        )
        await socket.prepare(request)
        session = SocketSession(
            socket=socket,
            context=context,
            principal=principal,
            chat_id=chat.chat_id,
            language=language_asked(request),
            streams=_streams(request),
            check=entered_of(request).check,
        )
        request.app[OPEN_SOCKETS].add(socket)
        following = asyncio.create_task(_follow(request, session))
        try:
            await session.serve(resumption)
        finally:
            request.app[OPEN_SOCKETS].discard(socket)
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
    return socket


async def _follow(request: web.Request, session: SocketSession) -> None:
    """Follow the record system that launched the page's session, if one did, and the page shows."""
    following = request.app.get(FOLLOWING)
    session_id = browser_session_of(request)
    if following is None or session_id is None or not _streams(request):
        return
    try:
        await following.follow(session_id, session)
    except RoundsError as error:
        logger.warning("socket.not_following", code=error.code)


async def close_sockets(app: web.Application) -> None:
    """Tell every client that the server goes away; they come back and resume."""
    sockets = app[OPEN_SOCKETS]
    for socket in tuple(sockets):
        await socket.close(code=WSCloseCode.GOING_AWAY, message=b"restarting")


def _streams(request: web.Request) -> bool:
    return request.query.get("stream") == "1"


def socket_routes() -> list[Endpoint]:
    """Return the route of this file."""
    stream = in_query("stream", "`1`: AG-UI events instead of whole messages.", {"enum": ["1"]})
    run = in_query("run", "With `stream=1`: a run to go on watching.")
    after = in_query("after", "With `run`: `metadata.seq` of the last event received.", NUMBER)
    path, asked = "/api/ws/chats/{chat_id}/messages", (stream, run, after)
    return [Endpoint("GET", path, chat_socket, status=101, parameters=asked)]
