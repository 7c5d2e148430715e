"""Turns what model servers and the ways to them answer into our own errors, completely.

A server's error text may quote the prompt, so nothing of it is kept: neither text nor cause.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx2
import openai
import orjson

from data_models.errors import (
    ModelError,
    ModelRefusedError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from group_chat.models.transport import head_of

FOREIGN = (
    *(aiohttp.ClientError, OSError),  # a TimeoutError is an OSError
    *(openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError),
    *(ValueError, orjson.JSONEncodeError),
)
"""Everything that a call can raise; ValueError is the openai client's word for no credentials."""

_PASSING = frozenset({408, 409, 425, 429})
_MALFORMED = frozenset({400, 404, 413, 415, 422})
_LOST = (aiohttp.ClientError, OSError, openai.APIConnectionError, httpx2.TransportError)


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed attempt: what to tell, and how long the server wants us to wait."""

    error: ModelError
    retry_after_seconds: float | None = None


def fault_of(error: Exception) -> Fault:
    """Say in our words what `error`, one of `FOREIGN`, means."""
    if isinstance(error, openai.APIStatusError):
        headers = error.response.headers
        return _fault_of_status(error.status_code, headers, code=error.code, param=error.param)
    if isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException):
        return Fault(ModelTimeoutError("the model's server did not answer in time"))
    if isinstance(error, _LOST):
        return Fault(ModelUnavailableError("the connection to the model's server failed"))
    return Fault(ModelError(f"the model client failed: {type(error).__name__}"))


async def fault_in(reply: aiohttp.ClientResponse) -> Fault:
    """Say what a `reply` means whose status is that of a failure; reads 64 kB of it at most."""
    problem = _problem_in(await head_of(reply))
    code, param = problem.get("code"), problem.get("param")
    return _fault_of_status(reply.status, reply.headers, code=code, param=param)


def _problem_in(body: bytes) -> Mapping[str, Any]:
    """Return what a server reports, as OpenAI's do; nothing if it is of no such shape."""
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    problem = said.get("error", said) if isinstance(said, dict) else said
    return problem if isinstance(problem, dict) else {}


def _fault_of_status(status: int, headers: Mapping[str, str], *, code: Any, param: Any) -> Fault:
    if status in _PASSING or status >= 500:
        seconds = retry_after(headers)
        return Fault(ModelUnavailableError(f"the model's server answered {status}"), seconds)
    if code == "content_filter":
        return Fault(ModelRefusedError("a content filter declined the request"))
    if status in _MALFORMED:
        return Fault(ModelRequestError(status=status, param=str(param or "")))
    return Fault(ModelError(f"the model's server answered {status}"))


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
