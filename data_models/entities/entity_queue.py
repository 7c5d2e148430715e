"""A value with a place in a queue, and what both queues of entities have in common (page 2).

The order of a queue is the counter `seq`, never a timestamp and never the order of a JSON object.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, TypeVar

from pydantic import AwareDatetime, Field

from data_models.document import Part
from data_models.entities import entity_values

# What became of each key of a delta.


class EntityReport(TypedDict):
    """Keys, in the order of the delta; `evicted` in the order in which they left.

    `rejected` gives a reason: `key`, `value`, `too_large`, `namespace`, `provenance`,
    `tool_value`, `capacity`, `absent`, `present`.
    """

    added: list[str]
    updated: list[str]
    unchanged: list[str]
    removed: list[str]
    ignored: list[str]
    evicted: list[str]
    rejected: dict[str, str]


def empty_report() -> EntityReport:
    """Return the report of a delta that did nothing."""
    return {
        "added": [],
        "updated": [],
        "unchanged": [],
        "removed": [],
        "ignored": [],
        "evicted": [],
        "rejected": {},
    }


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
            self.cached = entity_values.canonical_json(self.value) or ""
        return self.cached

    def extra_bytes(self) -> int:
        """Return at most how many bytes the fields take that only some entities have."""
        return 0

    def take(self, offer: entity_values.Offer, *, now: datetime) -> None:
        """Hold the value of `offer` from now on; the place in the queue stays (E2)."""
        # Past pydantic's own assignment, which takes ten times as long and checks nothing here.
        self.__dict__.update(
            value=entity_values.copied(offer.value), cached=offer.canonical, updated_at=now
        )


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
    keys = [key for key in map(entity_values.canonical_key, raw_keys) if key is not None]
    return list(dict.fromkeys(keys))


def in_order(rows: Mapping[str, EntityT]) -> dict[str, EntityT]:
    """Return `rows` by their place in the queue, whatever order JSON had (E19)."""
    return dict(sorted(rows.items(), key=lambda row: row[1].seq))


def remembered(evicted: Sequence[EntityT], more: Collection[EntityT]) -> list[EntityT]:
    """Return the list of recently evicted entities with `more`, bounded (E25)."""
    return [*evicted, *more][-RECENTLY_EVICTED:]


# Sorts what a delta offers into values to store and keys to refuse, alike for both namespaces.

IsTaken = Callable[[str], bool]


def sorted_offers(
    updates: Mapping[str, Any],
    *,
    namespace: entity_values.Namespace,
    is_taken: IsTaken,
    blanks_count: bool,
    report: EntityReport,
) -> dict[str, entity_values.Offer]:
    """Return the values that may be stored, by canonical key; the rest goes into `report`.

    Two spellings of one key are one key, and the later one counts.

    Args:
        is_taken: Whether an unlisted key lives in the other namespace already.
        blanks_count: Whether null and blank text are values, as they are from a tool.
    """
    offers: dict[str, entity_values.Offer] = {}
    rejected = report["rejected"]
    for raw, value in updates.items():
        if (key := entity_values.canonical_key(raw)) is None:
            rejected[raw] = "key"
            continue
        home = entity_values.namespace_of(key)
        if home != namespace if home is not None else is_taken(key):
            rejected[key] = "namespace"
        elif not blanks_count and entity_values.is_blank(value):
            report["ignored"].append(key)
        elif (canonical := entity_values.canonical_json(value)) is None:
            rejected[key] = "value"
        elif (
            offer := entity_values.Offer(value, canonical)
        ).length_chars > entity_values.VALUE_LIMIT_CHARS:
            rejected[key] = "too_large"
        else:
            offers.pop(key, None)
            offers[key] = offer
            rejected.pop(key, None)
    if report["ignored"]:
        report["ignored"] = [key for key in dict.fromkeys(report["ignored"]) if key not in offers]
    return offers


# Decides who stays when a queue is full (E4, E5, E13, E25). Pure.


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
    *, stored: Sequence[tuple[str, bool]], offered: Sequence[str], pinned: Collection[str], cap: int
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


def let_go(
    queue: dict[str, EntityT],
    offers: dict[str, entity_values.Offer],
    *,
    pinned: Collection[str],
    cap: int,
    report: EntityReport,
    is_expired: Callable[[EntityT], bool] = lambda _: False,
) -> list[EntityT]:
    """Take out of `queue` and return who leaves for `offers`; who gets no place is refused."""
    if not offers:
        return []
    stored = [(key, is_expired(one)) for key, one in queue.items()]
    room = make_room(stored=stored, offered=list(offers), pinned=pinned, cap=cap)
    for key in room.kept_out:
        report["rejected"][key] = "capacity"
        del offers[key]
    report["evicted"] += room.leaving
    return [queue.pop(key) for key in room.leaving]


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
