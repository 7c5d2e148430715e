"""What operators are shown of scenarios."""

from collections.abc import Sequence

from data_models.values import Value
from services.scenarios.migration.migration_plan import MigrationPlan
from services.scenarios.migration.ports import Tally
from services.scenarios.migration.scenario_store import DeploymentRecord


class VersionCounts(Value):
    """The sessions of one version as the index knows them."""

    version: int
    sessions: int = 0
    marked: int = 0
    pinned: int = 0
    flagged: int = 0


class ScenarioCard(Value):
    """One row of the list.

    Attributes:
        versions: Stored ones, deployed or not.
    """

    scenario_id: str
    name: str
    versions: tuple[int, ...]
    active: int | None
    plan_status: str | None
    deployment_state: str | None


class ScenarioOverview(Value):
    """Where one scenario stands."""

    scenario_id: str
    name: str
    versions: tuple[int, ...]
    deployed: tuple[int, ...]
    active: int | None
    share_percent: int
    withdrawn: str
    plan: MigrationPlan | None
    deployment: DeploymentRecord | None
    counts: tuple[VersionCounts, ...]


def counted(tallies: Sequence[Tally]) -> tuple[VersionCounts, ...]:
    """Sum the index's tallies by version."""
    found: dict[int, dict[str, int]] = {}
    for tally in tallies:
        sums = found.setdefault(tally.version, {})
        marked = tally.number if tally.mark > tally.version else 0
        flagged = tally.number if tally.review else 0
        pinned = tally.number if tally.pinned else 0
        more = {"sessions": tally.number, "marked": marked, "flagged": flagged, "pinned": pinned}
        for name, number in more.items():
            sums[name] = sums.get(name, 0) + number
    return tuple(VersionCounts(version=version, **found[version]) for version in sorted(found))
