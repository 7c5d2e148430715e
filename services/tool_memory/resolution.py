"""What a reference can turn out to be, and the scene it is made in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

SHOWN_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one entity that is meant; `words` are those that led to it."""

    entity_id: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Up to five entities that may be meant; the caller asks which, or whether it is that one.

    Attributes:
        is_every: The user means all of them; the caller asks once for a yes to them all.
    """

    entity_ids: tuple[str, ...]
    is_every: bool = False


@dataclass(frozen=True, slots=True)
class NotFound:
    """Nothing is meant that is there.

    Attributes:
        is_named: The user named something, and nothing is called so.
    """

    is_named: bool = field(default=False, compare=False)


Resolution: TypeAlias = Resolved | Ambiguous | NotFound


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a reference is made.

    Attributes:
        now: The moment of the message, in the user's zone.
        focus: Id of the entity that was used last; it may be gone.
        last_list: Ids as they were last shown, in that order; some may be gone.
    """

    now: datetime
    focus: str | None = None
    last_list: Sequence[str] = ()


def several(ids: Sequence[str] | dict[str, None]) -> Resolution:
    """Return at most five distinct ids to choose from; fewer than two are no choice."""
    found = tuple(dict.fromkeys(ids))[:SHOWN_CANDIDATES]
    return Ambiguous(found) if len(found) > 1 else NotFound()


def every_one(ids: Sequence[str], otherwise: Resolution) -> Resolution:
    """Return `ids` as meant all together; `otherwise` where they are too many for one yes."""
    found = tuple(dict.fromkeys(ids))
    if not 1 < len(found) <= SHOWN_CANDIDATES:
        return otherwise
    return Ambiguous(found, is_every=True)


def ids_of(found: Resolution) -> tuple[str, ...]:
    """Return every id that is possible."""
    if isinstance(found, Resolved):
        return (found.entity_id,)
    return found.entity_ids if isinstance(found, Ambiguous) else ()


def agreed(first: Resolution, second: Resolution) -> Resolution:
    """Return what two readings have in common; where they differ both are possible."""
    ids = list(dict.fromkeys([*ids_of(first), *ids_of(second)]))
    return Resolved(ids[0]) if len(ids) == 1 else several(ids)
