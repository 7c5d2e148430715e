"""Turns what the openai client and its transport raise into our own errors, completely.

A server's error text may quote the prompt, so nothing of it is kept: neither text nor cause.
"""

from dataclasses import dataclass

import httpx2
import openai

from data_models.errors import (
    ModelError,
    ModelRefusedError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)

FOREIGN = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, TimeoutError, ValueError)
"""Everything the client can raise; ValueError is its word for missing credentials."""

_PASSING = frozenset({408, 409, 425, 429})
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
        return Fault(ModelRequestError(status=status, param=str(error.param or "")))
    return Fault(ModelError(f"the model's server answered {status}"))


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
