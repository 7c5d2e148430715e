"""A `WorkQueue` in memory, with the rules of a storage queue."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from data_models.errors import StoreUnavailableError
from data_models.storage.blob_store import WorkItem


@dataclass
class _Note:
    body: str
    visible_at: float
    receipt: str
    taken: int = 0


class MemoryWorkQueue:
    """Attributes: is_down: whether nobody can reach it; hidden: how often notes were hidden."""

    def __init__(self) -> None:
        self._notes: dict[str, _Note] = {}
        self._numbers = count(1)
        self._ahead = 0.0
        self.is_down = False
        self.hidden = 0

    def jump(self, seconds: float) -> None:
        """Be where one would be after waiting for so long."""
        self._ahead += seconds

    async def put(self, body: str, *, hidden_seconds: int) -> WorkItem:
        self._reach()
        name = f"note-{next(self._numbers)}"
        note = _Note(body, self._now() + hidden_seconds, self._receipt())
        self._notes[name] = note
        return WorkItem(name, note.receipt, body)

    async def take(self, *, limit: int, hidden_seconds: int) -> Sequence[WorkItem]:
        self._reach()
        now = self._now()
        visible = [name for name, note in self._notes.items() if note.visible_at <= now][:limit]
        return [self._taken(name, now + hidden_seconds) for name in visible]

    async def hide(self, item: WorkItem, *, seconds: int) -> WorkItem | None:
        note = self._ours(item)
        if note is None:
            return None
        note.visible_at, note.receipt = self._now() + seconds, self._receipt()
        self.hidden += 1
        return WorkItem(item.item_id, note.receipt, note.body, note.taken)

    async def remove(self, item: WorkItem) -> bool:
        if self._ours(item) is None:
            return False
        del self._notes[item.item_id]
        return True

    async def length(self) -> int:
        """Return how many notes there are, hidden ones included."""
        self._reach()
        return len(self._notes)

    async def close(self) -> None:
        """There is nothing to release."""

    def _taken(self, name: str, visible_at: float) -> WorkItem:
        note = self._notes[name]
        note.visible_at, note.receipt, note.taken = visible_at, self._receipt(), note.taken + 1
        return WorkItem(name, note.receipt, note.body, note.taken)

    def _ours(self, item: WorkItem) -> _Note | None:
        self._reach()
        note = self._notes.get(item.item_id)
        return note if note is not None and note.receipt == item.receipt else None

    def _receipt(self) -> str:
        return f"receipt-{next(self._numbers)}"

    def _now(self) -> float:
        return time.monotonic() + self._ahead

    def _reach(self) -> None:
        if self.is_down:
            raise StoreUnavailableError
