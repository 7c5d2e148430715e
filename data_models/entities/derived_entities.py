"""What tools found: one queue for each agent, which no other agent sees."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator

from data_models.entities import entity_queue
from data_models.entities.entity_queue import Entity
from data_models.entities.entity_values import Offer, copied

# One thing that a tool found, or that an agent concluded, and where it comes from.

LLM_REASONING = "llm_reasoning"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where derived values come from, and how long they hold (E13, E14)."""

    tool: str = LLM_REASONING
    params: Mapping[str, Any] = field(default_factory=dict)
    valid_for: float | None = None
    depends_on: Sequence[str] = ()

    @property
    def is_model(self) -> bool:
        """Whether a model concluded it, rather than a tool."""
        return self.tool == LLM_REASONING


class DerivedEntity(Entity):
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
        """Tell whether nobody may see it any more (E13)."""
        if self.is_outdated:
            return True
        if self.valid_for is None:
            return False
        return (now - self.updated_at).total_seconds() >= self.valid_for

    def extra_bytes(self) -> int:
        if not self.source_params and not self.depends_on:
            return 4 * len(self.agent_name + self.source_tool)
        texts = json.dumps([self.source_params, self.depends_on])
        return 4 * len(self.agent_name + self.source_tool + texts)

    def renew(self, origin: Origin) -> bool:
        """Take on where the value comes from now (E14); False if that is no news."""
        if (
            self.source_tool == origin.tool
            and self.valid_for == origin.valid_for
            and not self.is_outdated
            and self.handed_over_from is None
            and self.source_params == origin.params
            and self.depends_on == list(origin.depends_on)
        ):
            return False
        self.source_tool = origin.tool
        self.source_params = copied(dict(origin.params))
        self.valid_for = origin.valid_for
        self.depends_on = list(origin.depends_on)
        self.is_outdated = False
        self.handed_over_from = None
        return True

    def copy_for(self, agent_name: str, *, seq: int) -> Self:
        """Return a copy for another agent, age and origin included (E12)."""
        return self.model_copy(
            update={
                "value": copied(self.value),
                "source_params": copied(self.source_params),
                "depends_on": list(self.depends_on),
                "agent_name": agent_name,
                "handed_over_from": self.agent_name,
                "seq": seq,
            }
        )


UNKNOWN_OWNER = "unknown"
"""Where migrated results lie whose agent nobody knows; every agent reads them (E26)."""


class AgentScopedDerivedEntitiesManager(entity_queue.EntityQueues):
    """The queues by agent."""

    agent_entities: dict[str, dict[str, DerivedEntity]] = Field(default_factory=dict)
    max_size_per_agent: int = Field(default=entity_queue.MAX_ENTITIES, ge=1)
    recently_evicted: list[DerivedEntity] = Field(default_factory=list)

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
        is_taken: entity_queue.IsTaken = lambda _: False,
    ) -> entity_queue.EntityReport:
        """Remove, then overwrite or append in this agent's queue, then let the oldest go.

        Args:
            pinned: Keys that an open plan needs; they never leave.
            is_taken: Whether an unlisted key lives in the conversation.
        """
        report = entity_queue.empty_report()
        offers = entity_queue.sorted_offers(
            updates,
            namespace="derived",
            is_taken=is_taken,
            blanks_count=not origin.is_model,
            report=report,
        )
        write = _Write(agent_name, self.agent_entities.get(agent_name, {}), now, origin, report)
        for key in entity_queue.canonical_keys(remove):
            if write.queue.pop(key, None) is not None:
                report["removed"].append(key)
        _refuse_guesses(write, offers)
        self._make_room(write, offers, pinned)
        writes = [self._write(write, key, offer) for key, offer in offers.items()]
        self._keep(agent_name, write.queue)
        if any(writes) or report["removed"] or report["evicted"]:
            self.touch(now)
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
        for agent_name, queue in list(self.agent_entities.items()):
            queue.pop(key, None)
            self._keep(agent_name, queue)

    def hand_over(
        self, source: str, target: str, keys: Sequence[str], *, now: datetime
    ) -> entity_queue.EntityReport:
        """Copy values of `source` to `target` as they are, age and origin included (E12)."""
        report = entity_queue.empty_report()
        mine = {one.key: one for one in self.live_for_agent(source, now=now)}
        for key in keys:
            if key not in mine:
                report["rejected"][key] = "absent"
        found = [mine[key] for key in dict.fromkeys(keys) if key in mine]
        write = _Write(target, self.agent_entities.get(target, {}), now, Origin(), report)
        offers = {one.key: Offer(one.value, one.canonical) for one in found}
        self._make_room(write, offers)
        for one in found:
            if one.key in offers:
                self._receive(write, one)
        self._keep(target, write.queue)
        if report["added"] or report["updated"]:
            self.touch(now)
        return report

    def file(self, agent_name: str, key: str, value: Any, *, origin: Origin, now: datetime) -> bool:
        """Append a migrated value as it is, whatever the cap; False if the key is here already."""
        queue = self.agent_entities.setdefault(agent_name, {})
        if key in queue:
            return False
        write = _Write(agent_name, queue, now, origin, entity_queue.empty_report())
        self._append(write, key, Offer(value, ""))
        return True

    def evict(self, agent_name: str, key: str) -> DerivedEntity:
        """Let `key` go; it can be restored for a while."""
        queue = self.agent_entities[agent_name]
        gone = queue.pop(key)
        self.recently_evicted = entity_queue.remembered(self.recently_evicted, [gone])
        self._keep(agent_name, queue)
        return gone

    def _make_room(
        self, write: "_Write", offers: dict[str, Offer], pinned: Collection[str] = ()
    ) -> None:
        gone = entity_queue.let_go(
            write.queue,
            offers,
            pinned=pinned,
            cap=self.max_size_per_agent,
            report=write.report,
            is_expired=lambda one: one.is_expired(write.now),
        )
        self.recently_evicted = entity_queue.remembered(self.recently_evicted, gone)

    def _write(self, write: "_Write", key: str, offer: Offer) -> bool:
        origin, report = write.origin, write.report
        if not origin.is_model:
            ownerless = self.agent_entities.get(UNKNOWN_OWNER)
            if ownerless is not None and ownerless.pop(key, None) is not None:
                self._keep(UNKNOWN_OWNER, ownerless)
        if (held := write.queue.get(key)) is None:
            self._append(write, key, offer)
            report["added"].append(key)
            return True
        is_equal = held.canonical == offer.canonical
        if is_equal and origin.is_model and not held.is_expired(write.now):
            report["unchanged"].append(key)
            return False
        is_known = is_equal and not origin.is_model
        report["unchanged" if is_known else "updated"].append(key)
        is_older = held.updated_at != write.now
        held.take(offer, now=write.now)
        return held.renew(origin) or is_older or not is_equal

    def _append(self, write: "_Write", key: str, offer: Offer) -> None:
        one = DerivedEntity(
            key=key,
            value=copied(offer.value),
            seq=self.take_seq(),
            inserted_at=write.now,
            updated_at=write.now,
            agent_name=write.agent_name,
            source_tool=write.origin.tool,
        )
        one.renew(write.origin)
        write.queue[key] = one

    def _receive(self, write: "_Write", one: DerivedEntity) -> None:
        held = write.queue.get(one.key)
        if held is not None and held.canonical == one.canonical:
            write.report["unchanged"].append(one.key)
            return
        seq = self.take_seq() if held is None else held.seq
        write.queue[one.key] = one.copy_for(write.agent_name, seq=seq)
        write.report["added" if held is None else "updated"].append(one.key)

    def _keep(self, agent_name: str, queue: dict[str, DerivedEntity]) -> None:
        if queue:
            self.agent_entities[agent_name] = queue
        else:
            self.agent_entities.pop(agent_name, None)


@dataclass(frozen=True, slots=True)
class _Write:
    """A write to the queue of one agent, and what becomes of its keys."""

    agent_name: str
    queue: dict[str, DerivedEntity]
    now: datetime
    origin: Origin
    report: entity_queue.EntityReport


def _refuse_guesses(write: _Write, offers: dict[str, Offer]) -> None:
    """Keep a model from overwriting what a tool found and what still holds (E15)."""
    if not write.origin.is_model:
        return
    for key in [key for key in offers if key in write.queue]:
        held = write.queue[key]
        is_found = held.source_tool != LLM_REASONING and not held.is_expired(write.now)
        if is_found and held.canonical != offers[key].canonical:
            write.report["rejected"][key] = "tool_value"
            del offers[key]
