"""Connections to the model's server, and the openai client's way to them.

aiohttp's parser is written in C; the client's default transport spends four times the CPU on a
call.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial

import aiohttp
import httpx2

ERROR_BODY_LIMIT_BYTES = 65_536


class Connections:
    """Kept-alive connections that follow no redirect and use no proxy."""

    def __init__(self, *, limit: int, connect_seconds: float) -> None:
        self._limit = limit
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds)
        self._session: aiohttp.ClientSession | None = None

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], data: bytes | None
    ) -> aiohttp.ClientResponse:
        """Send a request and return the answer, whatever its status, unread; `close` it.

        Raises:
            aiohttp.ClientError: no connection, or it broke.
            OSError: the same, or no connection in time.
        """
        send = partial(self._send, method, url, headers=headers, data=data)
        try:
            return await send()
        except aiohttp.ServerDisconnectedError:
            # A kept-alive connection that the server had just closed; not a byte was answered.
            return await send()

    async def aclose(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    async def _send(
        self, method: str, url: str, *, headers: Mapping[str, str], data: bytes | None
    ) -> aiohttp.ClientResponse:
        return await self._open_session().request(
            method, url, headers=headers, data=data, allow_redirects=False
        )

    def _open_session(self) -> aiohttp.ClientSession:
        # Built inside the running loop, at the first call.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._limit, keepalive_timeout=60),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent",),
                trust_env=False,
            )
        return self._session


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Carries the openai client's requests, to the configured host and no other."""

    def __init__(self, *, url: str, connections: Connections) -> None:
        self._origin = origin(httpx2.URL(url))
        self._connections = connections

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send `request`; bodies of failures are read here, at most 64 kB of them.

        Raises:
            httpx2.TransportError: another host, no connection, or the connection broke.
        """
        if origin(request.url) != self._origin:
            raise httpx2.UnsupportedProtocol("only the configured model server may be called")
        try:
            return await _as_response(
                await self._connections.request(
                    request.method,
                    str(request.url),
                    headers=request.headers,
                    data=await request.aread() or None,
                )
            )
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("no connection in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ConnectError("the model server cannot be reached") from error

    async def aclose(self) -> None:
        """Close every connection."""
        await self._connections.aclose()


class AiohttpBody(httpx2.AsyncByteStream):
    """The body of an answer, in the pieces in which it arrives."""

    def __init__(self, *, reply: aiohttp.ClientResponse) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._reply.content.iter_any():
                yield data
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ReadError("the connection broke within the answer") from error

    async def aclose(self) -> None:
        """Free the connection; one whose answer is not over is torn down, which stops the model."""
        self._reply.close()


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Return what of `url` decides who is spoken to."""
    return url.scheme, url.host, url.port


async def _as_response(reply: aiohttp.ClientResponse) -> httpx2.Response:
    headers = [(name, value) for name, value in reply.headers.items() if name != "Content-Encoding"]
    if reply.status < 300:
        return httpx2.Response(reply.status, headers=headers, stream=AiohttpBody(reply=reply))
    try:
        content = await head_of(reply)
    finally:
        reply.close()
    kept = [(name, value) for name, value in headers if name != "Content-Length"]
    return httpx2.Response(reply.status, headers=kept, content=content)


async def head_of(reply: aiohttp.ClientResponse) -> bytes:
    """Return the first 64 kB of what a server says of a failure, or all of it."""
    head = bytearray()
    async with asyncio.timeout(5):
        while len(head) < ERROR_BODY_LIMIT_BYTES and (data := await reply.content.readany()):
            head += data
    return bytes(head)
