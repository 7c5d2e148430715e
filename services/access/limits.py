"""How much one caller may ask for at a time (spec page 7, R18)."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from data_models.clock import Clock
from data_models.errors import RateLimitedError, TooManySocketsError
from data_models.values import Newest

TABLE_LIMIT = 10_000


@dataclass(kw_only=True, eq=False, repr=False)
class MessageRate:
    """A bucket of tokens for each principal: `per_minute` at once, refilled evenly.

    The table is bounded: the principal who was quiet for longest is forgotten first, and one who
    was quiet for a minute has a full bucket anyway.

    Attributes:
        per_minute: None: no limit.
        error: What is raised over the limit.
    """

    per_minute: int | None
    clock: Clock
    table_limit: int = TABLE_LIMIT
    error: type[RateLimitedError] = RateLimitedError

    def __post_init__(self) -> None:
        self._buckets = Newest[str, tuple[float, float]](limit=self.table_limit)

    def take(self, principal_id: str) -> None:
        """Count one message.

        Raises:
            RateLimitedError: there were too many; this one is not counted.
        """
        if self.per_minute is None:
            return
        now = self.clock.monotonic()
        tokens, seen_at = self._buckets.get(principal_id, (float(self.per_minute), now))
        tokens = min(self.per_minute, tokens + (now - seen_at) * self.per_minute / 60)
        if tokens < 1:
            raise self.error(per_minute=self.per_minute)
        self._buckets[principal_id] = (tokens - 1, now)


class SocketSlots:
    """Counts the open sockets of each principal."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._open: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """Open sockets of everybody."""
        return self._open.total()

    @contextmanager
    def hold(self, principal_id: str) -> Iterator[None]:
        """Hold a slot while a socket is open.

        Raises:
            TooManySocketsError: the principal holds as many as it may.
        """
        if self._open[principal_id] >= self._limit:
            raise TooManySocketsError(limit=self._limit)
        self._open[principal_id] += 1
        try:
            yield
        finally:
            self._open[principal_id] -= 1
            if not self._open[principal_id]:
                del self._open[principal_id]
