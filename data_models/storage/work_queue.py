"""What Rounds needs from a queue of work, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A note in the queue, as whoever holds it knows it.

    Attributes:
        receipt: Proves that the note is still ours; another holder's makes ours worthless.
        taken: How often somebody took it, this time included; 0 for who has put it there.
    """

    item_id: str
    receipt: str
    body: str
    taken: int = 0


class WorkQueue(Protocol):
    """A queue whose notes come back unless somebody removes them.

    Every method raises `StoreUnavailableError` when the queue cannot be reached.
    """

    async def put(self, body: str, *, hidden_seconds: int) -> WorkItem:
        """Add a note that nobody else sees for a while (0 to 7 days).

        It may have 48,000 bytes: storage queues take 64 KiB, and text goes as Base64.
        """
        ...

    async def take(self, *, limit: int, hidden_seconds: int) -> Sequence[WorkItem]:
        """Take up to `limit` (at most 32) visible notes and hide them from all others."""
        ...

    async def hide(self, item: WorkItem, *, seconds: int) -> WorkItem | None:
        """Keep a note for longer and return it as it is known now; None if it is ours no more."""
        ...

    async def remove(self, item: WorkItem) -> bool:
        """Remove a note; False if it is ours no more."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
