"""Remembers which names were seen last, within a bound."""

from collections import OrderedDict


class RecentNames:
    """The names seen last; the one seen longest ago is forgotten first."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._names: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> None:
        """Remember `name`."""
        self._names[name] = None
        self._names.move_to_end(name)
        if len(self._names) > self._limit:
            self._names.popitem(last=False)
