"""A table of bounded size."""

from collections import OrderedDict
from typing import TypeVar

Key = TypeVar("Key")
Kept = TypeVar("Kept")


class Newest(OrderedDict[Key, Kept]):
    """Keeps what was put last; what was put longest ago is let go of first.

    Args:
        limit: How many entries are kept.
    """

    def __init__(self, *, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: Key, value: Kept) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._limit:
            self.popitem(last=False)
