"""One session before a new version: what is known for deciding about it, and what is decided."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from functools import cached_property

from data_models.scenarios import scenario_session
from services.scenarios.migration.migration_config import MigrationConfig
from services.scenarios.migration.own_way import OwnWay
from services.scenarios.migration.plans.move import Move


class Gaps:
    """Finds the gaps of one session in one move.

    Attributes:
        visited: New ids of the steps that the session was in or was led past before.
    """

    def __init__(
        self, *, session: scenario_session.ScenarioSession, move: Move, way: OwnWay
    ) -> None:
        self._move, self._way = move, way
        self.visited = frozenset(move.image[step] for step in session.path if step in move.image)
        self._ran = frozenset(map(move.image_of, session.executed))

    def work_at(self, landing: str, known: Container[str]) -> dict[str, frozenset[str]]:
        """Return what skipping each step leaves to be made up for, if anything."""
        found = {}
        for step in self._move.new.steps:
            if items := self.work([step], landing, known):
                found[step] = frozenset(item.field or f"{item.step_id}()" for item in items)
        return found

    def work(
        self, steps: Sequence[str], landing: str, known: Container[str]
    ) -> list[scenario_session.WorkItem]:
        """Return what is to be done for `steps` of a route, in their order, each thing once."""
        needed = self._way.fields_read_from(landing)
        asked: set[str] = set()
        items: list[scenario_session.WorkItem] = []
        for step in dict.fromkeys(steps):
            if step == landing:
                continue
            required = self._move.new.steps[step].is_required_action
            if required and step not in self.visited and step not in self._ran:
                items.append(scenario_session.WorkItem(step_id=step, kind="action"))
            for name in self._fields(step):
                if name in needed and name not in known and name not in asked:
                    asked.add(name)
                    items.append(scenario_session.WorkItem(step_id=step, kind="field", field=name))
        return items

    def _fields(self, step: str) -> Iterator[str]:
        """All fields of a step that was skipped; of one that was visited, those added since."""
        collected: frozenset[str] = frozenset()
        if step in self.visited and step in self._move.preimage:
            former = self._move.old.steps[self._move.preimage[step]]
            collected = frozenset(former.collects_profile_fields)
        for name in self._move.new.steps[step].collects_profile_fields:
            if name not in collected:
                yield name


@dataclass(frozen=True)
class Case:
    """Values only; `services.scenarios.migration.reconciliation.reconcile` decides about them.

    Attributes:
        extracted: What extraction found in the user's own turns, now or when it was asked before.
    """

    session: scenario_session.ScenarioSession
    profile: scenario_session.PatientProfile
    move: Move
    config: MigrationConfig
    now: datetime
    extracted: Mapping[str, scenario_session.Extracted] = field(default_factory=dict)

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
    """What the turn does before it answers, and the state that one conditional write stores (M11).

    Attributes:
        scenario: How the session migrates; None where it does not.
        collect_fields: To ask for, in order.
        confirm_fields: To ask whether the value that was understood is right.
        execute_actions: Steps whose tool runs now, each under its idempotency key.
        notify: Whether the user is told `user_message` although nothing is asked.
        needs_review: Whether the session is on the operator's list because of this.
        settled: Whether nothing more of this migration waits for the user.
        changed: Whether there is anything to write.
    """

    session: scenario_session.ScenarioSession
    reason: str = ""
    _: KW_ONLY
    action: scenario_session.ReconciliationAction = "continue"
    scenario: scenario_session.MigrationScenario | None = None
    collect_fields: tuple[str, ...] = ()
    confirm_fields: tuple[str, ...] = ()
    execute_actions: tuple[str, ...] = ()
    user_message: str | None = None
    notify: bool = False
    blocked_by_checkpoint: bool = False
    checkpoint_warning: str | None = None
    needs_review: bool = False
    settled: bool = True
    changed: bool = False
    gap_sources: dict[str, str] = field(default_factory=dict)
