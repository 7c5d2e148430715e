"""Finds out what window a model's server gives it, from whatever that server tells."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import httpx2
from openai import AsyncOpenAI

from data_models.errors import ModelError
from group_chat.models.faults import FOREIGN
from group_chat.models.profile import ModelProfile, known_window

_SECONDS = 3.0
_MOST_BYTES = 1_000_000
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NUM_CTX = re.compile(r"(?m)^\s*num_ctx\s+(\d{3,8})\b")


async def probe_window(client: AsyncOpenAI, profile: ModelProfile) -> ModelProfile:
    """Return `profile` with the window that the server tells, or that the model is known for.

    Asked in this order: the list of models, llama.cpp's properties, Ollama's loaded and stored
    models. A server that tells nothing leaves it open; the first refusal will tell.
    """
    if profile.window_tokens is not None:
        return profile
    origin = str(client.base_url.copy_with(path="/", query=None)).rstrip("/")
    listed = _row_of(await _get(client, "/models"), "data", profile.model)
    if (window := _first(listed, _WINDOW_KEYS)) is not None:
        return profile.with_window(window, "the server's list of models")
    if (known := known_window(profile.model)) is not None:
        return profile.with_window(known, "the model's name")
    props = await _get(client, f"{origin}/props")
    settings = props.get("default_generation_settings")
    window = _first(settings if isinstance(settings, Mapping) else props, ("n_ctx",))
    if window is not None:
        return profile.with_window(window, "llama.cpp's properties")
    loaded = _row_of(await _get(client, f"{origin}/api/ps"), "models", profile.model)
    if (window := _first(loaded, ("context_length",))) is not None:
        return profile.with_window(window, "Ollama, of the loaded model")
    shown = await _get(client, f"{origin}/api/show", {"model": profile.model})
    found = _NUM_CTX.search(str(shown.get("parameters") or ""))
    return profile.with_window(int(found[1]), "Ollama's num_ctx") if found else profile


async def _get(client: AsyncOpenAI, url: str, body: Any = None) -> Mapping[str, Any]:
    """Return the JSON object at `url`; nothing where there is none."""
    try:
        async with asyncio.timeout(_SECONDS):
            if body is None:
                answer = await client.get(url, cast_to=httpx2.Response)
            else:
                answer = await client.post(url, cast_to=httpx2.Response, body=body)
            content = await answer.aread()
            parsed = answer.json() if len(content) <= _MOST_BYTES else None
    except (ModelError, *FOREIGN):
        return {}
    return parsed if isinstance(parsed, Mapping) else {}


def _row_of(document: Mapping[str, Any], key: str, model: str) -> Mapping[str, Any]:
    rows = document.get(key)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and model in (row.get("id"), row.get("name"), row.get("model")):
            return row
    return {}


def _first(row: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    found = (row.get(key) for key in keys)
    return next((one for one in found if isinstance(one, int) and one >= 256), None)
