"""How long a server asks to be left alone."""

from datetime import datetime
from email.utils import parsedate_to_datetime


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
