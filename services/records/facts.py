"""What views are made of: facts that always carry their source, in models that dump small."""

from typing import Generic, Literal, TypeAlias, TypeVar

from data_models.values import ClosedValue

FactState: TypeAlias = Literal["recorded", "sources differ", "not in the record"]
ItemT = TypeVar("ItemT")


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


class Bounded(View, Generic[ItemT]):
    """A list of at most `limit` items, and how many more there are.

    Attributes:
        incomplete: Why the record itself may lack entries, for people; None when it does not.
    """

    items: tuple[ItemT, ...]
    limit: int
    left_out: int
    incomplete: str | None = None


def bounded(items: list[ItemT], limit: int, *, incomplete: str | None = None) -> Bounded[ItemT]:
    """Return the first `limit` of `items`."""
    kept = tuple(items[:limit])
    return Bounded[ItemT](
        items=kept, limit=limit, left_out=len(items) - len(kept), incomplete=incomplete
    )
