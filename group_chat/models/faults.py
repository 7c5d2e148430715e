"""Turns what a model's server answers, and what its connection raises, into our own errors.

A server's error text may quote the prompt, so nothing of it is kept: neither text nor cause.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from data_models import errors
from group_chat.models.learned import DISPENSABLE, SYSTEM

FOREIGN = (aiohttp.ClientError, OSError, TimeoutError)
"""Everything that a connection raises."""

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


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed attempt: what to tell, and how long the server wants us to wait."""

    error: errors.ModelError
    retry_after_seconds: float | None = None


def fault_of(error: Exception) -> Fault:
    """Say in our words what `error`, one of `FOREIGN`, means."""
    if isinstance(error, TimeoutError):
        return Fault(errors.ModelTimeoutError("the model's server did not answer in time"))
    return Fault(errors.ModelUnavailableError("the connection to the model's server failed"))


def fault_of_status(status: int, headers: Mapping[str, str], content: bytes) -> Fault:
    """Say in our words what an answer means that is no success; its own are only looked through."""
    if status in _PASSING or status >= 500:
        seconds = retry_after(headers)
        return Fault(errors.ModelUnavailableError(f"the model's server answered {status}"), seconds)
    told = _told(content)
    if told.get("code") == "content_filter":
        return Fault(errors.ModelRefusedError("a content filter declined the request"))
    if status in _MALFORMED:
        said = str(told)[:4_000]
        if told.get("code") == "context_length_exceeded" or _TOO_LONG.search(said):
            window = _WINDOW.search(said)
            tokens = int(window[1]) if window is not None else None
            return Fault(errors.ModelWindowError(status=status, window_tokens=tokens))
        return Fault(errors.ModelRequestError(status=status, param=_param(told, said)))
    return Fault(errors.ModelError(f"the model's server answered {status}"))


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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the pause in seconds that the server asks for; dates and nonsense count as none."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < 86_400:
            return seconds
    return None
