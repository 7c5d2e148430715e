"""Directories and users who may talk to the bot: nobody, unless named (spec page 7, R16)."""

from collections.abc import Iterable

EVERYBODY = "*"


class AllowList:
    """Names that are allowed; `*`, written out, allows all."""

    def __init__(self, *, names: Iterable[str | None]) -> None:
        self._names = frozenset(name.lower() for name in names if name)

    @property
    def is_open(self) -> bool:
        """Whether everybody is allowed; worth a warning at start."""
        return EVERYBODY in self._names

    def allows(self, name: str | None) -> bool:
        """Tell whether `name` is allowed; an absent name only if everybody is."""
        return self.is_open or (name is not None and name.lower() in self._names)
