"""Decides what a new version means for one session (M6), without reading or writing anything."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import structlog

from data_models.clock import Clock
from data_models.errors import ScenarioInputError
from data_models.identifiers import hashed
from data_models.scenario_session import (
    Extracted,
    MigrationScenario,
    PatientProfile,
    ReviewFlag,
    ScenarioSession,
    WorkItem,
)
from services.scenarios.migration import landing, waiting
from services.scenarios.migration.case import Case, Outcome, ReconciliationResult
from services.scenarios.migration.catalogue import Catalogue
from services.scenarios.migration.landing import Landing
from services.scenarios.migration.migration_config import MigrationConfig
from services.scenarios.migration.migration_plan import AnchorMigrationPolicy
from services.scenarios.migration.move import Move
from services.scenarios.migration.own_way import OwnWay, way_of
from services.scenarios.migration.relocation import ahead_again, forbidding_redirect, relocate
from services.scenarios.migration.route import Arrived, Diverted, Route, RouteFinder, Undecided
from services.scenarios.migration.session_scope import is_in_scope
from services.scenarios.session.facts import Facts, gather_facts

# What a session must make up for before it lands (M8).


@dataclass(frozen=True, slots=True)
class Gaps:
    """Finds the gaps of one session in one move.

    Attributes:
        visited: New ids of the steps that the session was in or was led past before.
        ran: New ids of the steps whose required action a migration ran already.
    """

    move: Move
    way: OwnWay
    visited: frozenset[str]
    ran: frozenset[str]

    def work_at(self, landing: str, known: Container[str]) -> dict[str, frozenset[str]]:
        """Return what skipping each step leaves to be made up for, if anything."""
        found = {}
        for step in self.move.new.steps:
            items = self.work([step], landing, known)
            if items:
                found[step] = frozenset(item.field or f"{item.step_id}()" for item in items)
        return found

    def work(self, steps: Sequence[str], landing: str, known: Container[str]) -> list[WorkItem]:
        """Return what is to be done for `steps` of a route, in their order, each thing once."""
        needed = self.way.fields_read_from(landing)
        asked: set[str] = set()
        items: list[WorkItem] = []
        for step in dict.fromkeys(steps):
            if step == landing:
                continue
            if self._must_run(step):
                items.append(WorkItem(step_id=step, kind="action"))
            for name in self._fields(step):
                if name in needed and name not in known and name not in asked:
                    asked.add(name)
                    items.append(WorkItem(step_id=step, kind="field", field=name))
        return items

    def _must_run(self, step: str) -> bool:
        required = self.move.new.steps[step].is_required_action
        return required and step not in self.visited and step not in self.ran

    def _fields(self, step: str) -> Iterator[str]:
        """All fields of a step that was skipped; of one that was visited, those added since."""
        collected: frozenset[str] = frozenset()
        if step in self.visited and step in self.move.preimage:
            former = self.move.old.steps[self.move.preimage[step]]
            collected = frozenset(former.collects_profile_fields)
        for name in self.move.new.steps[step].collects_profile_fields:
            if name not in collected:
                yield name


def gaps_of(session: ScenarioSession, move: Move) -> Gaps:
    """Return the gaps of `session`."""
    visited = frozenset(move.image[step] for step in session.path if step in move.image)
    ran = {
        (move.image if done.version == move.old.version else move.images_of(done.version)).get(
            done.step_id
        )
        if done.version != move.new.version
        else done.step_id
        for done in session.executed
    }
    return Gaps(
        move, way_of(session, move), visited, frozenset(step for step in ran if step is not None)
    )


_log = structlog.get_logger()


class Reconciler:
    """Recomputes everything from the session as it is (M12); the caller stores the outcome."""

    def __init__(self, *, catalogue: Catalogue, clock: Clock, config: MigrationConfig) -> None:
        self._catalogue, self._clock, self._config = catalogue, clock, config

    async def before_turn(
        self,
        session: ScenarioSession,
        profile: PatientProfile,
        *,
        extracted: Mapping[str, Extracted] | None = None,
    ) -> Outcome:
        """Return what happens to `session` before its turn; most often nothing."""
        if await self._catalogue.is_current(session):
            return landing.at_rest(session, profile)
        chain = await self._catalogue.chain(session.scenario_id)
        if chain is None or not chain.has(session.version):
            return self._without_version(session, profile)
        return reconcile(
            Case(
                session=session,
                profile=profile,
                move=chain.move_from(session.version),
                extracted=extracted or {},
                config=self._config,
                now=self._clock.now(),
            )
        )

    def _without_version(self, session: ScenarioSession, profile: PatientProfile) -> Outcome:
        """The archived version is lost: the session stays, and a person must look (M18)."""
        reason = "version_missing"
        result = ReconciliationResult(reason=reason, needs_review=True)
        if session.review is not None and session.review.reason == reason:
            return Outcome(result, session, profile)
        flag = ReviewFlag(target_version=0, reason=reason, flagged_at=self._clock.now())
        kept = session.model_copy(update={"review": flag})
        return Outcome(result, kept, profile, changed=True)


def reconcile(case: Case) -> Outcome:
    """Return what happens to the session before its turn is answered.

    Whatever cannot be judged fails closed: the session stays on its version, and an operator
    finds it on the list (M18).
    """
    session, move = case.session, case.move
    if session.step is None or session.version == move.new.version or not case.config.enabled:
        return landing.unchanged(case.session, case.profile)
    if session.checksum == move.new.checksum:
        return landing.at_rest(session, case.profile)
    if session.checksum != move.old.checksum or session.step not in move.old.steps:
        return landing.stay(case.session, case.profile, move, "untrusted_history", case.now)
    try:
        return _decided(case)
    except ScenarioInputError as error:
        who = hashed(session.session_id)
        _log.warning("migration_undecidable", session_id=who, code=error.code)
        return landing.stay(case.session, case.profile, move, "undecidable", case.now)


def _decided(case: Case) -> Outcome:
    session, move = case.session, case.move
    step = session.step or ""
    if session.pinned_to is not None and session.pinned_to.decided_for >= move.new.version:
        return landing.unchanged(session, case.profile)
    policy = move.policy_at(step)
    name = move.old.steps[step].title
    if not is_in_scope(policy.scope_filter, session, step_name=name, now=case.now):
        return landing.unchanged(session, case.profile)
    if not policy.update_downstream:
        return landing.pin(session, case.profile, move, case.now)
    if step not in move.image:
        return _relocated(case)
    passed = ahead_again(session, move, way_of(session, move), move.image[step])
    if passed is not None:
        return landing.stay(
            session, case.profile, move, "checkpoint_ahead_again", case.now, checkpoint=passed
        )
    return _routed(case, policy, move.image[step])


def _relocated(case: Case) -> Outcome:
    found = relocate(case.session, case.move, way_of(case.session, case.move))
    if found.kind == "stay":
        return landing.stay(
            case.session, case.profile, case.move, "deleted_step_without_way", case.now
        )
    place = Landing(step=found.step, scenario="relocate", reason="The step was deleted")
    return landing.land(case.session, case.profile, case.move, place, case.now)


def _routed(case: Case, policy: AnchorMigrationPolicy, anchor: str) -> Outcome:
    if policy.force_scenario == "clean_graft":
        place = Landing(step=anchor, scenario="clean_graft", reason="Clean graft by policy")
        return landing.land(case.session, case.profile, case.move, place, case.now)
    facts = gather_facts(
        case.session,
        case.profile,
        extracted=_heard(case),
        graph=case.move.new,
        config=case.config.gap_fill,
        now=case.now,
    )
    route = _route(case, anchor, facts)
    if isinstance(route, Arrived):
        return _filled(case, policy, facts, route, anchor)
    if policy.force_scenario == "gap_fill" or not case.config.re_routing.enabled:
        return _kept_on_its_way(case, policy, facts, anchor, ignored=route)
    if isinstance(route, Undecided):
        return _asked_at_fork(case, facts, route, "re_route")
    return _redirected(case, facts, route, anchor)


def _heard(case: Case) -> dict[str, Extracted]:
    """What extraction found now, else what it found when the migration began."""
    kept = case.session.progress.extracted if case.session.progress else {}
    return {**kept, **case.extracted}


def _route(case: Case, anchor: str, facts: Facts, *, may_divert: bool = True) -> Route:
    gaps, way = gaps_of(case.session, case.move), way_of(case.session, case.move)
    return RouteFinder(
        move=case.move,
        path=way.path,
        goal=anchor,
        way=way,
        values=facts.values,
        work=lambda: gaps.work_at(anchor, facts.sure),
        unsafe=lambda step: forbidding_redirect(case.session, case.move, way, step) is not None,
        may_divert=may_divert,
    ).find()


def _asked_at_fork(
    case: Case, facts: Facts, route: Undecided, scenario: MigrationScenario
) -> Outcome:
    items = [WorkItem(step_id=route.fork, kind="field", field=name) for name in route.fields]
    return waiting.wait(case, facts, items, scenario=scenario)


def _redirected(case: Case, facts: Facts, route: Diverted, anchor: str) -> Outcome:
    session, move = case.session, case.move
    target = route.branch.target
    passed = forbidding_redirect(session, move, way_of(session, move), target)
    if passed is not None:
        place = Landing(
            step=anchor,
            scenario="re_route",
            steps=route.steps,
            reason="The redirect was blocked",
            blocked_by=passed,
            blocked_target=target,
            condition=route.branch.text,
        )
        return landing.land(session, case.profile, move, place, case.now)
    items = gaps_of(session, move).work(route.steps, target, facts.sure)
    if items:
        return waiting.wait(case, facts, items, scenario="re_route")
    place = Landing(
        step=target,
        scenario="re_route",
        steps=route.steps,
        reason=f"Re-route: {route.branch.text}",
        user_message=case.config.re_routing.notification_template,
        notify=case.config.re_routing.notify_user,
        filled=waiting.used_facts(route.steps, case.move, facts),
    )
    return landing.land(session, case.profile, move, place, case.now)


def _kept_on_its_way(
    case: Case,
    policy: AnchorMigrationPolicy,
    facts: Facts,
    anchor: str,
    *,
    ignored: Diverted | Undecided,
) -> Outcome:
    """Fill the gaps of the ways that lead to the anchor, where no fork may lead elsewhere."""
    route = _route(case, anchor, facts, may_divert=False)
    if isinstance(route, Undecided):
        return _asked_at_fork(case, facts, route, "gap_fill")
    is_off = not case.config.re_routing.enabled
    warning = f"re-routing is off; the fork at {ignored.fork!r} was not applied" if is_off else None
    return _filled(case, policy, facts, route, anchor, warning=warning)


def _filled(
    case: Case,
    policy: AnchorMigrationPolicy,
    facts: Facts,
    route: Route,
    anchor: str,
    *,
    warning: str | None = None,
) -> Outcome:
    session, move = case.session, case.move
    gaps = gaps_of(session, move)
    items = gaps.work(route.steps, anchor, facts.sure)
    fresh = [step for step in route.steps if step not in gaps.visited and step != anchor]
    is_gap_fill = bool(fresh or items) or policy.force_scenario == "gap_fill"
    scenario: MigrationScenario = "gap_fill" if is_gap_fill else "clean_graft"
    if items:
        return waiting.wait(case, facts, items, scenario=scenario)
    place = Landing(
        step=anchor,
        scenario=scenario,
        steps=route.steps,
        reason="Gap fill complete" if is_gap_fill else "Clean graft: upstream unchanged",
        warning=warning,
        filled=waiting.used_facts(tuple(fresh), move, facts),
    )
    return landing.land(session, case.profile, move, place, case.now)
