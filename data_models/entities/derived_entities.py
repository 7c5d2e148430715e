"""What tools found: one queue for each agent, which no other agent sees."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from data_models.entities import entity_queue
from data_models.entities.entity_values import Namespace, Offer, copied

LLM_REASONING = "llm_reasoning"
UNKNOWN_OWNER = "unknown"
"""Where migrated results lie whose agent nobody knows; every agent reads them (E26)."""


class DerivedEntity(entity_queue.Entity):
    """One thing a tool found, or an agent concluded.

    Attributes:
        valid_for: Seconds after `updated_at` at which it expires; None for never.
        depends_on: Conversation keys whose change expires it.
        is_outdated: Set when one of them changed.
        handed_over_from: The agent that copied it here.
    """

    agent_name: str
    source_tool: str
    source_params: dict[str, Any] = Field(default_factory=dict)
    valid_for: float | None = None
    depends_on: list[str] = Field(default_factory=list)
    is_outdated: bool = False
    handed_over_from: str | None = None

    def is_expired(self, now: datetime) -> bool:
        if self.is_outdated:
            return True
        if self.valid_for is None:
            return False
        return (now - self.updated_at).total_seconds() >= self.valid_for


@dataclass(frozen=True, slots=True)
class Origin:
    """Where derived values come from, whose they are, and how long they hold (E13, E14)."""

    weakness: ClassVar[str] = "tool_value"

    tool: str = LLM_REASONING
    params: Mapping[str, Any] = field(default_factory=dict)
    valid_for: float | None = None
    depends_on: Sequence[str] = ()
    agent_name: str = ""

    @property
    def blanks_count(self) -> bool:
        """Whether a tool found them, rather than that a model concluded them."""
        return self.tool != LLM_REASONING

    def is_weaker(self, held: DerivedEntity, now: datetime) -> bool:
        """Whether a model would overwrite what a tool found and what still holds (E15)."""
        is_found = held.source_tool != LLM_REASONING and not held.is_expired(now)
        return is_found and not self.blanks_count

    def first(self, key: str, offer: Offer, *, seq: int, now: datetime) -> DerivedEntity:
        """Return a find that is new."""
        return DerivedEntity(
            key=key,
            value=copied(offer.value),
            seq=seq,
            inserted_at=now,
            updated_at=now,
            agent_name=self.agent_name,
            **self._kept(),
        )

    def renew(self, held: DerivedEntity, offer: Offer, *, now: datetime) -> tuple[bool, bool]:
        """Let `held` be what was found now (E14); a tool that found the same updates nothing."""
        is_equal, is_tool = held.canonical == offer.canonical, self.blanks_count
        if is_equal and not is_tool and not held.is_expired(now):
            return False, False
        kept = self._kept() | {"is_outdated": False, "handed_over_from": None}
        is_same = is_equal and held.updated_at == now and kept.items() <= held.__dict__.items()
        held.take(offer, now=now)
        held.__dict__.update(kept)
        return not (is_equal and is_tool), not is_same

    def _kept(self) -> dict[str, Any]:
        return {
            "source_tool": self.tool,
            "source_params": copied(dict(self.params)),
            "valid_for": self.valid_for,
            "depends_on": list(self.depends_on),
        }


class AgentScopedDerivedEntitiesManager(entity_queue.EntityQueues[DerivedEntity]):
    """The queues by agent."""

    NAMESPACE: ClassVar[Namespace] = "derived"

    agent_entities: dict[str, dict[str, DerivedEntity]] = Field(default_factory=dict)
    max_size_per_agent: int = Field(default=entity_queue.MAX_ENTITIES, ge=1)
    recently_evicted: list[Any] = Field(default_factory=list, exclude=True)
    """Of older documents: nothing could bring it back, and it is not stored again."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        rows = sorted(self.agent_entities.items())
        self.agent_entities = {agent: entity_queue.in_order(queue) for agent, queue in rows}
        return self

    def live_for_agent(self, agent_name: str, *, now: datetime) -> Iterator[DerivedEntity]:
        """Yield what `agent_name` may see: what has no known owner, then its own (E11, E26)."""
        own = self.agent_entities.get(agent_name, {})
        for one in self.agent_entities.get(UNKNOWN_OWNER, {}).values():
            if one.key not in own and not one.is_expired(now):
                yield one
        yield from (one for one in own.values() if not one.is_expired(now))

    def get_for_agent(self, agent_name: str, *, now: datetime) -> dict[str, Any]:
        """Return a copy of the values that `agent_name` may see, oldest first."""
        return {one.key: copied(one.value) for one in self.live_for_agent(agent_name, now=now)}

    def holds_live(self, key: str, *, now: datetime, unless: str | None = None) -> bool:
        """Tell whether any agent but `unless` has an unexpired value under `key`."""
        return any(
            key in queue and not queue[key].is_expired(now)
            for agent_name, queue in self.agent_entities.items()
            if agent_name != unless
        )

    def apply_delta(
        self,
        agent_name: str,
        updates: Mapping[str, Any],
        *,
        now: datetime,
        origin: Origin,
        terms: entity_queue.Terms = entity_queue.ON_NO_TERMS,
    ) -> entity_queue.EntityReport:
        """Remove, then overwrite or append in this agent's queue, then let the oldest go."""
        queue = self.agent_entities.setdefault(agent_name, {})
        own, cap = replace(origin, agent_name=agent_name), self.max_size_per_agent
        report = self.write(queue, updates, own, terms, now=now, cap=cap)
        if origin.blanks_count:
            ownerless = self.agent_entities.get(UNKNOWN_OWNER, {})
            for key in (*report["added"], *report["updated"], *report["unchanged"]):
                ownerless.pop(key, None)
        self._drop_empty()
        return report

    def clear_agent(self, agent_name: str, *, now: datetime) -> list[str]:
        """Drop everything of one agent and return the keys, oldest first."""
        if queue := self.agent_entities.pop(agent_name, {}):
            self.touch(now)
        return list(queue)

    def expire_dependents(self, keys: Collection[str], *, now: datetime) -> None:
        """Let what depends on one of `keys` be seen no more (E13)."""
        expired = [
            one
            for queue in self.agent_entities.values()
            for one in queue.values()
            if not one.is_outdated and not set(keys).isdisjoint(one.depends_on)
        ]
        for one in expired:
            one.is_outdated = True
        if expired:
            self.touch(now)

    def forget(self, key: str) -> None:
        """Drop what is left of `key`: it belongs to the conversation now (E10)."""
        for queue in self.agent_entities.values():
            queue.pop(key, None)
        self._drop_empty()

    def hand_over(
        self, source: str, target: str, keys: Sequence[str], *, now: datetime
    ) -> entity_queue.EntityReport:
        """Copy values of `source` to `target` as they are, age and origin included (E12)."""
        report = entity_queue.empty_report()
        mine = {one.key: one for one in self.live_for_agent(source, now=now)}
        report["rejected"] = {key: "absent" for key in keys if key not in mine}
        found = [mine[key] for key in dict.fromkeys(keys) if key in mine]
        queue = self.agent_entities.setdefault(target, {})
        offers = {one.key: Offer(one.value, one.canonical) for one in found}
        cap = self.max_size_per_agent
        entity_queue.let_go(queue, offers, pinned=(), cap=cap, now=now, report=report)
        for one in [one for one in found if one.key in offers]:
            held = queue.get(one.key)
            if held is not None and held.canonical == one.canonical:
                report["unchanged"].append(one.key)
                continue
            seq = self.take_seq() if held is None else held.seq
            # Age and origin included (E12).
            queue[one.key] = one.model_copy(
                update={
                    "value": copied(one.value),
                    "source_params": copied(one.source_params),
                    "depends_on": list(one.depends_on),
                    "agent_name": target,
                    "handed_over_from": one.agent_name,
                    "seq": seq,
                }
            )
            report["added" if held is None else "updated"].append(one.key)
        self._drop_empty()
        if report["added"] or report["updated"]:
            self.touch(now)
        return report

    def evict(self, agent_name: str, key: str) -> None:
        """Let `key` go."""
        del self.agent_entities[agent_name][key]
        self._drop_empty()

    def _drop_empty(self) -> None:
        for agent_name in [name for name, queue in self.agent_entities.items() if not queue]:
            del self.agent_entities[agent_name]
