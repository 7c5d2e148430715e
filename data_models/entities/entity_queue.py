"""A value with a place in a queue, and what both queues of entities have in common (page 2).

The order of a queue is the counter `seq`, never a timestamp and never the order of a JSON object.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypedDict, TypeVar

from pydantic import AwareDatetime

from data_models.entities import entity_values
from data_models.entities.entity_values import Offer
from data_models.values import Part

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
IsTaken = Callable[[str], bool]


class Entity(Part):
    """What both kinds have. `value` is replaced whole; `seq` is the place in the queue."""

    key: str
    value: Any
    seq: int
    inserted_at: AwareDatetime
    updated_at: AwareDatetime

    @cached_property
    def canonical(self) -> str:
        """The value as canonical JSON."""
        return entity_values.canonical_json(self.value) or ""

    def is_expired(self, now: datetime) -> bool:
        """Tell whether nobody may see it any more; what the user wants holds until it changes."""
        return False

    def take(self, offer: Offer, *, now: datetime) -> None:
        """Hold the value of `offer` from now on; the place in the queue stays (E2)."""
        # Past pydantic's own assignment, which takes ten times as long and checks nothing here.
        self.__dict__.update(
            value=entity_values.copied(offer.value), canonical=offer.canonical, updated_at=now
        )


EntityT = TypeVar("EntityT", bound=Entity)


class Source(Protocol[EntityT]):
    """How the values of one write are known.

    Attributes:
        weakness: Why such a value does not overwrite a better one.
    """

    weakness: ClassVar[str]

    @property
    def blanks_count(self) -> bool:
        """Whether null and blank text are values."""

    def is_weaker(self, held: EntityT, now: datetime) -> bool:
        """Whether another value than that of `held` gives way to it."""

    def first(self, key: str, offer: Offer, *, seq: int, now: datetime) -> EntityT:
        """Return the entity of a key that was not there."""

    def renew(self, held: EntityT, offer: Offer, *, now: datetime) -> tuple[bool, bool]:
        """Let `held` take `offer`: whether that is an update, and whether anything changed."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a write is told besides its values.

    Attributes:
        remove: Keys to take out first.
        pinned: Keys that an open plan needs; they never leave.
        is_taken: Whether an unlisted key lives in the other namespace.
    """

    remove: Sequence[str] = ()
    pinned: Collection[str] = ()
    is_taken: IsTaken = lambda _: False


ON_NO_TERMS = Terms()


class EntityQueues(Part, Generic[EntityT]):
    """What the manager of conversation and that of derived entities have in common.

    Attributes:
        session_id: The conversation.
        next_seq: The place that the next new entity takes; never reused (E1).
        revision: Raised by every write that changes something (E20).
    """

    NAMESPACE: ClassVar[entity_values.Namespace]

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

    def add(
        self,
        queue: dict[str, EntityT],
        key: str,
        offer: Offer,
        source: Source[EntityT],
        *,
        now: datetime,
    ) -> None:
        """Append a value that is not in `queue`, whatever the cap."""
        queue[key] = source.first(key, offer, seq=self.take_seq(), now=now)

    def remember(self, evicted: Sequence[EntityT]) -> None:
        """Note what left to make room: what a tool found is found again."""

    def write(
        self,
        queue: dict[str, EntityT],
        updates: Mapping[str, Any],
        source: Source[EntityT],
        terms: Terms,
        *,
        now: datetime,
        cap: int,
    ) -> EntityReport:
        """Remove, then overwrite or append in `queue`, then let the oldest go (E1-E9, E25)."""
        report = empty_report()
        offers = self._offers(updates, terms.is_taken, source.blanks_count, report)
        for key in canonical_keys(terms.remove):
            if queue.pop(key, None) is not None:
                report["removed"].append(key)
        for key in [key for key in offers if key in queue]:
            is_other = queue[key].canonical != offers[key].canonical
            if is_other and source.is_weaker(queue[key], now):
                report["rejected"][key] = source.weakness
                del offers[key]
        self.remember(let_go(queue, offers, pinned=terms.pinned, cap=cap, now=now, report=report))
        is_changed = bool(report["removed"] or report["evicted"])
        for key, offer in offers.items():
            if key not in queue:
                self.add(queue, key, offer, source, now=now)
                is_changed = True
                report["added"].append(key)
                continue
            is_update, has_changed = source.renew(queue[key], offer, now=now)
            is_changed |= has_changed
            report["updated" if is_update else "unchanged"].append(key)
        if is_changed:
            self.touch(now)
        return report

    def _offers(
        self,
        updates: Mapping[str, Any],
        is_taken: IsTaken,
        blanks_count: bool,
        report: EntityReport,
    ) -> dict[str, Offer]:
        """Return the values that may be stored, by canonical key; the rest goes into `report`.

        Two spellings of one key are one key, and the later one counts.
        """
        offers: dict[str, Offer] = {}
        for raw, value in updates.items():
            if (key := entity_values.canonical_key(raw)) is None:
                report["rejected"][raw] = "key"
                continue
            home = entity_values.namespace_of(key)
            if home != self.NAMESPACE if home is not None else is_taken(key):
                report["rejected"][key] = "namespace"
            elif not blanks_count and entity_values.is_blank(value):
                report["ignored"].append(key)
            elif (canonical := entity_values.canonical_json(value)) is None:
                report["rejected"][key] = "value"
            elif Offer(value, canonical).is_too_large:
                report["rejected"][key] = "too_large"
            else:
                offers.pop(key, None)
                offers[key] = Offer(value, canonical)
                report["rejected"].pop(key, None)
        report["ignored"] = [one for one in dict.fromkeys(report["ignored"]) if one not in offers]
        return offers


def canonical_keys(raw_keys: Sequence[str]) -> list[str]:
    """Return what `raw_keys` mean, each once, without what is no key."""
    keys = [key for key in map(entity_values.canonical_key, raw_keys) if key is not None]
    return list(dict.fromkeys(keys))


def in_order(rows: Mapping[str, EntityT]) -> dict[str, EntityT]:
    """Return `rows` by their place in the queue, whatever order JSON had (E19)."""
    return dict(sorted(rows.items(), key=lambda row: row[1].seq))


def let_go(
    queue: dict[str, EntityT],
    offers: dict[str, Offer],
    *,
    pinned: Collection[str],
    cap: int,
    now: datetime,
    report: EntityReport,
) -> list[EntityT]:
    """Take out of `queue` and return who leaves for `offers`; who gets no place is refused.

    Pinned entities never go. Among the others expired ones go first, then untouched ones,
    oldest first. If there are more offers than room for them, the last ones stay (E4, E5).
    """
    if not offers or len(queue.keys() | offers.keys()) <= cap:
        return []
    fixed = [key for key in queue if key in pinned and key not in offers]
    staying = _staying(list(offers), queue, pinned, cap - len(fixed))
    for key in [key for key in offers if key not in staying]:
        report["rejected"][key] = "capacity"
        del offers[key]
    excess = max(0, len(queue.keys() | staying) - cap)
    movable = [one for key, one in queue.items() if key not in staying and key not in pinned]
    movable.sort(key=lambda one: not one.is_expired(now))  # stable: expired first, then by age
    leaving = [one.key for one in movable[:excess]]
    report["evicted"] += leaving
    return [queue.pop(key) for key in leaving]


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
