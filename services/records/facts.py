"""Facts that always carry their source."""

from typing import Literal, TypeAlias

from data_models.chart_view import ViewSource
from data_models.values import ClosedValue

FactState: TypeAlias = Literal["recorded", "sources differ", "not in the record"]


class Reading(ClosedValue):
    """One value and the newest sources that say it.

    Attributes:
        more_sources: How many more say so, or None.
    """

    value: str
    sources: tuple[ViewSource, ...]
    more_sources: int | None = None

    @property
    def date(self) -> str:
        """The newest date of the sources; empty when all are undated."""
        return max((source.date or "" for source in self.sources), default="")


class Fact(ClosedValue):
    """A named value of the patient.

    Attributes:
        name: What it is, such as `ECOG`.
        state: Whether it is known; `not in the record` is said, never filled in.
        value: The newest recorded value, or None.
        sources: What says `value`, newest first.
        more_sources: How many more say so, or None.
        disagreement: Every reading, the value's own among them, when sources of the same
            time say different things; newest first.
        earlier: Older different readings, newest first.
        left_out: How many readings were over the limit.
    """

    name: str
    state: FactState
    value: str | None = None
    sources: tuple[ViewSource, ...] = ()
    more_sources: int | None = None
    disagreement: tuple[Reading, ...] = ()
    earlier: tuple[Reading, ...] = ()
    left_out: int = 0
