"""What is counted and logged of a migration, and what an operator may keep out of the log."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from data_models.scenarios.scenario_session import MigrationScenario
from services.scenarios.migration.case import MigrationMeter, ReconciliationResult
from services.scenarios.scenario_settings import MigrationConfig
from tests.services.scenarios.worlds import Node, graph_of, session_at
from tests.tables import with_cases

SESSION = session_at(graph_of((Node("a", "a"),), 1), ["a"], [])
BLOCKED = ReconciliationResult(SESSION, scenario="re_route", blocked_by_checkpoint=True)


def logged(result: ReconciliationResult, **sections: Any) -> list[str]:
    meter = MigrationMeter(
        registry=CollectorRegistry(), config=MigrationConfig.model_validate(sections)
    )
    with capture_logs() as logs:
        meter.count_outcome(result, milliseconds=1.0)
    return [row["event"] for row in logs]


@pytest.mark.parametrize("section", ["logging", "checkpoints"])
def test_either_of_two_settings_keeps_blocks_out_of_the_log(section: str) -> None:
    assert "migration_checkpoint_block" in logged(BLOCKED)
    off = {section: {"log_checkpoint_blocks": False}}
    assert "migration_checkpoint_block" not in logged(BLOCKED, **off)


@with_cases("scenario", "setting", "usually")
def test_each_kind_is_logged_as_is_set(
    scenario: MigrationScenario, setting: str, usually: bool
) -> None:
    result = ReconciliationResult(SESSION, action="teleport", scenario=scenario)
    assert ("migration_applied" in logged(result)) is usually
    other = {"logging": {setting: not usually}}
    assert ("migration_applied" in logged(result, **other)) is not usually


def test_a_fork_that_was_not_applied_is_warned_of() -> None:
    warned = ReconciliationResult(
        SESSION, scenario="gap_fill", checkpoint_warning="re-routing is off"
    )
    assert "migration_fork_not_applied" in logged(warned)
