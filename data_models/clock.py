"""The one clock and the one id source; tests inject their own."""

import secrets
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells time. `now` for what is stored, `monotonic` (seconds) for what is measured."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start; never goes back."""
        ...


class IdSource(Protocol):
    """Makes ids that nobody can guess."""

    def new_id(self, prefix: str) -> str:
        """Return `prefix`, an underscore and at least 122 random bits in URL-safe text."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class RandomIds:
    """Ids from the operating system's random source."""

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{secrets.token_urlsafe(16)}"
