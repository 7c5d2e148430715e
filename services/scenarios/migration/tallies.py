"""Sessions counted by what is alike about them. Pure."""

from collections import Counter
from collections.abc import Iterable

from services.scenarios.migration.ports import SessionRow, Tally


def tallied(rows: Iterable[SessionRow]) -> list[Tally]:
    """Count rows that are alike, in order."""
    found = Counter((r.version, r.step_hash, r.mark, r.review, r.pinned) for r in rows)
    return [Tally(*alike, number) for alike, number in sorted(found.items())]


def summed(tallies: Iterable[Tally]) -> list[Tally]:
    """Join tallies of several pages."""
    found: Counter[tuple[int, str, int, str, bool]] = Counter()
    for t in tallies:
        found[t.version, t.step_hash, t.mark, t.review, t.pinned] += t.number
    return [Tally(*alike, number) for alike, number in sorted(found.items())]
