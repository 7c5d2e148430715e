"""What stands between us and a model's server: connections, and requests for completions."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import orjson

from data_models import errors
from data_models.clock import Clock
from data_models.errors import ModelError
from data_models.http_answers import first_bytes, seconds_asked
from group_chat.models.learned import DISPENSABLE, SYSTEM
from group_chat.models.model_settings import ModelSettings
from services.own_sign_in import TokenSource

# What a model's server answers, and what its connection raises, become our own errors.
#
# A server's error text may quote the prompt, so nothing of it is kept: neither text nor cause.

_PASSING = frozenset({408, 409, 425, 429})
_TOO_LONG = re.compile(
    r"(?i)context[_ ](?:length|window|size)|maximum context|exceed_context"
    r"|too many (?:input )?tokens|(?:prompt|input) is too long|reduce the length"
)
_WINDOW = re.compile(
    r"(?i)(?:(?:maximum )?context (?:length|window|size)[^0-9]{0,30}|n_ctx[^0-9]{0,8})([0-9]{4,8})"
)
_NO_SYSTEM = re.compile(r"(?i)(?<!optional )system (?:role|messages?|prompts?)\b|'system'")
_MALFORMED = frozenset({400, 404, 413, 415, 422})


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    """Wait no longer than `seconds`, and say in our words what a connection raises.

    Raises:
        ModelTimeoutError, ModelUnavailableError: without their cause, which may quote the prompt.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise errors.ModelTimeoutError("the model's server did not answer in time") from None
    except (aiohttp.ClientError, OSError):
        raise errors.ModelUnavailableError("the connection to the model's server failed") from None


def error_of_status(status: int, content: bytes, *, wait_seconds: float | None) -> ModelError:
    """Say in our words what an answer means that is no success; its own are only looked through."""
    if status in _PASSING or status >= 500:
        said = f"the model's server answered {status}"
        return errors.ModelUnavailableError(said, wait_seconds=wait_seconds)
    told = _told(content)
    if told.get("code") == "content_filter":
        return errors.ModelRefusedError("a content filter declined the request")
    if status in _MALFORMED:
        said = str(told)[:4_000]
        if told.get("code") == "context_length_exceeded" or _TOO_LONG.search(said):
            window = _WINDOW.search(said)
            tokens = int(window[1]) if window is not None else None
            return errors.ModelWindowError(status=status, window_tokens=tokens)
        return errors.ModelRequestError(status=status, param=_param(told, said))
    return ModelError(f"the model's server answered {status}")


def _told(content: bytes) -> Mapping[str, Any]:
    """Return what a failure's body tells in OpenAI's form; any other as its `message`."""
    try:
        said = orjson.loads(content)
    except orjson.JSONDecodeError:
        said = content.decode(errors="replace")
    found = said.get("error", said) if isinstance(said, dict) else said
    return found if isinstance(found, dict) else {"message": found}


def _param(told: Mapping[str, Any], said: str) -> str:
    if _NO_SYSTEM.search(said):
        return SYSTEM
    if told.get("param"):
        return str(told["param"])
    # Longest first: `max_completion_tokens` is not `max_tokens`.
    names = (*sorted(DISPENSABLE, key=len, reverse=True), "tools")
    return next((one for one in names if one in said), "")


ERROR_BODY_LIMIT_BYTES = 65_536
_ERROR_BODY_SECONDS = 5
_JSON = (("Accept", "application/json"), ("Content-Type", "application/json"))


class ModelServer:
    """The configured server, which alone is ever asked: no redirect is followed, no proxy used.

    Args:
        clock: Tells how long a pause is that ends at some hour.
        tokens: Say who asks: the key that is set, or tokens of the machine's own identity.
    """

    def __init__(self, *, settings: ModelSettings, tokens: TokenSource, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._tokens = tokens
        self._session: aiohttp.ClientSession | None = None
        is_azure = settings.provider == "azure"
        self._shows_key = is_azure and bool(settings.api_key)
        self._version = f"?api-version={quote(settings.api_version, safe='')}" if is_azure else ""
        self._base = settings.url.rstrip("/") + ("/openai" if is_azure else "")

    @property
    def models_url(self) -> str:
        """Where the server lists its models."""
        return f"{self._base}/models{self._version}"

    @property
    def origin(self) -> str:
        """Scheme and host, where some servers tell more than OpenAI's do."""
        parts = urlsplit(self._base)
        return f"{parts.scheme}://{parts.netloc}"

    async def complete(self, body: Mapping[str, Any], *, seconds: float) -> aiohttp.ClientResponse:
        """Return the answer to `body`, its head read and no more; raises as `ask` does."""
        name = quote(str(body["model"]), safe="")
        path = f"deployments/{name}/chat/completions" if self._version else "chat/completions"
        return await self.ask(f"{self._base}/{path}{self._version}", body, seconds=seconds)

    async def ask(
        self, url: str, body: Mapping[str, Any] | None = None, *, seconds: float
    ) -> aiohttp.ClientResponse:
        """Return what is at `url` of this server, its head read; `body` is posted to it.

        Raises:
            ModelError: no answer within `seconds`, a refusal, no identity to ask with, or a `body`
                that is not Unicode.
        """
        data = None if body is None else _encoded(body)
        token = await self._tokens.token()
        shown = ("api-key", token) if self._shows_key else ("Authorization", f"Bearer {token}")
        headers = [*_JSON, shown]
        send = partial(self._send, "GET" if data is None else "POST", url, headers, data)
        async with within(seconds):
            try:
                reply = await send()
            except aiohttp.ServerDisconnectedError:
                # A kept-alive connection that the server had just closed; not a byte was answered.
                reply = await send()
        if reply.status < 300:
            return reply
        wait_seconds = seconds_asked(reply.headers, now=self._clock.now())
        async with within(_ERROR_BODY_SECONDS), reply:
            said = await first_bytes(reply.content, limit_bytes=ERROR_BODY_LIMIT_BYTES)
        raise error_of_status(reply.status, said, wait_seconds=wait_seconds)

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
