"""Figures and log lines of entity operations: keys, never values (spec page 2.6)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import structlog
from prometheus_client import CollectorRegistry

from data_models.clock import Clock
from data_models.entities.entity_values import CONVERSATION_KEYS, DERIVED_KEYS
from data_models.errors import ToolInputError, UnknownAgentError
from data_models.identifiers import hashed
from services.telemetry.metrics import Figures

EntityOperation: TypeAlias = Literal["merge_delta", "get_context", "store_derived", "evict_fifo"]
_KNOWN = CONVERSATION_KEYS | DERIVED_KEYS


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

    @contextmanager
    def measuring(
        self,
        operation: EntityOperation,
        agent_name: str,
        *,
        session_id: str,
        clock: Clock,
        delta_size: int = 0,
    ) -> Iterator[dict[str, Sequence[str]]]:
        """Count and log an operation with the keys that it notes, by kind such as `added_keys`.

        One that notes none and does not fail has done nothing, and is not counted.
        """
        began, code, keys = clock.monotonic(), None, dict[str, Sequence[str]]()
        try:
            yield keys
        except ToolInputError as error:
            if isinstance(error, UnknownAgentError):
                self.stranger(operation)
            code = error.code
            raise
        finally:
            if keys or code is not None:
                seconds, agent = clock.monotonic() - began, self._agent(agent_name)
                self._figures.observe("entity_merge_duration_seconds", seconds, agent, operation)
                what = "agent_switch" if operation == "get_context" else "entity_merge"
                outcome = "success" if code is None else "failure"
                self._figures.count(f"{what}_{outcome}_total", agent, operation)
                log = self._log.bind(
                    session_id=hashed(session_id),
                    agent_name=agent,
                    duration_ms=round(seconds * 1_000, 3),
                    success=code is None,
                    error=code,
                )
                _tell(log, operation, delta_size, keys)
                self._count_evicted(log, agent, keys.get("evicted_keys", ()))

    def _count_evicted(self, log: Any, agent: str, evicted: Sequence[str]) -> None:
        if evicted:
            by = len(evicted)
            self._figures.count("entity_fifo_evictions_total", agent, "evict_fifo", by=by)
            _tell(log, "evict_fifo", by, {"evicted_keys": evicted})

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


def _tell(
    log: Any, operation: EntityOperation, delta_size: int, keys: Mapping[str, Sequence[str]]
) -> None:
    """Log keys of the lists in clear, others hashed: a model may put anything into a key."""
    shown = {
        kind: [key if key in _KNOWN else hashed(key)[:12] for key in found]
        for kind, found in keys.items()
    }
    details = {"delta_size": delta_size, **shown}
    log.info("entity_operation", operation=operation, operation_details=details)
