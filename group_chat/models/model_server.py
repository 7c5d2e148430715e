"""What stands between us and a model's server: connections, and requests for completions."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote

import aiohttp
import httpx2
import orjson
from openai import APIStatusError

from data_models.errors import ModelError
from data_models.http_answers import first_bytes
from group_chat.models.model_settings import ModelSettings

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
        body = await request.aread() or None
        return await self.send(request.method, request.url, request.headers.multi_items(), body)

    async def send(
        self,
        method: str,
        url: httpx2.URL,
        headers: Sequence[tuple[str, str]],
        body: bytes | None,
    ) -> httpx2.Response:
        """See `handle_async_request`."""
        if origin(url) != self._origin:
            raise httpx2.UnsupportedProtocol("only the configured model server may be called")
        ask = partial(self._send_once, method, str(url), list(headers), body)
        try:
            return await _make_response(await _sent(ask))
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("no connection in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ConnectError("the model server cannot be reached") from error

    async def _send_once(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None
    ) -> aiohttp.ClientResponse:
        return await self._open_session().request(
            method, url, headers=headers, data=body, allow_redirects=False
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


async def _sent(
    ask: Callable[[], Awaitable[aiohttp.ClientResponse]],
) -> aiohttp.ClientResponse:
    try:
        return await ask()
    except aiohttp.ServerDisconnectedError:
        # A kept-alive connection that the server had just closed; not a byte was answered.
        return await ask()


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


Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """Asks for chat completions, past the openai client: that takes 2 ms to build a request.

    Attributes:
        authorise: Returns the headers that say who asks.
    """

    settings: ModelSettings
    transport: AiohttpTransport
    authorise: Callable[[], Awaitable[Headers]]

    async def complete(self, body: Mapping[str, Any]) -> httpx2.Response:
        """Return the answer to `body`, its head read and no more.

        Raises:
            APIStatusError: the server refuses or fails.
            httpx2.TransportError: it cannot be reached.
            ModelError: there is no identity to ask with, or `body` is not Unicode.
        """
        headers = [*_JSON, *await self.authorise()]
        url, data = self._url(str(body["model"])), _encoded(body)
        response = await self.transport.send("POST", url, headers, data)
        if response.is_success:
            return response
        response.request = httpx2.Request("POST", url)  # what the error insists on
        raise _status_error(response)

    def _url(self, model: str) -> httpx2.URL:
        address, path = self.settings.address.rstrip("/"), "chat/completions"
        if self.settings.provider != "azure":
            return _parsed(f"{address}/{path}")
        version = quote(self.settings.api_version, safe="")
        deployment = f"{address}/openai/deployments/{quote(model, safe='')}"
        return _parsed(f"{deployment}/{path}?api-version={version}")


_JSON = (("Accept", "application/json"), ("Content-Type", "application/json"))


@lru_cache(maxsize=16)
def _parsed(url: str) -> httpx2.URL:
    """Return `url`; a process asks few."""
    return httpx2.URL(url)


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        # `from None`: the encoder's message may quote the prompt.
        raise ModelError("the prompt cannot be sent: it holds half a character") from None


def _status_error(response: httpx2.Response) -> APIStatusError:
    """Return a failure as the openai client tells it, for `faults`."""
    try:
        said = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        said = response.text.strip()
    body = said.get("error", said) if isinstance(said, dict) else said
    return APIStatusError(f"status {response.status_code}", response=response, body=body)
