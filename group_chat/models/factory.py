"""Builds the models of the process: one client, one pool of connections."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase

from data_models.clock import SystemClock
from data_models.errors import ConfigurationError, ModelUnavailableError, ModelUnfitError
from group_chat.models.completions import Completions
from group_chat.models.images import ImageReader
from group_chat.models.learned import LearnedModel
from group_chat.models.model_server import ModelServer
from group_chat.models.model_settings import ModelSettings
from group_chat.models.probing import probe, probe_window
from group_chat.models.profile import ModelProfile
from group_chat.models.structured import WireStructured
from group_chat.models.wire_chat import WireChatCompletion
from group_chat.offline.offline_chat import OfflineChatCompletion
from services.model_port import Answer, StructuredModel
from services.own_sign_in import ManagedIdentity, OwnToken, Tokens, TokenSource
from services.telemetry.metrics import Metrics

_SCOPE = "https://cognitiveservices.azure.com/.default"
_NO_KEY = "none"
"""Local servers need no key, and some refuse a request without one."""


async def _nothing() -> None:
    return None


async def _no_image(_data: bytes, _media_type: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Models:
    """What the process asks.

    Attributes:
        chat: Speaks for the agents, through Semantic Kernel.
        structured: Answers the reader's questions.
        profile: What is known of the model now.
        is_language_model: False for the offline rules; every surface shows it.
        check: Asks whether the model can serve, within five seconds; raises `ModelError` if not.
        close: Closes every connection.
    """

    chat: ChatCompletionClientBase
    structured: StructuredModel
    is_language_model: bool
    read_image: Callable[[bytes, str], Awaitable[str | None]] = _no_image
    profile: Callable[[], ModelProfile] = ModelProfile
    check: Callable[[], Awaitable[None]] = _nothing
    close: Callable[[], Awaitable[None]] = _nothing


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
        ConfigurationError: the window that is set is too small.
    """
    if settings.provider == "offline":
        return Models(
            chat=OfflineChatCompletion(ai_model_id="offline", service_id="chat"),
            structured=NoStructured(),
            is_language_model=False,
        )
    try:
        settings.profile.check()
    except ModelUnfitError as error:
        raise ConfigurationError(str(error)) from error
    server = server_of(settings)
    learned = LearnedModel(profile=replace(settings.profile, model=settings.model))
    completions = Completions(
        server=server, limits=settings.limits, learned=learned, metrics=metrics
    )
    # Of an image no characters are counted: what is learned from them would spoil the other.
    seeing = replace(completions, learned=LearnedModel(profile=learned.profile))
    images = ImageReader(completions=seeing, model=settings.model)
    return Models(
        chat=WireChatCompletion.over(completions, model=settings.model),
        structured=WireStructured(
            completions=completions, model=settings.small_model or settings.model
        ),
        read_image=images.read if settings.reads_images else _no_image,
        profile=lambda: learned.profile,
        is_language_model=True,
        check=lambda: _check(server, learned),
        close=server.close,
    )


async def _check(server: ModelServer, learned: LearnedModel) -> None:
    await probe(server)
    learned.profile = await probe_window(server, learned.profile)
    learned.check()


def server_of(settings: ModelSettings) -> ModelServer:
    """Return the configured server."""
    tokens: TokenSource = OwnToken(token=settings.api_key or _NO_KEY)
    clock = SystemClock()
    if settings.provider == "azure" and not settings.api_key:
        identity = ManagedIdentity(scope=_SCOPE, refused=ModelUnavailableError, clock=clock)
        tokens = Tokens(sign_in=identity, clock=clock)
    return ModelServer(settings=settings, tokens=tokens, clock=clock)
