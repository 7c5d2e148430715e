"""The entities of one patient, as a part of the context document (spec page 2).

Models send only what changed. What the user wants is shared by all agents; what tools found
belongs to the agent that asked them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal, Self, TypeAlias

from pydantic import AwareDatetime, Field, model_validator

from data_models.entities import entity_queue
from data_models.entities.derived_entities import AgentScopedDerivedEntitiesManager
from data_models.entities.entity_values import IsRelative, Namespace, Offer, copied
from data_models.values import Part

Provenance: TypeAlias = Literal["inferred", "extracted", "user_stated"]
RECENTLY_EVICTED = 20
_RANK: Mapping[Provenance, int] = {"inferred": 0, "extracted": 1, "user_stated": 2}


class ConversationEntity(entity_queue.Entity):
    """One thing the user wants.

    Attributes:
        reference_time: When it was said, for values such as "tomorrow"; else None (E16).
    """

    source: Literal["conversation"] = "conversation"
    provenance: Provenance = "inferred"
    reference_time: AwareDatetime | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """How values of the user's are known (E16).

    Attributes:
        is_relative: Whether a value means something only with the time at which it was said.
        renewed: Filled with the keys that were left equal but mean another day now.
    """

    weakness: ClassVar[str] = "provenance"
    blanks_count: ClassVar[bool] = False

    provenance: Provenance = "inferred"
    is_relative: IsRelative = lambda _: False
    renewed: list[str] = field(default_factory=list)

    def is_weaker(self, held: ConversationEntity, _: datetime) -> bool:
        """Whether what is held is known better."""
        return _RANK[self.provenance] < _RANK[held.provenance]

    def first(self, key: str, offer: Offer, *, seq: int, now: datetime) -> ConversationEntity:
        """Return a wish that is new."""
        return ConversationEntity(
            key=key,
            value=copied(offer.value),
            seq=seq,
            inserted_at=now,
            updated_at=now,
            provenance=self.provenance,
            reference_time=now if self.is_relative(offer.value) else None,
        )

    def renew(self, held: ConversationEntity, offer: Offer, *, now: datetime) -> tuple[bool, bool]:
        """Let an equal value raise its provenance, and "tomorrow" mean the day after today."""
        if held.canonical != offer.canonical:
            held.take(offer, now=now)
            held.provenance = self.provenance
            held.reference_time = now if self.is_relative(offer.value) else None
            return True, True
        is_raised = _RANK[self.provenance] > _RANK[held.provenance]
        if is_raised:
            held.provenance = self.provenance
        said = held.reference_time
        is_later = said is not None and said.date() < now.date() and self.provenance != "inferred"
        if is_later:
            held.reference_time = held.updated_at = now
            self.renewed.append(held.key)
        return False, is_raised or is_later


class ConversationEntitiesManager(entity_queue.EntityQueues[ConversationEntity]):
    """The queue. A write is planned whole before anything changes."""

    NAMESPACE: ClassVar[Namespace] = "conversation"

    entities: dict[str, ConversationEntity] = Field(default_factory=dict)
    max_size: int = Field(default=entity_queue.MAX_ENTITIES, ge=1)
    recently_evicted: list[ConversationEntity] = Field(default_factory=list)

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
        said: Said | None = None,
        terms: entity_queue.Terms = entity_queue.ON_NO_TERMS,
    ) -> entity_queue.EntityReport:
        """Remove, then overwrite or append, then let the oldest go."""
        return self.write(self.entities, updates, said or Said(), terms, now=now, cap=self.max_size)

    def remember(self, evicted: Sequence[ConversationEntity]) -> None:
        """Note what left, so that it can be restored for a while (E25)."""
        self.recently_evicted = [*self.recently_evicted, *evicted][-RECENTLY_EVICTED:]

    def restore(
        self, key: str, *, now: datetime, pinned: Collection[str] = ()
    ) -> entity_queue.EntityReport:
        """Bring back what was evicted, as the newest; refused if it is gone or here again (E25)."""
        report = entity_queue.empty_report()
        found = next((one for one in reversed(self.recently_evicted) if one.key == key), None)
        if found is None or key in self.entities:
            report["rejected"][key] = "absent" if found is None else "present"
            return report
        offers = {key: Offer(found.value, found.canonical)}
        self.remember(
            entity_queue.let_go(
                self.entities, offers, pinned=pinned, cap=self.max_size, now=now, report=report
            )
        )
        if report["rejected"]:
            return report
        self.recently_evicted = [one for one in self.recently_evicted if one.key != key]
        found.seq = self.take_seq()
        self.entities[key] = found
        report["added"].append(key)
        self.touch(now)
        return report

    def evict(self, key: str) -> None:
        """Let `key` go; it can be restored for a while."""
        self.remember([self.entities.pop(key)])


ENTITIES_LIMIT_BYTES = 12_000


class Entities(Part):
    """Both managers.

    Attributes:
        last_delta: Name of the last delta after which something left, with the revisions it led
            to; so that the same delta changes nothing the second time (E20).
    """

    conversation: ConversationEntitiesManager = Field(default_factory=ConversationEntitiesManager)
    derived: AgentScopedDerivedEntitiesManager = Field(
        default_factory=AgentScopedDerivedEntitiesManager
    )
    last_delta: str = ""

    def queues(self) -> Iterator[tuple[str | None, Mapping[str, entity_queue.Entity]]]:
        """Yield each queue with its agent; what the user wants, which no agent owns, first."""
        yield None, self.conversation.entities
        yield from self.derived.agent_entities.items()
