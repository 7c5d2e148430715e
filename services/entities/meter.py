"""Figures and log lines of entity operations: keys, never values (spec page 2.6)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import structlog
from prometheus_client import CollectorRegistry

from data_models.entities.entity_values import CONVERSATION_KEYS, DERIVED_KEYS
from data_models.identifiers import hashed
from services.telemetry.metrics import Figures

EntityOperation: TypeAlias = Literal["merge_delta", "get_context", "store_derived", "evict_fifo"]
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
        self._figures = Figures(part="entities", registry=registry)

    def count(self, done: Done) -> None:
        """Count and log one operation."""
        labels = (self._agent(done.agent_name), done.operation)
        self._figures.observe("entity_merge_duration_seconds", done.seconds, *labels)
        what = "agent_switch" if done.operation == "get_context" else "entity_merge"
        outcome = "success" if done.error is None else "failure"
        self._figures.count(f"{what}_{outcome}_total", *labels)
        self._tell(done)
        if evicted := done.keys.get("evicted_keys"):
            gone = (labels[0], "evict_fifo")
            self._figures.count("entity_fifo_evictions_total", *gone, by=len(evicted))
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
        labels = (self._agent(agent_name), "get_context")
        for age in ages:
            self._figures.observe("entity_age_seconds", age, *labels)

    def count_parsed(self, agent_name: str, *, legacy: bool) -> None:
        """Count a reply that held a delta, or none."""
        labels = (self._agent(agent_name), "merge_delta")
        self._figures.count("delta_parse_total", *labels)
        if legacy:
            self._figures.count("delta_legacy_format_total", *labels)
            self._log.warning("entity_delta_legacy_form", agent=labels[0])

    def count_malformed(self, agent_name: str) -> None:
        """Count a reply that could not be read."""
        labels = (self._agent(agent_name), "merge_delta")
        self._figures.count("delta_parse_total", *labels)
        self._figures.count("delta_parse_errors_total", *labels)

    def count_migrated(self, agent_name: str, *, lost: float) -> None:
        """Note the share of entities that a migration lost."""
        labels = (self._agent(agent_name), "merge_delta")
        self._figures.gauge("entity_count_diff", *labels).set(lost)

    def stranger(self, operation: EntityOperation) -> None:
        """Count an agent that is not in the team."""
        self._figures.count("agent_name_validation_failures_total", "unknown", operation)

    def _agent(self, name: str) -> str:
        return name if name in self._agents else "unknown"


def _shown(keys: Sequence[str]) -> list[str]:
    """Return keys of the lists in clear, others hashed: a model may put anything into a key."""
    return [key if key in _KNOWN else hashed(key)[:12] for key in keys]
