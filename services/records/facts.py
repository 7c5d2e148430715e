"""What views are made of: facts that always carry their source, in models that dump small."""

from typing import Literal, TypeAlias

from data_models.values import ClosedValue

FactState: TypeAlias = Literal["recorded", "sources differ", "not in the record"]


class View(ClosedValue):
    """Base of everything that a view returns."""


class Source(View):
    """Where something is written.

    Attributes:
        ref: Source id, such as `Observation/ecog-1`.
        date: Clinical date as recorded, perhaps partial; None when undated.
        title: What the source is, for people.
        quote: The words that say so, when the source is a text.
    """

    ref: str
    date: str | None
    title: str
    quote: str | None = None


class Reading(View):
    """One value and the newest sources that say it.

    Attributes:
        more_sources: How many more say so, or None.
    """

    value: str
    sources: tuple[Source, ...]
    more_sources: int | None = None

    @property
    def date(self) -> str:
        """The newest date of the sources; empty when all are undated."""
        return max((source.date or "" for source in self.sources), default="")


class Fact(View):
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
    sources: tuple[Source, ...] = ()
    more_sources: int | None = None
    disagreement: tuple[Reading, ...] = ()
    earlier: tuple[Reading, ...] = ()
    left_out: int = 0
