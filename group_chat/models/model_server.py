"""What stands between us and a model's server: connections, and requests for completions."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import orjson

from data_models.errors import ModelError
from data_models.http_answers import first_bytes
from group_chat.models.faults import Fault, fault_of_status
from group_chat.models.model_settings import ModelSettings
from services.own_sign_in import TokenSource

ERROR_BODY_LIMIT_BYTES = 65_536
_ERROR_BODY_SECONDS = 5
_JSON = (("Accept", "application/json"), ("Content-Type", "application/json"))


class ModelServer:
    """The configured server, which alone is ever asked: no redirect is followed, no proxy used.

    Every request may raise a `ModelError`, for there is no identity to ask with, and what
    `faults.FOREIGN` names.

    Args:
        tokens: Say who asks: the key that is set, or tokens of the machine's own identity.
    """

    def __init__(self, *, settings: ModelSettings, tokens: TokenSource) -> None:
        self._settings = settings
        self._tokens = tokens
        self._session: aiohttp.ClientSession | None = None
        is_azure = settings.provider == "azure"
        self._shows_key = is_azure and bool(settings.api_key)
        self._version = f"?api-version={quote(settings.api_version, safe='')}" if is_azure else ""
        self._base = settings.address.rstrip("/") + ("/openai" if is_azure else "")

    @property
    def models_url(self) -> str:
        """Where the server lists its models."""
        return f"{self._base}/models{self._version}"

    @property
    def origin(self) -> str:
        """Scheme and host, where some servers tell more than OpenAI's do."""
        parts = urlsplit(self._base)
        return f"{parts.scheme}://{parts.netloc}"

    async def complete(self, body: Mapping[str, Any]) -> aiohttp.ClientResponse | Fault:
        """Return the answer to `body`, its head read and no more, or why there is none.

        Raises:
            ModelError: `body` is not Unicode.
        """
        name = quote(str(body["model"]), safe="")
        path = f"deployments/{name}/chat/completions" if self._version else "chat/completions"
        return await self.ask(f"{self._base}/{path}{self._version}", body)

    async def ask(
        self, url: str, body: Mapping[str, Any] | None = None
    ) -> aiohttp.ClientResponse | Fault:
        """Return what is at `url` of this server, or how it refuses; `body` is posted to it."""
        data = None if body is None else _encoded(body)
        token = await self._tokens.token()
        shown = ("api-key", token) if self._shows_key else ("Authorization", f"Bearer {token}")
        headers = [*_JSON, shown]
        send = partial(self._send, "GET" if data is None else "POST", url, headers, data)
        try:
            reply = await send()
        except aiohttp.ServerDisconnectedError:
            # A kept-alive connection that the server had just closed; not a byte was answered.
            reply = await send()
        if reply.status < 300:
            return reply
        try:
            async with asyncio.timeout(_ERROR_BODY_SECONDS):
                said = await first_bytes(reply.content, limit_bytes=ERROR_BODY_LIMIT_BYTES)
        finally:
            reply.close()
        return fault_of_status(reply.status, reply.headers, said)

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    async def _send(
        self, method: str, url: str, headers: list[tuple[str, str]], data: bytes | None
    ) -> aiohttp.ClientResponse:
        # Built inside the running loop, at the first call.
        if self._session is None:
            limits = self._settings.limits
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=limits.concurrent_calls, keepalive_timeout=60),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.connect_seconds),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent",),
                trust_env=False,
            )
        return await self._session.request(
            method, url, headers=headers, data=data, allow_redirects=False
        )


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        # `from None`: the encoder's message may quote the prompt.
        raise ModelError("the prompt cannot be sent: it holds half a character") from None
