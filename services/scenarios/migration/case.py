"""One session before a new version: what is known for deciding about it, and what is decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from data_models.scenario_session import (
    Extracted,
    MigrationScenario,
    PatientProfile,
    ReconciliationAction,
    ScenarioSession,
)
from services.scenarios.migration.gaps import Gaps
from services.scenarios.migration.migration_config import MigrationConfig
from services.scenarios.migration.move import Move
from services.scenarios.migration.own_way import OwnWay


@dataclass(frozen=True)
class Case:
    """Values only; `services.scenarios.migration.reconciliation.reconcile` decides about them.

    Attributes:
        extracted: What extraction found in the user's own turns, now or when it was asked before.
    """

    session: ScenarioSession
    profile: PatientProfile
    move: Move
    extracted: Mapping[str, Extracted]
    config: MigrationConfig
    now: datetime

    @cached_property
    def way(self) -> OwnWay:
        """The new version as the session can still walk it."""
        return OwnWay(session=self.session, move=self.move)

    @cached_property
    def gaps(self) -> Gaps:
        """What the session may have to make up for."""
        return Gaps(session=self.session, move=self.move, way=self.way)


@dataclass(frozen=True, slots=True)
class ReconciliationResult:
    """What the turn does before it answers the user.

    Attributes:
        scenario: How the session migrates; None where it does not.
        collect_fields: To ask for, in order.
        confirm_fields: To ask whether the value that was understood is right.
        execute_actions: Steps whose tool runs now, each under its idempotency key.
        notify: Whether the user is told `user_message` although nothing is asked.
        needs_review: Whether the session is on the operator's list because of this.
    """

    action: ReconciliationAction = "continue"
    scenario: MigrationScenario | None = None
    target_step_id: str | None = None
    teleport_reason: str | None = None
    collect_fields: tuple[str, ...] = ()
    confirm_fields: tuple[str, ...] = ()
    execute_actions: tuple[str, ...] = ()
    user_message: str | None = None
    notify: bool = False
    blocked_by_checkpoint: bool = False
    checkpoint_warning: str | None = None
    needs_review: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result and the state that one conditional write stores with it (M11).

    Attributes:
        settled: Whether nothing more of this migration waits for the user.
        changed: Whether there is anything to write.
    """

    result: ReconciliationResult
    session: ScenarioSession
    settled: bool = True
    changed: bool = False
    gap_sources: dict[str, str] = field(default_factory=dict)
