"""What servers answer over HTTP: bodies within bounds, and how long they ask to be left alone."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import aiohttp
from yarl import URL


async def first_bytes(content: aiohttp.StreamReader, *, limit_bytes: int) -> bytes:
    """Return the body, or as much of one that is longer.

    `content.read(n)` alone returns what has arrived, which may be a part of a short body. Who
    refuses a longer one asks for a byte more than is allowed.
    """
    data = bytearray()
    while len(data) < limit_bytes and (part := await content.read(limit_bytes - len(data))):
        data += part
    return bytes(data)


class Bounds(NamedTuple):
    """How long an answer may take, and how much of it is read."""

    seconds: float
    limit_bytes: int
    connect_seconds: float | None = None


class HttpAnswer(NamedTuple):
    """What a server answered; `body` is cut where it was longer than allowed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def ask(
    session: aiohttp.ClientSession, method: str, url: str | URL, bounds: Bounds, **more: Any
) -> HttpAnswer:
    """Return one answer; no redirect is followed.

    Args:
        more: What else aiohttp takes: headers, data, params.

    Raises:
        aiohttp.ClientError, TimeoutError: there is none.
    """
    timeout = aiohttp.ClientTimeout(total=bounds.seconds, sock_connect=bounds.connect_seconds)
    async with session.request(
        method, url, timeout=timeout, allow_redirects=False, **more
    ) as answer:
        body = await first_bytes(answer.content, limit_bytes=bounds.limit_bytes)
        return HttpAnswer(answer.status, answer.headers, body)


def pause_of(seconds: float | None, *, longest_seconds: float) -> bool | float:
    """Tell stamina that it may try again: by its own pauses (True), or after what was asked.

    False where a longer pause was asked for than we take.
    """
    if seconds is None:
        return True
    # stamina reads zero as "no": wait a moment instead.
    return max(seconds, 0.01) if seconds <= longest_seconds else False


def seconds_asked(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the seconds of a `Retry-After`, a number or a date; None if it says neither.

    Source: RFC 9110, 10.2.3. A date that is past is no wait: 0.0. Servers of models also give
    milliseconds, in a header of their own.
    """
    said = ""
    for name, unit in (("Retry-After-Ms", 0.001), ("Retry-After", 1.0)):
        said = headers.get(name, "").strip()
        if said.isascii() and said.replace(".", "", 1).isdecimal():
            return float(said) * unit
    try:
        return max(0.0, (parsedate_to_datetime(said) - now).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        return None
