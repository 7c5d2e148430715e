"""A value with a place in a queue, and what both queues of entities have in common (page 2).

The order of a queue is the counter `seq`, never a timestamp and never the order of a JSON object.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import AwareDatetime, Field

from data_models.document import Part
from data_models.entity_keys import canonical_key
from data_models.entity_values import Offer, canonical_json, copied

MAX_ENTITIES = 7
RECENTLY_EVICTED = 20


class Entity(Part):
    """What both kinds have. `value` is replaced whole; `seq` is the place in the queue."""

    key: str
    value: Any
    seq: int
    inserted_at: AwareDatetime
    updated_at: AwareDatetime
    cached: str = Field(default="", exclude=True, repr=False)
    """The canonical text, made when it is first needed; never stored."""

    @property
    def canonical(self) -> str:
        """The value as canonical JSON."""
        if not self.cached:
            self.cached = canonical_json(self.value) or ""
        return self.cached

    def extra_bytes(self) -> int:
        """Return at most how many bytes the fields take that only some entities have."""
        return 0

    def take(self, offer: Offer, *, now: datetime) -> None:
        """Hold the value of `offer` from now on; the place in the queue stays (E2)."""
        # Past pydantic's own assignment, which takes ten times as long and checks nothing here.
        self.__dict__.update(value=copied(offer.value), cached=offer.canonical, updated_at=now)


EntityT = TypeVar("EntityT", bound=Entity)


class EntityQueues(Part):
    """What the manager of conversation and that of derived entities have in common.

    Attributes:
        session_id: The conversation.
        next_seq: The place that the next new entity takes; never reused (E1).
        revision: Raised by every write that changes something (E20).
    """

    session_id: str = ""
    created_at: AwareDatetime | None = None
    last_updated_at: AwareDatetime | None = None
    next_seq: int = 1
    revision: int = 0

    def take_seq(self) -> int:
        """Return the next place in the queue."""
        self.next_seq += 1
        return self.next_seq - 1

    def touch(self, now: datetime) -> None:
        """Note that the content is another one now."""
        self.revision += 1
        self.created_at = self.created_at or now
        self.last_updated_at = now


def canonical_keys(raw_keys: Sequence[str]) -> list[str]:
    """Return what `raw_keys` mean, each once, without what is no key."""
    keys = [key for key in map(canonical_key, raw_keys) if key is not None]
    return list(dict.fromkeys(keys))


def in_order(rows: Mapping[str, EntityT]) -> dict[str, EntityT]:
    """Return `rows` by their place in the queue, whatever order JSON had (E19)."""
    return dict(sorted(rows.items(), key=lambda row: row[1].seq))


def remembered(evicted: Sequence[EntityT], more: Collection[EntityT]) -> list[EntityT]:
    """Return the list of recently evicted entities with `more`, bounded (E25)."""
    return [*evicted, *more][-RECENTLY_EVICTED:]
