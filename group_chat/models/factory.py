"""Builds the models of the process: one client, one pool of connections."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace

import aiohttp
import httpx2
import openai
from openai import AsyncAzureOpenAI, AsyncOpenAI
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase

from data_models.errors import ModelError, ModelUnavailableError
from data_models.http_answers import first_bytes
from group_chat.models.completions import Completions
from group_chat.models.faults import FOREIGN, fault_of
from group_chat.models.learned import LearnedModel
from group_chat.models.model_settings import ModelSettings
from group_chat.models.probing import probe_window
from group_chat.models.profile import ModelProfile
from group_chat.models.structured import WireStructured
from group_chat.models.wire_chat import WireChatCompletion
from group_chat.offline.offline_chat import OfflineChatCompletion
from services.model_port import Answer, StructuredModel
from services.telemetry.metrics import Metrics

# Asks a model's server whether it would serve us, without spending tokens.

PROBE_LIMIT_SECONDS = 5.0


async def probe(client: AsyncOpenAI) -> None:
    """List the server's models; a server that has no such list but answers will do.

    Raises:
        ModelError: it cannot be reached, fails, or does not accept our key.
    """
    try:
        async with asyncio.timeout(PROBE_LIMIT_SECONDS):
            response = await client.get("/models", cast_to=httpx2.Response)
            await response.aclose()
    except openai.NotFoundError:
        return
    except ModelError:
        raise
    except FOREIGN as error:
        raise fault_of(error).error from None  # the cause may carry the server's own text


_TALKATIVE = ("semantic_kernel", "openai", "httpx2", "httpx", "azure.identity", "azure.core")
_NO_KEY = "none"
"""Local servers need no key, but the client insists on one."""


async def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Models:
    """What the process asks.

    Attributes:
        chat: Speaks for the agents, through Semantic Kernel.
        structured: Answers the reader's questions.
        profile: What is known of the model now.
        is_language_model: False for the offline rules; every surface shows it.
    """

    chat: ChatCompletionClientBase
    structured: StructuredModel
    is_language_model: bool
    profile: Callable[[], ModelProfile] = ModelProfile
    _check: Callable[[], Awaitable[None]] = _nothing
    _close: Callable[[], Awaitable[None]] = _nothing

    async def check(self) -> None:
        """Ask whether the model can serve, within five seconds.

        Raises:
            ModelError: it cannot.
        """
        await self._check()

    async def close(self) -> None:
        """Close every connection."""
        await self._close()


class NoStructured:
    """The `StructuredModel` where there is none: nobody is handed it to ask."""

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        """See `StructuredModel.ask`."""
        raise ModelUnavailableError("there is no language model")


def build_models(*, settings: ModelSettings, metrics: Metrics | None = None) -> Models:
    """Return the models that `settings` name; call once per process.

    Raises:
        ConfigurationError: a setting is missing or malformed.
    """
    settings.check()
    quieten()
    if settings.provider == "offline":
        return Models(
            chat=OfflineChatCompletion(ai_model_id="offline", service_id="chat"),
            structured=NoStructured(),
            is_language_model=False,
        )
    client, close = client_of(settings)
    learned = LearnedModel(profile=replace(settings.profile, model=settings.model))
    completions = Completions(
        client=client, limits=settings.limits, learned=learned, metrics=metrics
    )
    return Models(
        chat=WireChatCompletion.over(completions, client=client, model=settings.model),
        structured=WireStructured(
            completions=completions, model=settings.small_model or settings.model
        ),
        profile=lambda: learned.profile,
        is_language_model=True,
        _check=lambda: _check(client, learned),
        _close=close,
    )


async def _check(client: AsyncOpenAI, learned: LearnedModel) -> None:
    await probe(client)
    learned.profile = await probe_window(client, learned.profile)
    learned.check()


def quieten() -> None:
    """Silence libraries that log prompts and answers below WARNING."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def client_of(settings: ModelSettings) -> tuple[AsyncOpenAI, Callable[[], Awaitable[None]]]:
    """Return a client of the configured server, and what closes it."""
    http = httpx2.AsyncClient(
        transport=AiohttpTransport(
            url=settings.address,
            connections=settings.limits.concurrent_calls,
            connect_seconds=settings.limits.connect_seconds,
        ),
        timeout=None,  # Completions bounds every wait
        trust_env=False,
        follow_redirects=False,
    )
    if settings.provider == "azure":
        return _azure_client(settings, http)
    client = AsyncOpenAI(
        base_url=settings.address,
        api_key=settings.api_key or _NO_KEY,
        http_client=http,
        max_retries=0,
    )
    return client, client.close


def _azure_client(
    settings: ModelSettings, http: httpx2.AsyncClient
) -> tuple[AsyncOpenAI, Callable[[], Awaitable[None]]]:
    from group_chat.models.azure_credential import AzureTokens  # 0.4 s, only where it signs in

    tokens = None if settings.api_key else AzureTokens()
    client = AsyncAzureOpenAI(
        azure_endpoint=settings.address,
        api_version=settings.api_version,
        api_key=settings.api_key or None,
        azure_ad_token_provider=tokens.token if tokens else None,
        http_client=http,
        max_retries=0,
    )

    async def close() -> None:
        await client.close()
        if tokens is not None:
            await tokens.aclose()

    return client, close


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
