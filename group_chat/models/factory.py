"""Builds the models of the process: one client, one pool of connections."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import httpx2
import openai
from openai import AsyncAzureOpenAI, AsyncOpenAI
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase

from data_models.errors import ModelError, ModelUnavailableError
from group_chat.models.completions import Completions
from group_chat.models.faults import FOREIGN, fault_of
from group_chat.models.learned import LearnedModel
from group_chat.models.model_server import AiohttpTransport, Headers, ModelServer
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
    client = client_of(settings)
    learned = LearnedModel(profile=replace(settings.profile, model=settings.model))
    completions = Completions(
        server=client.server, limits=settings.limits, learned=learned, metrics=metrics
    )
    return Models(
        chat=WireChatCompletion.over(completions, client=client.openai, model=settings.model),
        structured=WireStructured(
            completions=completions, model=settings.small_model or settings.model
        ),
        profile=lambda: learned.profile,
        is_language_model=True,
        _check=lambda: _check(client.openai, learned),
        _close=client.close,
    )


async def _check(client: AsyncOpenAI, learned: LearnedModel) -> None:
    await probe(client)
    learned.profile = await probe_window(client, learned.profile)
    learned.check()


def quieten() -> None:
    """Silence libraries that log prompts and answers below WARNING."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class ModelClient:
    """The configured server.

    Attributes:
        openai: What Semantic Kernel and probes know it by.
        server: Answers chat completions.
        close: Closes every connection.
    """

    openai: AsyncOpenAI
    server: ModelServer
    close: Callable[[], Awaitable[None]]


def client_of(settings: ModelSettings) -> ModelClient:
    """Return a client of the configured server."""
    transport = AiohttpTransport(
        url=settings.address,
        connections=settings.limits.concurrent_calls,
        connect_seconds=settings.limits.connect_seconds,
    )
    http = httpx2.AsyncClient(
        transport=transport,
        timeout=None,  # Completions bounds every wait
        trust_env=False,
        follow_redirects=False,
    )
    if settings.provider == "azure":
        return _azure_client(settings, transport, http)
    key = settings.api_key or _NO_KEY
    client = AsyncOpenAI(base_url=settings.address, api_key=key, http_client=http, max_retries=0)
    server = ModelServer(
        settings=settings,
        transport=transport,
        authorise=_always(("Authorization", f"Bearer {key}")),
    )
    return ModelClient(client, server, client.close)


def _azure_client(
    settings: ModelSettings, transport: AiohttpTransport, http: httpx2.AsyncClient
) -> ModelClient:
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

    async def bearer() -> Headers:
        return [("Authorization", f"Bearer {await tokens.token()}")] if tokens else ()

    async def close() -> None:
        await client.close()
        if tokens is not None:
            await tokens.aclose()

    authorise = bearer if tokens else _always(("api-key", settings.api_key))
    server = ModelServer(settings=settings, transport=transport, authorise=authorise)
    return ModelClient(client, server, close)


def _always(*headers: tuple[str, str]) -> Callable[[], Awaitable[Headers]]:
    async def authorise() -> Headers:
        return headers

    return authorise
