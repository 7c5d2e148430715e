"""What every write to entities is told, and what it answers."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict

from data_models.entity_report import EntityReport
from services.entities.team import AgentNames


class MergeReport(TypedDict):
    """What became of each key, by namespace."""

    conversation: EntityReport
    derived: EntityReport


@dataclass(frozen=True, slots=True)
class Writing:
    """The circumstances of a write, which the server knows and no model says.

    Attributes:
        team: The agents that exist.
        pinned: Keys that the open plan or scenario step needs; they never leave.
        expected_revision: Revision at which the writer read; None if it did not look.
    """

    now: datetime
    team: AgentNames
    pinned: Collection[str] = field(default_factory=frozenset)
    expected_revision: int | None = None
