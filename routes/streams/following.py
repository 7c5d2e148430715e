"""The door to a socket, its life, and how it follows the patient of a record system.

A launched conversation follows while its page is open.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

import structlog
from aiohttp import WSCloseCode, web

from data_models.clock import Clock
from data_models.conversations.incoming_message import WEB, IncomingMessage
from data_models.errors import ChartClosedError, HubRefusedError, HubUnavailableError, RoundsError
from data_models.identifiers import PatientId, is_web_name, number_in
from routes.requests.context import (
    browser_session_of,
    chat_asked,
    entered_of,
    principal_of,
    sender_of,
)
from routes.requests.endpoint import NUMBER, Endpoint, in_query
from routes.requests.json_input import language_asked
from routes.streams.socket_session import Socket, SocketSession
from services.access.principal import Principal
from services.access.sign_in.fhircast import Hub, HubConnection, HubEvent, Status, Subscription
from services.access.sign_in.smart import SmartLaunch
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import OwnedChat
from services.views.patient_finder import FoundPatient, Opened, PatientFollower

AGAIN_SECONDS = 1.0
LONGEST_AGAIN_SECONDS = 60.0
OPEN, SYNC_ERROR = "patient-open", "syncerror"
Kind: TypeAlias = Literal["followed", "asks", "unknown", "apart", "lost"]
"""What a page is told: it follows; whom it may open; that nobody here is meant; that the systems
show different patients; that it follows no more."""

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """Follows hubs for open sockets; nothing of a turn is touched."""

    smart: SmartLaunch
    hub: Hub
    follower: PatientFollower
    scheduler: TurnScheduler
    clock: Clock

    async def follow(self, session_id: str, page: SocketSession) -> None:
        """Follow until cancelled, if the session was launched with a hub and for the page's chat.

        Raises:
            UnauthenticatedError: the session has ended.
        """
        chat = page.chat_id
        subscription = await self.smart.subscription_of(session_id, conversation_id=chat)
        if subscription is not None:
            await _Talk(self, session_id, subscription, page).run()


@dataclass(frozen=True, slots=True)
class _Talk:
    """One conversation and its hub."""

    shared: Following
    session_id: str
    subscription: Subscription
    page: SocketSession

    async def run(self) -> None:
        wait = AGAIN_SECONDS
        while True:
            try:
                async with self.shared.hub.connect(self.subscription) as connection:
                    await self._say("followed")
                    await self._catch_up()
                    async for event in connection.events():
                        wait = AGAIN_SECONDS  # it is of use: a line that only breaks is not
                        await self._take(event, connection)
            except HubRefusedError as error:
                logger.warning("hub_not_followed", code=error.code)
                return await self._say("lost")
            except HubUnavailableError as error:
                logger.warning("hub_not_followed", code=error.code)
                await self._say("lost")
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_AGAIN_SECONDS)

    async def _catch_up(self) -> None:
        """Ask about a patient who was opened while nobody listened."""
        if (patient := await self.shared.hub.current(self.subscription)) is None:
            return
        try:
            found = await self._find_opened(patient, is_late=True)
        except RoundsError as error:
            await self._tell_unmatched(error)
            return
        if found.course == "ask":
            await self._say("asks", found.patient)

    async def _take(self, event: HubEvent, connection: HubConnection) -> None:
        # Who signed out since, or was signed out, follows nobody: this raises.
        await self.shared.smart.subscription_of(self.session_id, conversation_id=self.page.chat_id)
        if event.name == SYNC_ERROR:
            await connection.answer(event.id, 200)
            await self._say("apart")
        elif event.name == OPEN and event.patient is not None:
            await connection.answer(event.id, await self._follow(event))
        else:
            await connection.answer(event.id, 400)

    async def _follow(self, event: HubEvent) -> Status:
        try:
            found = await self._find_opened(event.patient or {}, is_late=False)
            if found.course == "switch" and await self._switch(event, found):
                return 200
        except RoundsError as error:
            await self._tell_unmatched(error)
            return 409
        if found.course == "same":
            await self._say("followed")
            return 200
        await self._say("asks", found.patient)
        return 409

    async def _find_opened(self, patient: object, *, is_late: bool) -> Opened:
        resource = patient if isinstance(patient, dict) else {}
        chat = OwnedChat(self.page.chat_id, self.page.principal.id)
        return await self.shared.follower.find_opened(resource, chat, is_late=is_late)

    async def _switch(self, event: HubEvent, found: Opened) -> bool:
        """Have a turn open the chart, unless anything came before it."""
        message = opening(
            self.page.principal,
            self.page.chat_id,
            PatientId(found.patient.patient_id),
            message_id=f"hub-{sha256(event.id.encode()).hexdigest()}",
            now=self.shared.clock.now(),
        )
        run = await self.shared.scheduler.submit_if_idle(message, since=found.seen_at)
        if run is None:
            return False
        await self._say("followed")
        await self.page.show(run)
        return True

    async def _tell_unmatched(self, error: RoundsError) -> None:
        logger.info("hub_patient_not_followed", code=error.code)
        await self._say("unknown" if isinstance(error, ChartClosedError) else "apart")

    async def _say(self, kind: Kind, patient: FoundPatient | None = None) -> None:
        shown = None if patient is None else patient.model_dump(mode="json")
        value = {"kind": kind, "patient": shown}
        await self.page.send({"type": "CUSTOM", "name": "record_system", "value": value})


FOLLOWING = web.AppKey[Following]("following")
LAUNCHES = web.AppKey("launches", SmartLaunch)


def opening(
    user: Principal, conversation_id: str, patient_id: PatientId, *, message_id: str, now: datetime
) -> IncomingMessage:
    """Return it: linked, asked of the guard, answered with both identifiers."""
    return IncomingMessage(
        conversation_id=conversation_id,
        channel=WEB,
        channel_id=WEB,
        owner=user.id,
        sender=sender_of(user),
        message_id=message_id,
        text=f"open {patient_id}",
        received_at=now,
    )


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
