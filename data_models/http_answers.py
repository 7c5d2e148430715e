"""What servers answer over HTTP: bodies within bounds, and how long they ask to be left alone."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeVar

import aiohttp
import stamina
from yarl import URL

from data_models.errors import BusyError

Made = TypeVar("Made")


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


@dataclass(frozen=True, slots=True)
class Refusal:
    """Makes an error of who gave nothing usable, such as "the provider", and why."""

    error: Callable[[str], Exception]
    who: str

    def __call__(self, why: str) -> Exception:
        return self.error(f"{self.who} {why}")


async def fetch(
    session: aiohttp.ClientSession,
    method: str,
    url: str | URL,
    bounds: Bounds,
    *,
    refusal: Callable[[str], Exception],
    **more: Any,
) -> bytes:
    """Return the body of an answer of success (200 or 201) within its bounds.

    Args:
        refusal: Makes an error of why there is none, such as "answered 503". It has no cause: that
            might hold the request, and so a token, or words of a patient.
        more: As `ask`.
    """
    try:
        answer = await ask(
            session, method, url, bounds._replace(limit_bytes=bounds.limit_bytes + 1), **more
        )
    except (aiohttp.ClientError, TimeoutError) as error:
        raise refusal(f"did not answer ({type(error).__name__})") from None
    if answer.status not in (200, 201):
        raise refusal(f"answered {answer.status}")
    if len(answer.body) > bounds.limit_bytes:
        raise refusal(f"answered with over {bounds.limit_bytes} bytes")
    return answer.body


class Tries(NamedTuple):
    """How often something is tried that others may be too busy for.

    Attributes:
        seconds: For all tries, their pauses included.
        longest_pause: Who asks for a longer one is not waited for.
        first_pause: It doubles up to `most_pause`; some of `jitter` is added.
    """

    most: int
    seconds: float
    longest_pause: float
    first_pause: float = 0.1
    most_pause: float = 2.0
    jitter: float = 0.1


async def repeat(work: Callable[[], Awaitable[Made]], tries: Tries) -> Made:
    """Return what `work` gives, asked again after `BusyError`s that leave nothing half done."""

    def pause_after(error: Exception) -> bool | float:
        if not isinstance(error, BusyError) or error.is_maybe_taken:
            return False
        if (seconds := error.wait_seconds) is None:
            return True
        # stamina reads zero as "no": wait a moment instead.
        return max(seconds, 0.01) if seconds <= tries.longest_pause else False

    attempts = stamina.retry_context(
        on=pause_after, attempts=tries.most, timeout=tries.seconds, wait_initial=tries.first_pause,
        wait_max=tries.most_pause, wait_jitter=tries.jitter,
    )  # fmt: skip
    async for attempt in attempts:
        with attempt:
            return await work()
    raise BusyError("no attempt was made")


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
