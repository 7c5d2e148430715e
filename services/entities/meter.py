"""Figures and log lines of entity operations: keys, never values (spec page 2.6)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from data_models.entities.entity_keys import CONVERSATION_KEYS, DERIVED_KEYS
from data_models.identifiers import hashed

EntityOperation: TypeAlias = Literal["merge_delta", "get_context", "store_derived", "evict_fifo"]
_SECONDS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.5)
_AGES = (10, 60, 300, 900, 3_600, 14_400, 86_400, 604_800)
_KNOWN = CONVERSATION_KEYS | DERIVED_KEYS


@dataclass(frozen=True, slots=True)
class Done:
    """One operation that is over.

    Attributes:
        error: Code of what went wrong; None for success.
        keys: By kind, such as `added_keys`.
    """

    session_id: str
    agent_name: str
    operation: EntityOperation
    seconds: float
    delta_size: int = 0
    keys: dict[str, Sequence[str]] = field(default_factory=dict)
    error: str | None = None


class EntityMeter:
    """Counts and logs. One for each process.

    Args:
        registry: Where the figures are collected.
        agents: The team; other names are counted as `unknown`, so that labels stay few.
    """

    def __init__(self, *, registry: CollectorRegistry, agents: Sequence[str]) -> None:
        self._agents = frozenset(agents)
        self._log = structlog.get_logger()
        labels = ["agent", "operation"]

        def counter(name: str, text: str) -> Counter:
            return Counter(name, text, labels, registry=registry)

        self._merged = counter("entity_merge_success_total", "Writes that were applied.")
        self._refused = counter("entity_merge_failure_total", "Writes that were refused.")
        self._evicted = counter("entity_fifo_evictions_total", "Entities that left a full queue.")
        self._switched = counter("agent_switch_success_total", "Agents that were shown theirs.")
        self._not_switched = counter("agent_switch_failure_total", "Agents that could not be.")
        self._parsed = counter("delta_parse_total", "Replies that were read for a delta.")
        self._malformed = counter("delta_parse_errors_total", "Replies that were malformed.")
        self._legacy = counter("delta_legacy_format_total", "Replies in the complete-state form.")
        self._strangers = counter(
            "agent_name_validation_failures_total", "Agents that are not in the team."
        )
        self._difference = Gauge(
            "entity_count_diff", "Share of entities lost by a migration.", labels, registry=registry
        )
        self._seconds = Histogram(
            "entity_merge_duration_seconds", "Length of entity operations.", labels,
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._age = Histogram(
            "entity_age_seconds", "Age of entities when they are shown.", labels,
            buckets=_AGES, registry=registry,
        )  # fmt: skip

    def count(self, done: Done) -> None:
        """Count and log one operation."""
        labels = (self._agent(done.agent_name), done.operation)
        self._seconds.labels(*labels).observe(done.seconds)
        self._count(done, labels)
        self._tell(done)
        if evicted := done.keys.get("evicted_keys"):
            self._evicted.labels(labels[0], "evict_fifo").inc(len(evicted))
            keys = {"evicted_keys": evicted}
            self._tell(replace(done, operation="evict_fifo", delta_size=len(evicted), keys=keys))

    def _tell(self, done: Done) -> None:
        self._log.info(
            "entity_operation",
            session_id=hashed(done.session_id),
            agent_name=self._agent(done.agent_name),
            operation=done.operation,
            operation_details={
                "delta_size": done.delta_size,
                **{kind: _shown(keys) for kind, keys in done.keys.items()},
            },
            duration_ms=round(done.seconds * 1_000, 3),
            success=done.error is None,
            error=done.error,
        )

    def shown(self, agent_name: str, ages: Sequence[float]) -> None:
        """Count the ages of what an agent was shown."""
        figure = self._age.labels(self._agent(agent_name), "get_context")
        for age in ages:
            figure.observe(age)

    def count_parsed(self, agent_name: str, *, legacy: bool) -> None:
        """Count a reply that held a delta, or none."""
        labels = (self._agent(agent_name), "merge_delta")
        self._parsed.labels(*labels).inc()
        if legacy:
            self._legacy.labels(*labels).inc()
            self._log.warning("entity_delta_legacy_form", agent=labels[0])

    def count_malformed(self, agent_name: str) -> None:
        """Count a reply that could not be read."""
        labels = (self._agent(agent_name), "merge_delta")
        self._parsed.labels(*labels).inc()
        self._malformed.labels(*labels).inc()

    def count_migrated(self, agent_name: str, *, lost: float) -> None:
        """Note the share of entities that a migration lost."""
        self._difference.labels(self._agent(agent_name), "merge_delta").set(lost)

    def stranger(self, operation: EntityOperation) -> None:
        """Count an agent that is not in the team."""
        self._strangers.labels("unknown", operation).inc()

    def _count(self, done: Done, labels: tuple[str, str]) -> None:
        failed = done.error is not None
        if done.operation == "get_context":
            (self._not_switched if failed else self._switched).labels(*labels).inc()
        else:
            (self._refused if failed else self._merged).labels(*labels).inc()

    def _agent(self, name: str) -> str:
        return name if name in self._agents else "unknown"


def _shown(keys: Sequence[str]) -> list[str]:
    """Return keys of the lists in clear, others hashed: a model may put anything into a key."""
    return [key if key in _KNOWN else hashed(key)[:12] for key in keys]
