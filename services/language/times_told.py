"""The times of a sentence that follow from days: an age, how long something was, how long ago."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from services.language.letters import folded
from services.language.quantities import Quantity
from services.language.statement_tables import saying

TimeKind: TypeAlias = Literal["age", "ago", "time"]
_TIMES = frozenset({"a", "mo", "wk", "d"})
_NEAR = 4


class TimeTold(NamedTuple):
    """One number of a sentence that is a time, and what it says."""

    told: Quantity
    kind: TimeKind


def times_told(
    words: Sequence[tuple[int, str]], quantities: Sequence[Quantity]
) -> Iterator[TimeTold]:
    """Yield the times among the numbers of a sentence."""
    if not quantities:
        return
    places = {offset: at for at, (offset, _) in enumerate(words)}
    said = [folded(word) for _, word in words]
    for one in quantities:
        at = places.get(one.start)
        if at is None or one.pair or one.unit not in _TIMES | {""}:
            continue
        behind = said[at + (2 if one.unit else 1) :][: _NEAR - 1]
        before = [word for word in said[:at] if word not in saying("beside_a_time")][-_NEAR:]
        if not one.decimals and _is_age(before, behind, one):
            yield TimeTold(one, "age")
        elif one.unit:
            is_ago = not saying("ago").isdisjoint(behind[:1]) or before[-1:] == ["vor"]
            yield TimeTold(one, "ago" if is_ago else "time")


def _is_age(before: Sequence[str], behind: Sequence[str], one: Quantity) -> bool:
    """Whether a number is how old somebody was: "aged 21", "mit 19 Jahren", "when she was 42"."""
    if not saying("before_an_age").isdisjoint(before[-1:]):
        return bool(one.unit) or not (one.comparator or before[-1] in saying("with_years"))
    was = before[-1:] if not behind or behind[-1] not in saying("was") else behind
    is_of_person = not saying("who").isdisjoint(before[-2:])
    is_old = not one.unit or not saying("years_old").isdisjoint(behind)
    return is_of_person and is_old and not saying("was").isdisjoint(was)
