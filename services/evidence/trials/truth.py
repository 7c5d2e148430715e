"""True, false or not known, with the rows that say so. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from data_models.chart_view import ViewRow
from services.records.values import with_unit


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether something holds; None: nobody can tell."""

    holds: bool | None
    reason: str = ""
    sources: tuple[str, ...] = ()

    def negated(self) -> "Truth":
        """Return the opposite."""
        holds = None if self.holds is None else not self.holds
        return Truth(holds, self.reason, self.sources)


UNKNOWN = Truth(None)


def all_of(judged: Sequence[Truth]) -> Truth:
    """Return whether all hold: one that does not decides, one that is unknown leaves it open."""
    if not judged:
        return UNKNOWN
    holds = [one.holds for one in judged]
    whole = False if False in holds else None if None in holds else True
    return _joined(whole, judged)


def any_of(judged: Sequence[Truth]) -> Truth:
    """Return whether any holds."""
    holds = [one.holds for one in judged]
    whole = True if True in holds else None if None in holds else False
    return _joined(whole, judged)


def _joined(holds: bool | None, judged: Sequence[Truth]) -> Truth:
    deciding = [one for one in judged if one.holds is holds] if holds is not None else judged
    reasons = dict.fromkeys(one.reason for one in deciding if one.reason)
    return Truth(holds, "; ".join(reasons), tuple(ref for one in deciding for ref in one.sources))


def of_row(row: ViewRow, *, holds: bool | None, why: str = "") -> Truth:
    """Return what a row of the chart says, in its words."""
    value = with_unit(row.value, row.unit) if row.value else ""
    date = f"({row.date[:10]})" if row.date else ""
    status = row.status if row.status not in ("", "active", "final") else ""
    text = " ".join(filter(None, [row.name, value, status, date]))
    return Truth(holds, f"{text}: {why}" if why else text, row.sources)
