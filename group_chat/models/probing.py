"""Asks a model's server whether it serves us, and what window it gives the model."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from data_models.errors import ModelError, ModelRequestError
from data_models.http_answers import first_bytes
from data_models.values import read_object
from group_chat.models.model_server import ModelServer, within
from group_chat.models.profile import ModelProfile, known_window

PROBE_LIMIT_SECONDS = 5.0
_SECONDS = 3.0
_MOST_BYTES = 1_000_000
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NUM_CTX = re.compile(r"(?m)^\s*num_ctx\s+(\d{3,8})\b")


async def probe(server: ModelServer) -> None:
    """List the server's models, which spends no tokens; one that has no list but answers will do.

    Raises:
        ModelError: it cannot be reached, fails, or does not accept our key.
    """
    try:
        answer = await server.ask(server.models_url, seconds=PROBE_LIMIT_SECONDS)
    except ModelRequestError as error:
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
    except ModelError:
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
