"""One session before a new version: what is known for deciding about it, and what is decided."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TypeAlias

import structlog
from prometheus_client import CollectorRegistry

from data_models.identifiers import hashed
from data_models.scenarios import scenario_session
from services.scenarios.definition.graph import Graph, Reach, reachable
from services.scenarios.migration.plans.move import Move
from services.scenarios.scenario_settings import MigrationConfig
from services.scenarios.session.facts import Fact, Facts
from services.telemetry.metrics import Figures

_Edge: TypeAlias = tuple[str, str]


# The new version as one session can still walk it (M9, M10). A loop that lies ahead must decide
# nothing behind it: edges that lead from the session's step, or from what lies ahead of it, back
# into its own path are no way to where it stands.


class OwnWay:
    """Answers for one session in one move; every search is made once.

    Attributes:
        path: The old ids of the steps that led the session to where it is, without the loops it
            went; its current one last.
    """

    def __init__(self, *, session: scenario_session.ScenarioSession, move: Move) -> None:
        self._move = move
        path = [step for step in session.path if step in move.old.steps]
        if session.step is not None and (not path or path[-1] != session.step):
            path.append(session.step)
        self.path = path = _without_loops(path)
        self._visited = frozenset(move.image[step] for step in path if step in move.image)

    def reached_from(self, step: str) -> frozenset[str]:
        """Every new step that can follow `step` on the session's own way, itself included."""
        return self._reach.of(step)

    def leads_back(self, step: str, target: str) -> bool:
        """Whether the new edge leads from ahead of the session back into its path."""
        return (step, target) in self._returning

    def is_after(self, step: str, earlier: str) -> bool:
        """Whether the new `step` lies strictly after `earlier`, loops of both versions cut open."""
        return self._reach_in_both.is_after(step, earlier)

    def comes_again(self, step: str, landing: str) -> bool:
        """Whether the new `step` lies ahead of one who goes on from `landing`."""
        return step != landing and step in self._reach_in_both.of(landing)

    def is_after_in_old(self, step: str, earlier: str) -> bool:
        """Whether the old `step` lies strictly after `earlier` on what the session had ahead."""
        return self._reach_in_old.is_after(step, earlier)

    def fields_read_from(self, landing: str) -> frozenset[str]:
        """The fields that `landing` or what follows it uses, before a loop leads back."""
        new = self._move.new
        if not self._returning:
            return new.fields_read_from(landing)
        return frozenset().union(*map(new.fields_read_at, self.reached_from(landing)))

    @cached_property
    def _reach(self) -> Reach:
        return _reach(self._move.new, self._returning)

    @cached_property
    def _reach_in_both(self) -> Reach:
        return _reach(self._move.new, self._returning_in_both)

    @cached_property
    def _reach_in_old(self) -> Reach:
        return _reach(self._move.old, self._returning_in_old)

    @cached_property
    def _ahead_in_old(self) -> frozenset[str]:
        """The session's old step and all that it reaches without entering its path again."""
        current, old = self.path[-1], self._move.old
        on_path = frozenset(self.path)
        return reachable(
            [current], lambda step: (s for s in old.successors[step] if s not in on_path)
        )

    @cached_property
    def _returning(self) -> frozenset[_Edge]:
        """The new edges that lead back from the session's step or from ahead of it."""
        new = self._move.new
        sources = {self._move.image[s] for s in self._ahead_in_old if s in self._move.image}
        if not sources or not self._visited:
            return frozenset()
        # A step that is new and met only behind those lies ahead, too.
        met = reachable([new.entry], lambda s: () if s in sources else new.successors[s])
        sources |= new.steps.keys() - met - {*self._move.image.values()}
        return frozenset(
            (step, target)
            for step in sources
            for target in new.successors[step]
            if target in self._visited
        )

    @cached_property
    def _returning_in_both(self) -> frozenset[_Edge]:
        """Those of them that the old version has too; a new loop may do things twice."""
        former = self._move.preimage
        return frozenset(
            (step, target)
            for step, target in self._returning
            if step in former and former[target] in self._move.old.successors[former[step]]
        )

    @cached_property
    def _returning_in_old(self) -> frozenset[_Edge]:
        on_path = frozenset(self.path)
        return frozenset(
            (step, target)
            for step in self._ahead_in_old
            for target in self._move.old.successors[step]
            if target in on_path
        )


def _without_loops(path: list[str]) -> list[str]:
    """Return the path as if each loop had not been gone: what lay in it lies ahead again."""
    direct: list[str] = []
    for step in path:
        if step in direct:
            del direct[direct.index(step) :]
        direct.append(step)
    return direct


def _reach(graph: Graph, cut: frozenset[_Edge]) -> Reach:
    """Return what follows what without the edges of `cut`."""
    if not cut:
        return graph.reach
    return Reach(ways=lambda step: (to for to in graph.successors[step] if (step, to) not in cut))


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


_log = structlog.get_logger()


# Figures and log lines of migrations; ids hashed, never a value.


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


def with_action_done(
    session: scenario_session.ScenarioSession, step: str, version: int, now: datetime
) -> scenario_session.ScenarioSession:
    """Return the session with the required action of `step` of `version` on record, once."""
    key = idempotency_key(session, version, step)
    if any(done.idempotency_key == key for done in session.executed):
        return session
    progress = session.progress
    if progress is not None and progress.running == step:
        progress = progress.model_copy(update={"running": None})
    done = scenario_session.ExecutedAction(idempotency_key=key, step_id=step, version=version)
    return session.model_copy(
        update={"executed": [*session.executed, done], "progress": progress, "updated_at": now}
    )


def idempotency_key(session: scenario_session.ScenarioSession, version: int, step: str) -> str:
    """Return the key under which a required action runs at most once."""
    return hashed(session.session_id, f"{session.version}>{version}", step)


def used_facts(steps: Sequence[str], move: Move, facts: Facts) -> dict[str, Fact]:
    """Return the facts that stand for what `steps` would have asked or decided by."""
    names: dict[str, None] = {}
    for step in steps:
        collected = move.new.steps[step].collects_profile_fields
        names.update(dict.fromkeys((*collected, *move.new.fields_decided_by(step))))
    return {name: facts.sure[name] for name in names if name in facts.sure}
