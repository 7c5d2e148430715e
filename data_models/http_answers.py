"""What servers answer over HTTP: bodies within bounds, and how long they ask to be left alone."""

from datetime import datetime
from email.utils import parsedate_to_datetime

import aiohttp


async def first_bytes(content: aiohttp.StreamReader, *, limit_bytes: int) -> bytes:
    """Return the body, or as much of one that is longer.

    `content.read(n)` alone returns what has arrived, which may be a part of a short body. Who
    refuses a longer one asks for a byte more than is allowed.
    """
    data = bytearray()
    while len(data) < limit_bytes and (part := await content.read(limit_bytes - len(data))):
        data += part
    return bytes(data)


def seconds_asked(retry_after: str | None, *, now: datetime) -> float | None:
    """Return the seconds of a `Retry-After`, a number or a date; None if it says neither.

    Source: RFC 9110, 10.2.3. A date that is past is no wait: 0.0.
    """
    said = (retry_after or "").strip()
    if said.isascii() and said.isdecimal():
        return float(said)
    try:
        return max(0.0, (parsedate_to_datetime(said) - now).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        return None
