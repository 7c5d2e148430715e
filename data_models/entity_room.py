"""Decides who stays when a queue is full (E4, E5, E13, E25). Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """What a full queue answers.

    Attributes:
        kept_out: Offered keys for which there is no room, in the order of the offer.
        leaving: Stored keys that go, in the order in which they go.
    """

    kept_out: Sequence[str] = ()
    leaving: Sequence[str] = ()


def make_room(
    *,
    stored: Sequence[tuple[str, bool]],
    offered: Sequence[str],
    pinned: Collection[str],
    cap: int,
) -> Room:
    """Return who must go so that `stored` and `offered` together are at most `cap`.

    Pinned entities never go. Among the others expired ones go first, then untouched ones,
    oldest first. If there are more offers than room for them, the last ones stay.

    Args:
        stored: Key and whether it is expired, oldest first.
        offered: Keys that the delta wants to write, in its order.
    """
    held = {key for key, _ in stored}
    if len(held.union(offered)) <= cap:
        return Room()
    fixed = [key for key, _ in stored if key in pinned]
    staying = _staying(offered, held, pinned, cap - len(set(fixed).difference(offered)))
    kept_out = [key for key in offered if key not in staying]
    movable = [row for row in stored if row[0] not in staying and row[0] not in pinned]
    excess = len(held.union(staying)) - cap
    queue = sorted(movable, key=lambda row: not row[1])  # stable: expired first, then by age
    return Room(kept_out, [key for key, _ in queue[: max(0, excess)]])


def _staying(
    offered: Sequence[str], held: Collection[str], pinned: Collection[str], places: int
) -> set[str]:
    """Return the offers that get a place: held and pinned ones, pinned ones, then the last."""

    def rank(index: int) -> tuple[bool, bool, int]:
        key = offered[index]
        return key in pinned and key in held, key in pinned, index

    ranked = sorted(range(len(offered)), key=rank, reverse=True)
    unmovable = sum(1 for key in offered if key in pinned and key in held)
    return {offered[index] for index in ranked[: max(places, unmovable, 0)]}
