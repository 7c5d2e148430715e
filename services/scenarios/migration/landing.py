"""Makes the one state that an outcome of a migration stores (M11); asks first (M8, M20)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import (
    CompletedCheckpoint,
    Evidence,
    MigrationAppliedEvent,
    MigrationProgress,
    MigrationScenario,
    Pin,
    ReconciliationAction,
    ScenarioSession,
    StepVisit,
    WorkItem,
)
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.case import Case, ReconciliationResult
from services.scenarios.migration.plans.move import Move
from services.scenarios.session.facts import Fact, Facts
from services.scenarios.session.progress import flagged, visit_of
from services.scenarios.session.step_text import confirmed_text, question_for


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a session goes and why.

    Attributes:
        step: In the new version; None ends the scenario.
        steps: The route that led there, in order; those never visited are marked as skipped.
        filled: Facts that stand for what skipped steps would have collected.
    """

    step: str | None
    scenario: MigrationScenario
    reason: str
    steps: tuple[str, ...] = ()
    user_message: str | None = None
    notify: bool = False
    warning: str | None = None
    blocked_by: CompletedCheckpoint | None = None
    blocked_target: str | None = None
    condition: str = ""
    filled: dict[str, Fact] = field(default_factory=dict)

    @property
    def action(self) -> ReconciliationAction:
        """What the turn does."""
        if self.step is None:
            return "exit_scenario"
        return "continue" if self.blocked_by else "teleport"

    @property
    def checkpoint_warning(self) -> str | None:
        """What the operator is told where a completed checkpoint was in the way."""
        if self.blocked_by is None:
            return self.warning
        name = self.blocked_by.description or self.blocked_by.step_id
        return (
            f"New rule {self.condition!r} would redirect to {self.blocked_target!r}, "
            f"but checkpoint {name!r} prevents this."
        )


def unchanged(session: ScenarioSession) -> ReconciliationResult:
    """Return the outcome that changes nothing."""
    return ReconciliationResult(session, "nothing to do")


def at_rest(session: ScenarioSession) -> ReconciliationResult:
    """Return the outcome for a version that is the session's own: what was begun is dropped."""
    if session.progress is None and session.pending_migration is None:
        return unchanged(session)
    kept = session.model_copy(update={"progress": None, "pending_migration": None})
    return ReconciliationResult(kept, "same structure", changed=True)


def stay(
    session: ScenarioSession, reason: str, now: datetime, *, target: int = 0, blocked: bool = False
) -> ReconciliationResult:
    """Keep the session on its version and put it on the operator's list, once.

    Args:
        target: The version it does not go to; 0 if nobody knows.
        blocked: Whether a completed checkpoint is why.
    """
    found = ReconciliationResult(session, reason, needs_review=True, blocked_by_checkpoint=blocked)
    known = session.review
    if known and (known.target_version, known.reason) == (target, reason):
        return found
    progress = session.progress if reason == "asked_too_often" else None
    over = {"pending_migration": None, "progress": progress, "updated_at": now}
    kept = flagged(session, reason, now, target=target).model_copy(update=over)
    return replace(found, session=kept, changed=True)


def pin(case: Case) -> ReconciliationResult:
    """Hold the session on its version until a newer plan decides (M7)."""
    session = case.session
    held = Pin(
        version=session.version,
        decided_for=case.move.new.version,
        reason="update_downstream is off at this step",
    )
    kept = session.model_copy(
        update={
            "pinned_to": held,
            "pending_migration": None,
            "progress": None,
            "updated_at": case.now,
            "outbox": [*session.outbox, _event(case, "continue", pinned=True)],
        }
    )
    return ReconciliationResult(kept, held.reason, changed=True)


def land(case: Case, place: Landing) -> ReconciliationResult:
    """Move the session, with its history, checkpoints, facts and audit event, at once."""
    session, move = case.session, case.move
    heard = {name: one for name, one in place.filled.items() if one.source == "extraction"}
    said = {name: Evidence(quote=one.quote) for name, one in heard.items()}
    moved = session.model_copy(
        update={
            "version": move.new.version,
            "checksum": move.new.checksum,
            "step": place.step,
            "step_history": _history(case, place),
            "completed_checkpoints": [
                _carried(passed, move) for passed in session.completed_checkpoints
            ],
            "variables": session.variables | {name: one.value for name, one in heard.items()},
            "evidence": session.evidence | said,
            "pending_migration": None,
            "pinned_to": None,
            "progress": None,
            "review": None,
            "updated_at": case.now,
            "outbox": [*session.outbox, _landed_event(case, place)],
        }
    )
    return ReconciliationResult(
        moved,
        place.reason,
        action=place.action,
        scenario=place.scenario,
        user_message=place.user_message if place.notify else None,
        notify=place.notify,
        blocked_by_checkpoint=place.blocked_by is not None,
        checkpoint_warning=place.checkpoint_warning,
        changed=True,
        gap_sources={name: one.source for name, one in place.filled.items()},
    )


def _history(case: Case, place: Landing) -> list[StepVisit]:
    """The visits in new ids, with skipped steps after the anchor that they follow."""
    move = case.move
    carried = [
        visit.model_copy(
            update={
                "step_id": move.image[visit.step_id],
                "transition": move.image.get(visit.transition or ""),
            }
        )
        for visit in case.session.step_history
        if visit.step_id in move.image
    ]
    last = {visit.step_id: index for index, visit in enumerate(carried)}
    followers = _skipped_after(place, last)
    history = [_skipped(step, case) for step in followers[None]]
    for index, visit in enumerate(carried):
        history.append(visit)
        if last[visit.step_id] == index:
            history += [_skipped(step, case) for step in followers[visit.step_id]]
    if place.step is not None and (not history or history[-1].step_id != place.step):
        history.append(visit_of(move.new, place.step, case.now))
    return history


def _skipped_after(place: Landing, visited: dict[str, int]) -> dict[str | None, list[str]]:
    followers: dict[str | None, list[str]] = defaultdict(list)
    behind: str | None = None
    for step in dict.fromkeys(place.steps):
        if step in visited:
            behind = step
        elif step != place.step:
            followers[behind].append(step)
    return followers


def _skipped(step: str, case: Case) -> StepVisit:
    return visit_of(case.move.new, step, case.now).model_copy(update={"skipped": True})


def _carried(passed: CompletedCheckpoint, move: Move) -> CompletedCheckpoint:
    if (image := move.image_of(passed)) is None:
        return passed
    return passed.model_copy(update={"step_id": image, "version": move.new.version})


def _event(case: Case, action: ReconciliationAction, **more: Any) -> MigrationAppliedEvent:
    session, move = case.session, case.move
    step = session.step or ""
    jump = f"{session.version}>{move.new.version}"
    return MigrationAppliedEvent(
        event_id=hashed(session.session_id, session.scenario_id, jump),
        session_id=session.session_id,
        scenario_id=session.scenario_id,
        plan_ids=[*move.plan_ids],
        from_version=session.version,
        to_version=move.new.version,
        composite=len(move.plan_ids) > 1,
        anchor_hash=move.old.hashes[step],
        step_before=step,
        action_taken=action,
        timestamp=case.now,
        **more,
    )


def _landed_event(case: Case, place: Landing) -> MigrationAppliedEvent:
    session, version = case.session, case.move.new.version
    blocked = place.blocked_by
    return _event(
        case,
        place.action,
        migration_scenario=place.scenario,
        relocated=place.scenario == "relocate",
        exited=place.step is None,
        step_after=place.step,
        fields_gap_filled={name: one.source for name, one in place.filled.items()},
        fields_collected=[*session.progress.attempts] if session.progress else [],
        actions_executed=[done.step_id for done in session.executed if done.version == version],
        blocked_by_checkpoint=blocked is not None,
        checkpoint_id=blocked.step_id if blocked else None,
        checkpoint_description=blocked.description if blocked else None,
    )


# What a migration asks or runs before it can land, one request at a time (M8, M20).


def wait(
    case: Case, facts: Facts, items: Sequence[WorkItem], *, scenario: MigrationScenario
) -> ReconciliationResult:
    """Ask for the fields, or hand out the action, that come first in `items`.

    Only the session's progress changes, so that a crash here repeats a question at worst.
    """
    before = case.session.progress or MigrationProgress(target_version=case.move.new.version)
    progress = before.model_copy(
        update={
            "target_version": case.move.new.version,
            "work": [*items],
            "extracted": {**before.extracted, **case.extracted},
        }
    )
    if items[0].kind == "action":
        step = items[0].step_id
        is_running = progress.running == step
        return ReconciliationResult(
            _stored(case, progress.model_copy(update={"running": step})),
            "a required action was skipped",
            action="execute_action",
            scenario=scenario,
            execute_actions=() if is_running else (step,),
            settled=False,
            changed=True,
        )
    fields = [item.field or "" for item in takewhile(lambda item: item.kind == "field", items)]
    return _ask(case, facts, progress, fields, scenario)


def _ask(
    case: Case,
    facts: Facts,
    progress: MigrationProgress,
    fields: Sequence[str],
    scenario: MigrationScenario,
) -> ReconciliationResult:
    limit = case.config.gap_fill.max_attempts
    if any(progress.attempts.get(name, 0) >= limit for name in fields):
        target = case.move.new.version
        return stay(case.session, "asked_too_often", case.now, target=target)
    confirm = tuple(name for name in fields if name in facts.likely)
    collect = tuple(name for name in fields if name not in facts.likely)
    attempts = {name: progress.attempts.get(name, 0) + 1 for name in fields}
    asked = progress.model_copy(
        update={"attempts": progress.attempts | attempts, "confirming": [*confirm], "running": None}
    )
    return ReconciliationResult(
        _stored(case, asked),
        "facts are missing",
        action="collect",
        scenario=scenario,
        collect_fields=collect,
        confirm_fields=confirm,
        user_message=_prompt_for(case.move.new, collect, confirm, facts),
        settled=False,
        changed=True,
    )


def _stored(case: Case, progress: MigrationProgress) -> ScenarioSession:
    return case.session.model_copy(update={"progress": progress, "updated_at": case.now})


def _prompt_for(graph: Graph, collect: Sequence[str], confirm: Sequence[str], facts: Facts) -> str:
    """Return the question to the user."""
    parts = [
        f"Just to confirm - {confirmed_text(graph.fields[name], fact.value)}, correct?"
        for name, fact in ((name, facts.likely[name]) for name in confirm)
    ]
    if collect:
        parts.append(
            f"Before we continue, I need to confirm a few things. {question_for(graph, collect)}"
        )
    return " ".join(parts)
