"""Decides what a new version means for one session (M6), without reading or writing anything."""

from collections.abc import Mapping

import structlog

from data_models.clock import Clock
from data_models.errors import ScenarioInputError
from data_models.identifiers import hashed
from data_models.scenarios import scenario_session
from services.scenarios.definition.graph import levels
from services.scenarios.migration import landing
from services.scenarios.migration.case import Case, ReconciliationResult, used_facts
from services.scenarios.migration.landing import Landing, wait
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy, is_in_scope
from services.scenarios.migration.plans.move import Move
from services.scenarios.migration.route import Arrived, Diverted, Route, RouteFinder, Undecided
from services.scenarios.migration.scenario_store import Catalogue
from services.scenarios.scenario_settings import MigrationConfig
from services.scenarios.session.facts import Facts, gather_facts


def forbidding_redirect(case: Case, target: str) -> scenario_session.CompletedCheckpoint | None:
    """Return the first checkpoint that `target` does not lie strictly after, if any."""
    for passed in case.session.completed_checkpoints:
        image = case.move.image_of(passed)
        if image is None or not case.way.is_after(target, image):
            return passed
    return None


def ahead_again(case: Case, landing: str) -> scenario_session.CompletedCheckpoint | None:
    """Return the first checkpoint that would come a second time after `landing`, if any."""
    for passed in case.session.completed_checkpoints:
        image = case.move.image_of(passed)
        if image is not None and case.way.comes_again(image, landing):
            return passed
    return None


def _safe_image(case: Case, step: str) -> str | None:
    """Return where an old `step` is now, unless a checkpoint was completed there or behind it."""
    landing = case.move.image.get(step)
    return landing if landing is not None and _is_safe(case, landing) else None


def _is_safe(case: Case, landing: str) -> bool:
    passed = map(case.move.image_of, case.session.completed_checkpoints)
    return landing not in passed and ahead_again(case, landing) is None


def _back_on_path(case: Case) -> str | None:
    path = case.session.path
    passed = {one.step_id for one in case.session.completed_checkpoints}
    if passed - set(path):
        return None  # It cannot be told what of the path came before the checkpoint.
    first_free = max((index + 1 for index, step in enumerate(path) if step in passed), default=0)
    safe = (_safe_image(case, step) for step in reversed(path[first_free:]))
    return next(filter(None, safe), None)


def _ahead(case: Case) -> str | None:
    """Search the old version from the deleted step, one distance after the other."""
    start, move = case.session.step or "", case.move
    for level in levels(start, move.old.successors, but={*case.session.path}):
        if found := [step for step in level if _is_beyond(case, step)]:
            return move.image[_first_of(found, move)]
    return None


def _first_of(steps: list[str], move: Move) -> str:
    """Return the one that leads to most of the others, however the fork before them is written.

    Of steps that lead to one another what they do decides, then what lies ahead of them.
    """

    def rank(step: str) -> tuple[int, str, str, list[list[str]]]:
        old = move.old
        led_to = old.reached_from(step).intersection(steps)
        ahead = [sorted(old.hashes[one] for one in level) for level in levels(step, old.successors)]
        return -len(led_to), old.hashes[step], old.steps[step].title, ahead

    return min(steps, key=rank)


def _is_beyond(case: Case, step: str) -> bool:
    """Whether an old `step` has an image, after every completed checkpoint in both versions."""
    return _safe_image(case, step) is not None and all(
        passed.step_id not in case.move.old.steps or case.way.is_after_in_old(step, passed.step_id)
        for passed in case.session.completed_checkpoints
    )


def _behind_last_checkpoint(case: Case) -> str | None:
    completed = case.session.completed_checkpoints
    last = case.move.image_of(completed[-1]) if completed else None
    targets = () if last is None else case.move.new.successors[last]
    return targets[0] if len(targets) == 1 and _is_safe(case, targets[0]) else None


_log = structlog.get_logger()


class Reconciler:
    """Recomputes everything from the session as it is (M12); the caller stores the outcome."""

    def __init__(self, *, catalogue: Catalogue, clock: Clock, config: MigrationConfig) -> None:
        self._catalogue, self._clock, self._config = catalogue, clock, config

    async def before_turn(
        self,
        session: scenario_session.ScenarioSession,
        profile: scenario_session.PatientProfile,
        *,
        extracted: Mapping[str, scenario_session.Extracted] | None = None,
    ) -> ReconciliationResult:
        """Return what happens to `session` before its turn; most often nothing."""
        if await self._catalogue.is_current(session):
            return landing.at_rest(session)
        chain = await self._catalogue.chain(session.scenario_id)
        if chain is None or not chain.has(session.version):
            # The archived version is lost (M18).
            return landing.stay(session, "version_missing", self._clock.now())
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


def reconcile(case: Case) -> ReconciliationResult:
    """Return what happens to the session before its turn is answered.

    Whatever cannot be judged fails closed: the session stays on its version, and an operator
    finds it on the list (M18).
    """
    session, move = case.session, case.move
    if session.step is None or session.version == move.new.version or not case.config.enabled:
        return landing.unchanged(session)
    if session.checksum == move.new.checksum:
        return landing.at_rest(session)
    if session.checksum != move.old.checksum or session.step not in move.old.steps:
        return _flagged(case, "untrusted_history")
    try:
        return _decided(case, session.step)
    except ScenarioInputError as error:
        who = hashed(session.session_id)
        _log.warning("migration_undecidable", session_id=who, code=error.code)
        return _flagged(case, "undecidable")


def _flagged(case: Case, reason: str, *, blocked: bool = False) -> ReconciliationResult:
    target = case.move.new.version
    return landing.stay(case.session, reason, case.now, target=target, blocked=blocked)


def _decided(case: Case, step: str) -> ReconciliationResult:
    session, move = case.session, case.move
    if session.pinned_to is not None and session.pinned_to.decided_for >= move.new.version:
        return landing.unchanged(session)
    policy = move.policies.get(step, move.default_policy)
    name = move.old.steps[step].title
    if not is_in_scope(policy.scope_filter, session, step_name=name, now=case.now):
        return landing.unchanged(session)
    if not policy.update_downstream:
        return landing.pin(case)
    if (anchor := move.image.get(step)) is None:
        # Land elsewhere; with nowhere to go, the scenario ends if nothing was completed (M3).
        elsewhere = _back_on_path(case) or _ahead(case) or _behind_last_checkpoint(case)
        if elsewhere is None and case.session.completed_checkpoints:
            return _flagged(case, "deleted_step_without_way")
        return landing.land(case, Landing(elsewhere, "relocate", "The step was deleted"))
    if ahead_again(case, anchor) is not None:
        return _flagged(case, "checkpoint_ahead_again", blocked=True)
    return _routed(case, policy, anchor)


def _routed(case: Case, policy: AnchorMigrationPolicy, anchor: str) -> ReconciliationResult:
    if policy.force_scenario == "clean_graft":
        return landing.land(case, Landing(anchor, "clean_graft", "Clean graft by policy"))
    # What extraction found now, else what it found when the migration began.
    kept = case.session.progress.extracted if case.session.progress else {}
    facts = gather_facts(
        case.session,
        case.profile,
        extracted={**kept, **case.extracted},
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


def _route(case: Case, anchor: str, facts: Facts, *, may_divert: bool = True) -> Route:
    return RouteFinder(
        move=case.move,
        goal=anchor,
        way=case.way,
        values=facts.values,
        work=lambda: case.gaps.work_at(anchor, facts.sure),
        unsafe=lambda step: forbidding_redirect(case, step) is not None,
        may_divert=may_divert,
    ).find()


def _asked_at_fork(
    case: Case, facts: Facts, route: Undecided, scenario: scenario_session.MigrationScenario
) -> ReconciliationResult:
    items = [
        scenario_session.WorkItem(step_id=route.fork, kind="field", field=name)
        for name in route.fields
    ]
    return wait(case, facts, items, scenario=scenario)


def _redirected(case: Case, facts: Facts, route: Diverted, anchor: str) -> ReconciliationResult:
    target = route.branch.target
    if (passed := forbidding_redirect(case, target)) is not None:
        place = Landing(
            step=anchor,
            scenario="re_route",
            steps=route.steps,
            reason="The redirect was blocked",
            blocked_by=passed,
            blocked_target=target,
            condition=route.branch.text,
        )
        return landing.land(case, place)
    if items := case.gaps.work(route.steps, target, facts.sure):
        return wait(case, facts, items, scenario="re_route")
    place = Landing(
        step=target,
        scenario="re_route",
        steps=route.steps,
        reason=f"Re-route: {route.branch.text}",
        user_message=case.config.re_routing.notification_template,
        notify=case.config.re_routing.notify_user,
        filled=used_facts(route.steps, case.move, facts),
    )
    return landing.land(case, place)


def _kept_on_its_way(
    case: Case,
    policy: AnchorMigrationPolicy,
    facts: Facts,
    anchor: str,
    *,
    ignored: Diverted | Undecided,
) -> ReconciliationResult:
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
) -> ReconciliationResult:
    items = case.gaps.work(route.steps, anchor, facts.sure)
    fresh = [step for step in route.steps if step not in case.gaps.visited and step != anchor]
    is_gap_fill = bool(fresh or items) or policy.force_scenario == "gap_fill"
    scenario: scenario_session.MigrationScenario = "gap_fill" if is_gap_fill else "clean_graft"
    if items:
        return wait(case, facts, items, scenario=scenario)
    place = Landing(
        step=anchor,
        scenario=scenario,
        steps=route.steps,
        reason="Gap fill complete" if is_gap_fill else "Clean graft: upstream unchanged",
        warning=warning,
        filled=used_facts(fresh, case.move, facts),
    )
    return landing.land(case, place)
