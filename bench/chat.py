"""A browser's side of a conversation: one socket, AG-UI events, and when they came."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import aiohttp
import orjson

TURN_LIMIT_SECONDS = 120.0


class TurnFailedError(Exception):
    """The server did not answer; a bench that went on would measure nothing."""


@dataclass(frozen=True)
class Shown:
    """One turn as the client saw it; times are monotonic seconds."""

    sent_at: float
    first_text_at: float | None
    ended_at: float

    @property
    def seconds(self) -> float:
        """From the message to the end of the run."""
        return self.ended_at - self.sent_at


class Chat:
    """One conversation."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool]) -> None:
        self._socket = socket

    async def say(self, text: str) -> Shown:
        """Send `text`; return once its run has finished.

        Raises:
            TurnFailedError: the run failed, or the socket closed.
        """
        sent_at, first_text_at = time.monotonic(), None
        await self._socket.send_frame(orjson.dumps({"content": text}), aiohttp.WSMsgType.TEXT)
        while True:
            frame = await self._next()
            if first_text_at is None and b'"TEXT_MESSAGE_CONTENT"' in frame:
                first_text_at = time.monotonic()
            elif b'"RUN_FINISHED"' in frame:
                return Shown(sent_at, first_text_at, time.monotonic())
            elif b'"RUN_ERROR"' in frame:
                raise TurnFailedError(frame.decode())

    async def rest(self, seconds: float) -> None:
        """Wait as a page does that stays open: the server's pings are answered meanwhile.

        Raises:
            TurnFailedError: the socket closed.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    await self._next()

    async def _next(self) -> bytes:
        async with asyncio.timeout(TURN_LIMIT_SECONDS):
            message = await self._socket.receive()
        if not isinstance(message.data, bytes):
            raise TurnFailedError(f"the socket closed: {message.type.name}")
        return message.data


@asynccontextmanager
async def chatting(
    session: aiohttp.ClientSession, server: str, conversation: str
) -> AsyncIterator[Chat]:
    """Open a socket to `conversation` of the server at address `server`."""
    address = f"{server}/api/ws/chats/{conversation}/messages?stream=1"
    async with session.ws_connect(address, compress=0, decode_text=False) as socket:
        yield Chat(socket)


@asynccontextmanager
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    """A client without a bound on connections."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield session
