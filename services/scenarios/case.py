"""One session before a new version, with everything that is known for deciding about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from data_models.scenario_session import Extracted, PatientProfile, ScenarioSession
from services.scenarios.migration_config import MigrationConfig
from services.scenarios.move import Move


@dataclass(frozen=True, slots=True)
class Case:
    """Values only; `services.scenarios.reconciliation.reconcile` decides about them.

    Attributes:
        extracted: What extraction found in the user's own turns, now or when it was asked before.
    """

    session: ScenarioSession
    profile: PatientProfile
    move: Move
    extracted: Mapping[str, Extracted]
    config: MigrationConfig
    now: datetime
