"""What tools found: one queue for each agent, which no other agent sees."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator

from data_models.derived_entity import LLM_REASONING, DerivedEntity, Origin
from data_models.entity_queue import (
    MAX_ENTITIES,
    EntityQueues,
    EntityReport,
    IsTaken,
    canonical_keys,
    empty_report,
    in_order,
    let_go,
    remembered,
    sorted_offers,
)
from data_models.entity_values import Offer, copied

UNKNOWN_OWNER = "unknown"
"""Where migrated results lie whose agent nobody knows; every agent reads them (E26)."""


class AgentScopedDerivedEntitiesManager(EntityQueues):
    """The queues by agent."""

    agent_entities: dict[str, dict[str, DerivedEntity]] = Field(default_factory=dict)
    max_size_per_agent: int = Field(default=MAX_ENTITIES, ge=1)
    recently_evicted: list[DerivedEntity] = Field(default_factory=list)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        rows = sorted(self.agent_entities.items())
        self.agent_entities = {agent: in_order(queue) for agent, queue in rows}
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

    def live_keys(self, *, now: datetime) -> frozenset[str]:
        """Return the keys under which any agent has an unexpired value."""
        queues = self.agent_entities.values()
        return frozenset(
            one.key for queue in queues for one in queue.values() if not one.is_expired(now)
        )

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
        remove: Sequence[str] = (),
        pinned: Collection[str] = (),
        is_taken: IsTaken = lambda _: False,
    ) -> EntityReport:
        """Remove, then overwrite or append in this agent's queue, then let the oldest go.

        Args:
            pinned: Keys that an open plan needs; they never leave.
            is_taken: Whether an unlisted key lives in the conversation.
        """
        report = empty_report()
        offers = sorted_offers(
            updates,
            namespace="derived",
            is_taken=is_taken,
            blanks_count=not origin.is_model,
            report=report,
        )
        queue = self.agent_entities.get(agent_name, {})
        for key in canonical_keys(remove):
            if queue.pop(key, None) is not None:
                report["removed"].append(key)
        self._refuse_guesses(queue, offers, origin, now, report)
        self._make_room(queue, offers, pinned, now, report)
        writes = [
            self._write(queue, agent_name, key, offer, origin, now, report)
            for key, offer in offers.items()
        ]
        self._keep(agent_name, queue)
        if any(writes) or report["removed"] or report["evicted"]:
            self.touch(now)
        return report

    def clear_agent(self, agent_name: str, *, now: datetime) -> list[str]:
        """Drop everything of one agent and return the keys, oldest first."""
        queue = self.agent_entities.pop(agent_name, {})
        if queue:
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
        for agent_name, queue in list(self.agent_entities.items()):
            queue.pop(key, None)
            self._keep(agent_name, queue)

    def hand_over(
        self, source: str, target: str, keys: Sequence[str], *, now: datetime
    ) -> EntityReport:
        """Copy values of `source` to `target` as they are, age and origin included (E12)."""
        report = empty_report()
        mine = {one.key: one for one in self.live_for_agent(source, now=now)}
        for key in keys:
            if key not in mine:
                report["rejected"][key] = "absent"
        found = [mine[key] for key in dict.fromkeys(keys) if key in mine]
        queue = self.agent_entities.get(target, {})
        offers = {one.key: Offer(one.value, one.canonical) for one in found}
        self._make_room(queue, offers, (), now, report)
        for one in found:
            if one.key in offers:
                self._receive(queue, one, target, report)
        self._keep(target, queue)
        if report["added"] or report["updated"]:
            self.touch(now)
        return report

    def file(self, agent_name: str, key: str, value: Any, *, origin: Origin, now: datetime) -> bool:
        """Append a migrated value as it is, whatever the cap; False if the key is here already."""
        queue = self.agent_entities.setdefault(agent_name, {})
        if key in queue:
            return False
        self._append(queue, agent_name, key, Offer(value, ""), origin, now)
        return True

    def evict(self, agent_name: str, key: str) -> DerivedEntity:
        """Let `key` go; it can be restored for a while."""
        queue = self.agent_entities[agent_name]
        gone = queue.pop(key)
        self.recently_evicted = remembered(self.recently_evicted, [gone])
        self._keep(agent_name, queue)
        return gone

    def _refuse_guesses(
        self,
        queue: Mapping[str, DerivedEntity],
        offers: dict[str, Offer],
        origin: Origin,
        now: datetime,
        report: EntityReport,
    ) -> None:
        """Keep a model from overwriting what a tool found and what still holds (E15)."""
        if not origin.is_model:
            return
        for key in [key for key in offers if key in queue]:
            held = queue[key]
            is_found = held.source_tool != LLM_REASONING and not held.is_expired(now)
            if is_found and held.canonical != offers[key].canonical:
                report["rejected"][key] = "tool_value"
                del offers[key]

    def _make_room(
        self,
        queue: dict[str, DerivedEntity],
        offers: dict[str, Offer],
        pinned: Collection[str],
        now: datetime,
        report: EntityReport,
    ) -> None:
        gone = let_go(
            queue,
            offers,
            pinned=pinned,
            cap=self.max_size_per_agent,
            report=report,
            is_expired=lambda one: one.is_expired(now),
        )
        self.recently_evicted = remembered(self.recently_evicted, gone)

    def _write(
        self,
        queue: dict[str, DerivedEntity],
        agent_name: str,
        key: str,
        offer: Offer,
        origin: Origin,
        now: datetime,
        report: EntityReport,
    ) -> bool:
        if not origin.is_model:
            self._drop_ownerless(key)
        held = queue.get(key)
        if held is None:
            self._append(queue, agent_name, key, offer, origin, now)
            report["added"].append(key)
            return True
        is_equal = held.canonical == offer.canonical
        if is_equal and origin.is_model and not held.is_expired(now):
            report["unchanged"].append(key)
            return False
        is_known = is_equal and not origin.is_model
        report["unchanged" if is_known else "updated"].append(key)
        is_older = held.updated_at != now
        held.take(offer, now=now)
        return held.renew(origin) or is_older or not is_equal

    def _append(
        self,
        queue: dict[str, DerivedEntity],
        agent_name: str,
        key: str,
        offer: Offer,
        origin: Origin,
        now: datetime,
    ) -> None:
        one = DerivedEntity(
            key=key,
            value=copied(offer.value),
            seq=self.take_seq(),
            inserted_at=now,
            updated_at=now,
            agent_name=agent_name,
            source_tool=origin.tool,
        )
        one.renew(origin)
        queue[key] = one

    def _receive(
        self,
        queue: dict[str, DerivedEntity],
        one: DerivedEntity,
        target: str,
        report: EntityReport,
    ) -> None:
        held = queue.get(one.key)
        if held is not None and held.canonical == one.canonical:
            report["unchanged"].append(one.key)
            return
        seq = self.take_seq() if held is None else held.seq
        queue[one.key] = one.copy_for(target, seq=seq)
        report["added" if held is None else "updated"].append(one.key)

    def _drop_ownerless(self, key: str) -> None:
        ownerless = self.agent_entities.get(UNKNOWN_OWNER)
        if ownerless is not None and ownerless.pop(key, None) is not None:
            self._keep(UNKNOWN_OWNER, ownerless)

    def _keep(self, agent_name: str, queue: dict[str, DerivedEntity]) -> None:
        if queue:
            self.agent_entities[agent_name] = queue
        else:
            self.agent_entities.pop(agent_name, None)
