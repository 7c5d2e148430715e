"""Carries the openai client's requests over aiohttp, to the configured host and no other.

aiohttp's parser is written in C; the default transport spends four times the CPU on a call.
"""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import httpx2

from data_models.http_answers import first_bytes

ERROR_BODY_LIMIT_BYTES = 65_536


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """A transport with kept-alive connections that follows no redirect and uses no proxy."""

    def __init__(self, *, url: str, connections: int, connect_seconds: float) -> None:
        self._origin = origin(httpx2.URL(url))
        self._connections = connections
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds)
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send `request`; bodies of failures are read here, at most 64 kB of them.

        Raises:
            httpx2.TransportError: another host, no connection, or the connection broke.
        """
        if origin(request.url) != self._origin:
            raise httpx2.UnsupportedProtocol("only the configured model server may be called")
        try:
            return await _make_response(await self._send(request))
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("no connection in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ConnectError("the model server cannot be reached") from error

    async def _send(self, request: httpx2.Request) -> aiohttp.ClientResponse:
        try:
            return await self._send_once(request)
        except aiohttp.ServerDisconnectedError:
            # A kept-alive connection that the server had just closed; not a byte was answered.
            return await self._send_once(request)

    async def _send_once(self, request: httpx2.Request) -> aiohttp.ClientResponse:
        return await self._open_session().request(
            request.method,
            str(request.url),
            headers=list(request.headers.multi_items()),
            data=await request.aread() or None,
            allow_redirects=False,
        )

    async def aclose(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    def _open_session(self) -> aiohttp.ClientSession:
        # Built inside the running loop, at the first call.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=60),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent",),
                trust_env=False,
            )
        return self._session


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


async def _make_response(reply: aiohttp.ClientResponse) -> httpx2.Response:
    headers = [(name, value) for name, value in reply.headers.items() if name != "Content-Encoding"]
    if reply.status < 300:
        return httpx2.Response(reply.status, headers=headers, stream=AiohttpBody(reply=reply))
    try:
        async with asyncio.timeout(5):
            content = await first_bytes(reply.content, limit_bytes=ERROR_BODY_LIMIT_BYTES)
    finally:
        reply.close()
    kept = [(name, value) for name, value in headers if name != "Content-Length"]
    return httpx2.Response(reply.status, headers=kept, content=content)
