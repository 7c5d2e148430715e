"""Builds the models of the process: one client, one pool of connections.

Structured answers are instances of pydantic classes, on servers that differ in what they support;
a model's server is asked whether it serves us, and what window it gives the model.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase

from data_models import errors
from data_models.clock import SystemClock
from data_models.http_answers import first_bytes
from data_models.values import read_object
from group_chat.models.completions import Completions
from group_chat.models.images import ImageReader
from group_chat.models.learned import LearnedModel
from group_chat.models.model_server import ModelServer, within
from group_chat.models.model_settings import ModelProfile, ModelSettings, known_window
from group_chat.models.wire_chat import WireChatCompletion
from group_chat.offline.offline_chat import OfflineChatCompletion
from group_chat.tools.function import short_schema
from services.language.model_output.thoughts import without_thoughts
from services.language.reader import ANSWER_TOKENS as READER_TOKENS
from services.language.reader import PURPOSE as READER
from services.model_port import Answer, StructuredModel
from services.own_sign_in import ManagedIdentity, OwnToken, Tokens, TokenSource
from services.telemetry.metrics import Metrics

_ANSWER_TOKENS = 1_000
_FORM_WITHOUT_SCHEMA = 1


class _WireStructured:
    """The `StructuredModel` of every OpenAI-compatible server.

    What a server refuses with 400 is not sent again while the process lives: first the full
    schema is tried, then a bare JSON mode, then words alone.
    """

    def __init__(self, *, completions: Completions, model: str) -> None:
        self._completions = completions
        self._model = model
        self._form = 0
        self._shapes: dict[type[BaseModel], dict[str, Any]] = {}

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        messages = [_message("system", instructions), _message("user", text)]
        deadline = self._completions.deadline()
        said = await self._complete(messages, answer, deadline, purpose)
        try:
            return _parse(said, answer)
        except ValidationError as error:
            problems = places(error)
        if purpose == READER:  # rules do well enough: no turn waits for a repair
            raise errors.ModelOutputError("the model's answer does not fit its schema")
        repair = f"It does not fit the schema ({problems}). Answer again, only with JSON that fits."
        messages += [_message("assistant", said), _message("user", repair)]
        said = await self._complete(messages, answer, deadline, purpose)
        try:
            return _parse(said, answer)
        except ValidationError:
            # The cause carries what the model said, which may name a patient.
            raise errors.ModelOutputError("the model's answer does not fit its schema") from None

    async def _complete(
        self, messages: list[dict[str, str]], answer: type[BaseModel], deadline: float, purpose: str
    ) -> str:
        if answer not in self._shapes:
            self._shapes[answer] = short_schema(answer, is_strict=True)
        shape = self._shapes[answer]
        last = len(FORMS) - 1
        if "json_schema" in self._completions.learned.profile.lacks:
            self._form = max(self._form, _FORM_WITHOUT_SCHEMA)
        for form in range(self._form, last + 1):
            body = {"model": self._model, "messages": messages} | FORMS[form](shape)
            body["max_tokens"] = READER_TOKENS if purpose == READER else _ANSWER_TOKENS
            if form >= _FORM_WITHOUT_SCHEMA:
                body["messages"] = _with_shape(messages, shape)
            try:
                said = await self._completions.complete(body, purpose=purpose, deadline=deadline)
            except errors.ModelRequestError as error:
                if form == last or isinstance(error, errors.ModelWindowError):
                    raise
                continue
            self._form = max(self._form, form)
            return said.text
        raise errors.ModelOutputError("no form of structured answer is left")


def places(error: ValidationError) -> str:
    """Say where an answer does not fit and by which rule, and nothing of what it holds."""
    rows = error.errors(include_input=False, include_url=False, include_context=False)
    found = [
        f"{'.'.join(str(part) for part in row['loc']) or 'root'}: {row['type']}" for row in rows
    ]
    return "; ".join(found[:10])


def in_strict_form(answer: type[BaseModel]) -> dict[str, Any]:
    """Return what asks for `answer` by its schema."""
    return _strict(short_schema(answer, is_strict=True))


def _strict(shape: dict[str, Any]) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": shape}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


FORMS: Sequence[Callable[[dict[str, Any]], dict[str, Any]]] = (
    _strict,
    lambda _: {"response_format": {"type": "json_object"}},
    lambda _: {},
)


def _with_shape(messages: list[dict[str, str]], shape: dict[str, Any]) -> list[dict[str, str]]:
    schema = orjson.dumps(shape).decode()
    first = (
        f"{messages[0]['content']}\n\nAnswer only with JSON that fits this JSON Schema:\n{schema}"
    )
    return [_message("system", first), *messages[1:]]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _parse(said: str, answer: type[Answer]) -> Answer:
    """Read the JSON object in `said`; small models like to wrap it in words or fences."""
    said = without_thoughts(said)
    start, end = said.find("{"), said.rfind("}")
    return answer.model_validate_json(said[start : end + 1] if 0 <= start < end else said)


PROBE_LIMIT_SECONDS = 5.0
_SECONDS = 3.0
_MOST_BYTES = 1_000_000
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NUM_CTX = re.compile(r"(?m)^\s*num_ctx\s+(\d{3,8})\b")


async def _probe(server: ModelServer) -> None:
    """List the server's models, which spends no tokens; one that has no list but answers will do.

    Raises:
        ModelError: it cannot be reached, fails, or does not accept our key.
    """
    try:
        answer = await server.ask(server.models_url, seconds=PROBE_LIMIT_SECONDS)
    except errors.ModelRequestError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
    else:
        answer.close()


async def probe_window(server: ModelServer, profile: ModelProfile) -> ModelProfile:
    """Return `profile` with the window that the server tells, or that the model is known for.

    Asked in this order: the list of models, llama.cpp's properties, Ollama's loaded and stored
    models. A server that tells nothing leaves it open; the first refusal will tell.
    """
    if profile.window_tokens is not None:
        return profile
    origin = server.origin
    listed = _row_of(await _get(server, server.models_url), "data", profile.model)
    if (window := _first(listed, _WINDOW_KEYS)) is not None:
        return profile.with_window(window, "the server's list of models")
    if (known := known_window(profile.model)) is not None:
        return profile.with_window(known, "the model's name")
    props = await _get(server, f"{origin}/props")
    settings = props.get("default_generation_settings")
    window = _first(settings if isinstance(settings, Mapping) else props, ("n_ctx",))
    if window is not None:
        return profile.with_window(window, "llama.cpp's properties")
    loaded = _row_of(await _get(server, f"{origin}/api/ps"), "models", profile.model)
    if (window := _first(loaded, ("context_length",))) is not None:
        return profile.with_window(window, "Ollama, of the loaded model")
    shown = await _get(server, f"{origin}/api/show", {"model": profile.model})
    found = _NUM_CTX.search(str(shown.get("parameters") or ""))
    return profile.with_window(int(found[1]), "Ollama's num_ctx") if found else profile


async def _get(server: ModelServer, url: str, body: Any = None) -> Mapping[str, Any]:
    """Return the JSON object at `url`; nothing where there is none."""
    try:
        async with within(_SECONDS), await server.ask(url, body, seconds=_SECONDS) as answer:
            content = await first_bytes(answer.content, limit_bytes=_MOST_BYTES)
    except errors.ModelError:
        return {}
    return read_object(content) or {}


def _row_of(document: Mapping[str, Any], key: str, model: str) -> Mapping[str, Any]:
    rows = document.get(key)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and model in (row.get("id"), row.get("name"), row.get("model")):
            return row
    return {}


def _first(row: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    found = (row.get(key) for key in keys)
    return next((one for one in found if isinstance(one, int) and one >= 256), None)


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
        raise errors.ModelUnavailableError("there is no language model")


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
    except errors.ModelUnfitError as error:
        raise errors.ConfigurationError(str(error)) from error
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
        structured=_WireStructured(
            completions=completions, model=settings.small_model or settings.model
        ),
        read_image=images.read if settings.reads_images else _no_image,
        profile=lambda: learned.profile,
        is_language_model=True,
        check=lambda: _check(server, learned),
        close=server.close,
    )


async def _check(server: ModelServer, learned: LearnedModel) -> None:
    await _probe(server)
    learned.profile = await probe_window(server, learned.profile)
    learned.check()


def server_of(settings: ModelSettings) -> ModelServer:
    """Return the configured server."""
    tokens: TokenSource = OwnToken(token=settings.api_key or _NO_KEY)
    clock = SystemClock()
    if settings.provider == "azure" and not settings.api_key:
        identity = ManagedIdentity(scope=_SCOPE, refused=errors.ModelUnavailableError, clock=clock)
        tokens = Tokens(sign_in=identity, clock=clock)
    return ModelServer(settings=settings, tokens=tokens, clock=clock)
