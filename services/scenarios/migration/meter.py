"""Figures and log lines of migrations; ids hashed, never a value."""

import structlog
from prometheus_client import CollectorRegistry

from data_models.identifiers import hashed
from services.scenarios.migration.case import ReconciliationResult
from services.scenarios.migration.migration_config import MigrationConfig
from services.telemetry.metrics import Figures

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
        self._figures = Figures(part="migrations", registry=registry)

    def count_outcome(self, result: ReconciliationResult, *, milliseconds: float) -> None:
        """Count one outcome that changed a session."""
        self._figures.observe("migration_application_duration_ms", milliseconds)
        session = hashed(result.session.session_id)
        if result.needs_review:
            self._figures.count("migration_sessions_flagged_total")
            _log.warning("migration_needs_review", session_id=session, reason=result.reason)
        if result.blocked_by_checkpoint:
            self._figures.count("migration_checkpoint_blocks_total")
            if self._logs_blocks:
                _log.warning("migration_checkpoint_block", session_id=session)
        elif result.checkpoint_warning:
            _log.warning("migration_fork_not_applied", session_id=session)
        if not result.settled or result.scenario is None:
            return
        self._figures.count("migration_applied_total", result.scenario)
        for source in result.gap_sources.values():
            self._figures.count("migration_gap_fills_total", source)
        if self._logged.get(result.scenario, True):
            _log.info("migration_applied", session_id=session, kind=result.scenario)
