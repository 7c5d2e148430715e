"""Figures and log lines of migrations; ids hashed, never a value."""

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram

from data_models.identifiers import hashed
from services.scenarios.migration.case import Outcome
from services.scenarios.migration.migration_config import MigrationConfig

# Figures of plans and deployments.

_PLAN_MS = (1, 5, 10, 25, 50, 100, 150, 250, 500, 1_000, 2_000, 5_000)


class PlanMeter:
    """Counts what operators do; one for each process."""

    def __init__(self, *, registry: CollectorRegistry) -> None:
        self._generated = Counter(
            "migration_plans_generated_total", "Plans made.", registry=registry
        )
        self.approved = Counter(
            "migration_plans_approved_total", "Plans approved.", registry=registry
        )
        self.marked = Counter(
            "migration_sessions_marked_total",
            "Sessions marked at deployments of this process.",
            registry=registry,
        )
        self._duration = Histogram(
            "migration_plan_generation_duration_ms",
            "Milliseconds to make and store a plan.",
            buckets=_PLAN_MS,
            registry=registry,
        )

    def count_plan(self, seconds: float) -> None:
        """Count a plan."""
        self._generated.inc()
        self._duration.observe(seconds * 1e3)


_MS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 1_000, 5_000)
_log = structlog.get_logger()


class MigrationMeter:
    """Counts what migrations do to sessions. One for each process; it gates no audit event."""

    def __init__(self, *, registry: CollectorRegistry, config: MigrationConfig) -> None:
        self._logged = {
            "clean_graft": config.logging.log_clean_grafts,
            "gap_fill": config.logging.log_gap_fills,
            "re_route": config.logging.log_re_routes,
        }
        # This one stands in two sections; either keeps blocks out of the log.
        sections = config.logging, config.checkpoints
        self._logs_blocks = all(section.log_checkpoint_blocks for section in sections)
        self._applied = Counter(
            "migration_applied_total", "Sessions that moved.", ["scenario"], registry=registry
        )
        self._filled = Counter(
            "migration_gap_fills_total", "Fields made up for.", ["source"], registry=registry
        )
        self._blocks = Counter(
            "migration_checkpoint_blocks_total",
            "Redirects that a completed checkpoint forbade.",
            registry=registry,
        )
        self._flagged = Counter(
            "migration_sessions_flagged_total", "Sessions for a person to see.", registry=registry
        )
        self._seconds = Histogram(
            "migration_application_duration_ms",
            "Milliseconds to bring a session to the active version, models and tools included.",
            buckets=_MS,
            registry=registry,
        )

    def count_outcome(self, outcome: Outcome, *, milliseconds: float) -> None:
        """Count one outcome that changed a session."""
        self._seconds.observe(milliseconds)
        result = outcome.result
        session = hashed(outcome.session.session_id)
        if result.needs_review:
            self._flagged.inc()
            _log.warning("migration_needs_review", session_id=session, reason=result.reason)
        if result.blocked_by_checkpoint:
            self._blocks.inc()
            if self._logs_blocks:
                _log.warning("migration_checkpoint_block", session_id=session)
        elif result.checkpoint_warning:
            _log.warning("migration_fork_not_applied", session_id=session)
        if not outcome.settled or result.scenario is None:
            return
        self._applied.labels(result.scenario).inc()
        for source in outcome.gap_sources.values():
            self._filled.labels(source).inc()
        if self._logged.get(result.scenario, True):
            _log.info("migration_applied", session_id=session, kind=result.scenario)
