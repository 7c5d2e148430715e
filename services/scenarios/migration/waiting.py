"""What a migration asks or runs before it can land, one request at a time (M8, M20)."""

from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile

from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import (
    ExecutedAction,
    MigrationProgress,
    MigrationScenario,
    ScenarioSession,
    WorkItem,
)
from services.scenarios.definition.graph import Graph
from services.scenarios.migration import landing
from services.scenarios.migration.case import Case, ReconciliationResult
from services.scenarios.migration.plans.move import Move
from services.scenarios.session.facts import Fact, Facts
from services.scenarios.session.step_text import confirmed_text, question_for


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
        return landing.stay(case.session, "asked_too_often", case.now, target=target)
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
        user_message=prompt_for(case.move.new, collect, confirm, facts),
        settled=False,
        changed=True,
    )


def _stored(case: Case, progress: MigrationProgress) -> ScenarioSession:
    return case.session.model_copy(update={"progress": progress, "updated_at": case.now})


def prompt_for(graph: Graph, collect: Sequence[str], confirm: Sequence[str], facts: Facts) -> str:
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


def used_facts(steps: Sequence[str], move: Move, facts: Facts) -> dict[str, Fact]:
    """Return the facts that stand for what `steps` would have asked or decided by."""
    names: dict[str, None] = {}
    for step in steps:
        collected = move.new.steps[step].collects_profile_fields
        names.update(dict.fromkeys((*collected, *move.new.fields_decided_by(step))))
    return {name: facts.sure[name] for name in names if name in facts.sure}


def with_action_done(
    session: ScenarioSession, step: str, version: int, now: datetime
) -> ScenarioSession:
    """Return the session with the required action of `step` of `version` on record, once."""
    key = idempotency_key(session, version, step)
    if any(done.idempotency_key == key for done in session.executed):
        return session
    progress = session.progress
    if progress is not None and progress.running == step:
        progress = progress.model_copy(update={"running": None})
    done = ExecutedAction(idempotency_key=key, step_id=step, version=version)
    return session.model_copy(
        update={"executed": [*session.executed, done], "progress": progress, "updated_at": now}
    )


def idempotency_key(session: ScenarioSession, version: int, step: str) -> str:
    """Return the key under which a required action runs at most once."""
    return hashed(session.session_id, f"{session.version}>{version}", step)
