"""Whether a reply is right, and how a run went. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data_models.entity_keys import canonical_key
from data_models.errors import EntityDeltaError
from services.entities.delta import EntityDelta, parse_entity_delta

SUCCESS_RATE = 0.90
P95_MS = 500.0


@dataclass(frozen=True, slots=True)
class Result:
    """One scenario: what was wrong, or nothing, and how long the reply took."""

    scenario: str
    problem: str | None
    took_ms: float


def problem_of(scenario: Mapping[str, Any], reply: str) -> str | None:
    """Return what is wrong with `reply`; None if it is the expected delta."""
    try:
        delta = parse_entity_delta(reply)
    except EntityDeltaError as error:
        return None if scenario.get("expected_error") else f"malformed: {error}"
    if scenario.get("expected_error"):
        return "a malformed reply was read"
    expected = EntityDelta.model_validate(scenario["expected"])
    for part in ("entities_to_update", "derived_entities_to_update"):
        wanted, given = _plain(expected, part), _plain(delta, part)
        if wanted != given:
            return f"{part}: expected {json.dumps(wanted)}, got {json.dumps(given)}"
    if sorted(expected.entities_to_remove) != sorted(delta.entities_to_remove):
        return f"entities_to_remove: got {delta.entities_to_remove}"
    return None


def _plain(delta: EntityDelta, part: str) -> dict[str, Any]:
    rows: Mapping[str, Any] = delta.model_dump()[part]
    return {canonical_key(key) or key: _folded(value) for key, value in rows.items()}


def _folded(value: Any) -> Any:
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


def success_rate(results: Sequence[Result]) -> float:
    """Return the share of scenarios without a problem."""
    return sum(result.problem is None for result in results) / len(results)


def p95_ms(results: Sequence[Result]) -> float:
    """Return the time that 95 of 100 replies did not exceed."""
    times = sorted(result.took_ms for result in results)
    return times[max(0, -(-len(times) * 95 // 100) - 1)]


def passes(results: Sequence[Result]) -> bool:
    """Tell whether the run is good enough."""
    return success_rate(results) >= SUCCESS_RATE and p95_ms(results) <= P95_MS
