"""What the user wants: one queue that all agents of a patient's conversation share."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from pydantic import AwareDatetime, Field, model_validator

from data_models.entities import entity_queue
from data_models.entities.entity_values import IsRelative, Offer, copied

Provenance: TypeAlias = Literal["inferred", "extracted", "user_stated"]
_RANK: Mapping[Provenance, int] = {"inferred": 0, "extracted": 1, "user_stated": 2}


class ConversationEntity(entity_queue.Entity):
    """One thing the user wants.

    Attributes:
        reference_time: When it was said, for values such as "tomorrow"; else None (E16).
    """

    source: Literal["conversation"] = "conversation"
    provenance: Provenance = "inferred"
    reference_time: AwareDatetime | None = None


class ConversationEntitiesManager(entity_queue.EntityQueues):
    """The queue. A write is planned whole before anything changes."""

    entities: dict[str, ConversationEntity] = Field(default_factory=dict)
    max_size: int = Field(default=entity_queue.MAX_ENTITIES, ge=1)
    recently_evicted: list[ConversationEntity] = Field(default_factory=list)
    renewed: list[str] = Field(default_factory=list, exclude=True, repr=False)
    """Keys that the last delta left equal but that mean another day now; never stored."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        self.entities = entity_queue.in_order(self.entities)
        return self

    def get_all(self) -> dict[str, Any]:
        """Return a copy of the values by key, oldest first."""
        return {key: copied(one.value) for key, one in self.entities.items()}

    def apply_delta(
        self,
        updates: Mapping[str, Any],
        *,
        now: datetime,
        remove: Sequence[str] = (),
        provenance: Provenance = "inferred",
        pinned: Collection[str] = (),
        is_taken: entity_queue.IsTaken = lambda _: False,
        is_relative: IsRelative = lambda _: False,
    ) -> entity_queue.EntityReport:
        """Remove, then overwrite or append, then let the oldest go (E1-E9, E16, E25).

        Args:
            pinned: Keys that an open plan needs; they never leave.
            is_taken: Whether an unlisted key lives among the derived ones.
            is_relative: Whether a value means something only with the time at which it was said.
        """
        report = entity_queue.empty_report()
        self.renewed.clear()
        offers = entity_queue.sorted_offers(
            updates, namespace="conversation", is_taken=is_taken, blanks_count=False, report=report
        )
        for key in entity_queue.canonical_keys(remove):
            if self.entities.pop(key, None) is not None:
                report["removed"].append(key)
        self._refuse_weaker(offers, provenance, report)
        self._make_room(offers, pinned, report)
        writes = [
            self._write(key, one, _Said(provenance, now, is_relative(one.value)), report)
            for key, one in offers.items()
        ]
        if any(writes) or report["removed"] or report["evicted"]:
            self.touch(now)
        return report

    def file(self, key: str, value: Any, *, now: datetime, is_relative: bool) -> bool:
        """Append a migrated value as it is, whatever the cap; False if the key is here already."""
        if key in self.entities:
            return False
        self._append(key, Offer(value, ""), _Said("inferred", now, is_relative))
        return True

    def restore(
        self, key: str, *, now: datetime, pinned: Collection[str] = ()
    ) -> entity_queue.EntityReport:
        """Bring back what was evicted, as the newest; refused if it is gone or here again (E25)."""
        report = entity_queue.empty_report()
        found = next((one for one in reversed(self.recently_evicted) if one.key == key), None)
        if found is None or key in self.entities:
            report["rejected"][key] = "absent" if found is None else "present"
            return report
        self._make_room({key: Offer(found.value, found.canonical)}, pinned, report)
        if report["rejected"]:
            return report
        self.recently_evicted = [one for one in self.recently_evicted if one.key != key]
        found.seq = self.take_seq()
        self.entities[key] = found
        report["added"].append(key)
        self.touch(now)
        return report

    def evict(self, key: str) -> ConversationEntity:
        """Let `key` go; it can be restored for a while."""
        gone = self.entities.pop(key)
        self.recently_evicted = entity_queue.remembered(self.recently_evicted, [gone])
        return gone

    def _refuse_weaker(
        self, offers: dict[str, Offer], provenance: Provenance, report: entity_queue.EntityReport
    ) -> None:
        for key in [key for key in offers if key in self.entities]:
            held = self.entities[key]
            is_weaker = _RANK[provenance] < _RANK[held.provenance]
            if is_weaker and held.canonical != offers[key].canonical:
                report["rejected"][key] = "provenance"
                del offers[key]

    def _make_room(
        self, offers: dict[str, Offer], pinned: Collection[str], report: entity_queue.EntityReport
    ) -> None:
        gone = entity_queue.let_go(
            self.entities, offers, pinned=pinned, cap=self.max_size, report=report
        )
        self.recently_evicted = entity_queue.remembered(self.recently_evicted, gone)

    def _write(
        self, key: str, offer: Offer, said: "_Said", report: entity_queue.EntityReport
    ) -> bool:
        if (held := self.entities.get(key)) is None:
            self._append(key, offer, said)
            report["added"].append(key)
            return True
        if held.canonical == offer.canonical:
            report["unchanged"].append(key)
            return self._confirm(held, said.provenance, said.now)
        held.take(offer, now=said.now)
        if held.provenance != said.provenance:
            held.provenance = said.provenance
        if held.reference_time != said.reference_time:
            held.reference_time = said.reference_time
        report["updated"].append(key)
        return True

    def _confirm(self, held: ConversationEntity, provenance: Provenance, now: datetime) -> bool:
        """Let an equal value raise its provenance, and "tomorrow" mean the day after today."""
        is_raised = _RANK[provenance] > _RANK[held.provenance]
        if is_raised:
            held.provenance = provenance
        said = held.reference_time
        is_later = said is not None and said.date() < now.date() and provenance != "inferred"
        if is_later:
            held.reference_time = held.updated_at = now
            self.renewed.append(held.key)
        return is_raised or is_later

    def _append(self, key: str, offer: Offer, said: "_Said") -> None:
        self.entities[key] = ConversationEntity(
            key=key,
            value=copied(offer.value),
            seq=self.take_seq(),
            inserted_at=said.now,
            updated_at=said.now,
            provenance=said.provenance,
            reference_time=said.reference_time,
        )


class _Said(NamedTuple):
    """How a value is known, and since when."""

    provenance: Provenance
    now: datetime
    is_relative: bool

    @property
    def reference_time(self) -> datetime | None:
        return self.now if self.is_relative else None
