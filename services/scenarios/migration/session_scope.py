"""Which sessions a policy lets migrate (M17)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TypeVar

from cel_expr_python import cel
from pydantic import JsonValue

from data_models.scenario_session import ScenarioSession
from services.scenarios.definition.conditions import check_expression, truth_of
from services.scenarios.migration.migration_plan import ScopeFilter

_DAY = timedelta(days=1)
_TYPES: Mapping[str, cel.Type] = {
    "channel": cel.Type.STRING,
    "step": cel.Type.STRING,
    "version": cel.Type.INT,
    "age_days": cel.Type.DYN,
    "tenant_id": cel.Type.STRING,
    "agent_id": cel.Type.STRING,
    "path": cel.Type.List(cel.Type.STRING),
    "completed_checkpoints": cel.Type.List(cel.Type.STRING),
    "variables": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
}
_SHORT = {"at": "step", "v": "version", "passed": "completed_checkpoints", "vars": "variables"}
"""The names of case files."""
T = TypeVar("T")


def is_in_scope(
    scope: ScopeFilter, session: ScenarioSession, *, step_name: str, now: datetime
) -> bool:
    """Whether `scope` lets `session` migrate.

    Raises:
        ScenarioConditionError: a custom condition is wrong or cannot be decided.
    """
    here = {session.step or "", step_name}
    if here & set(scope.exclude_current_nodes) or session.channel in scope.exclude_channels:
        return False
    if scope.include_current_nodes and not here & set(scope.include_current_nodes):
        return False
    if scope.include_channels and session.channel not in scope.include_channels:
        return False
    age = (now - session.created_at) / _DAY
    return _is_of_age(scope, age) and all(
        _holds(condition, session, age) for condition in scope.custom_conditions
    )


def check_scope(scope: ScopeFilter) -> None:
    """Type-check the custom conditions.

    Raises:
        ScenarioConditionError: one of them does not fit what a session has.
    """
    for condition in scope.custom_conditions:
        _compiled(condition)


def _is_of_age(scope: ScopeFilter, age_days: float) -> bool:
    low, high = scope.min_session_age_days, scope.max_session_age_days
    return (low is None or age_days >= low) and (high is None or age_days <= high)


@lru_cache(maxsize=1_000)
def _compiled(condition: str) -> cel.Expression:
    env = cel.NewEnv(variables=_with_all_names(_TYPES))
    return check_expression(env, condition)


def _holds(condition: str, session: ScenarioSession, age_days: float) -> bool:
    values: dict[str, JsonValue] = {
        "channel": session.channel,
        "step": session.step or "",
        "version": session.version,
        "age_days": age_days,
        "tenant_id": session.tenant_id,
        "agent_id": session.agent_id,
        "path": [*session.path],
        "completed_checkpoints": [one.step_id for one in session.completed_checkpoints],
        "variables": session.variables,
    }
    return truth_of(_compiled(condition), _with_all_names(values))


def _with_all_names(found: Mapping[str, T]) -> dict[str, T]:
    """Return what stands under a name under its short name and behind `session.` too."""
    every = {**found, **{short: found[name] for short, name in _SHORT.items()}}
    return {**every, **{f"session.{name}": one for name, one in every.items()}}
