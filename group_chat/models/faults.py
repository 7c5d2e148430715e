"""Turns what the openai client and its transport raise into our own errors, completely.

A server's error text may quote the prompt, so nothing of it is kept: neither text nor cause.
"""

import re
from dataclasses import dataclass

import httpx2
import openai

from data_models.errors import (
    ModelError,
    ModelRefusedError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
    ModelWindowError,
)
from group_chat.models.learned import DISPENSABLE

FOREIGN = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, TimeoutError, ValueError)
"""Everything the client can raise; ValueError is its word for missing credentials."""

_PASSING = frozenset({408, 409, 425, 429})
_TOO_LONG = re.compile(
    r"(?i)context[_ ](?:length|window|size)|maximum context|exceed_context"
    r"|too many (?:input )?tokens|(?:prompt|input) is too long|reduce the length"
)
_WINDOW = re.compile(
    r"(?i)(?:(?:maximum )?context (?:length|window|size)[^0-9]{0,30}|n_ctx[^0-9]{0,8})([0-9]{4,8})"
)
_MALFORMED = frozenset({400, 404, 413, 415, 422})


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed attempt: what to tell, and how long the server wants us to wait."""

    error: ModelError
    retry_after_seconds: float | None = None


def fault_of(error: Exception) -> Fault:
    """Say in our words what `error`, one of `FOREIGN`, means."""
    if isinstance(error, openai.APIStatusError):
        return _fault_of_status(error)
    if isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException):
        return Fault(ModelTimeoutError("the model's server did not answer in time"))
    if isinstance(error, openai.APIConnectionError | httpx2.TransportError):
        return Fault(ModelUnavailableError("the connection to the model's server failed"))
    return Fault(ModelError(f"the model client failed: {type(error).__name__}"))


def _fault_of_status(error: openai.APIStatusError) -> Fault:
    status = error.status_code
    if status in _PASSING or status >= 500:
        seconds = retry_after(error.response.headers)
        return Fault(ModelUnavailableError(f"the model's server answered {status}"), seconds)
    if error.code == "content_filter":
        return Fault(ModelRefusedError("a content filter declined the request"))
    if status in _MALFORMED:
        said = _said_by(error)
        if error.code == "context_length_exceeded" or _TOO_LONG.search(said):
            window = _WINDOW.search(said)
            tokens = int(window[1]) if window is not None else None
            return Fault(ModelWindowError(status=status, window_tokens=tokens))
        return Fault(ModelRequestError(status=status, param=_param(error, said)))
    return Fault(ModelError(f"the model's server answered {status}"))


def _said_by(error: openai.APIStatusError) -> str:
    """Return the server's own words, to look for its reason in; none of them is kept."""
    return f"{error.message} {error.body}"[:4_000]


def _param(error: openai.APIStatusError, said: str) -> str:
    if error.param:
        return str(error.param)
    # Longest first: `max_completion_tokens` is not `max_tokens`.
    names = (*sorted(DISPENSABLE, key=len, reverse=True), "tools")
    return next((one for one in names if one in said), "")


def retry_after(headers: httpx2.Headers) -> float | None:
    """Return the pause in seconds that the server asks for; dates and nonsense count as none."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < 86_400:
            return seconds
    return None
