"""Fingerprints of steps and versions (M1): equal meaning, equal hash; ids and order aside."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping

from pydantic import JsonValue

from data_models.scenario import Scenario, Step
from services.scenarios.definition.conditions import canonical_condition


def content_hash(step: Step) -> str:
    """Return the fingerprint of what `step` does, without its ids, transitions and version."""
    # What versions of 0.1 did not have is left out where it is empty: their hashes stand.
    results: dict[str, JsonValue] = {"results": {**step.results}} if step.results else {}
    return _digest(
        {
            **results,
            "intent": step.intent or step.title,
            "description": step.description,
            "kind": step.kind,
            "rules": [*sorted(_canonical_text(rule.text) for rule in step.rules)],
            "collects": [*sorted(set(step.collects_profile_fields))],
            "is_checkpoint": step.is_checkpoint,
            "checkpoint_type": step.checkpoint_type,
            "is_required_action": step.is_required_action,
            "tool": step.tool,
            "parameters": step.parameters,
        }
    )


def structure_checksum(scenario: Scenario, hashes: Mapping[str, str]) -> str:
    """Return the fingerprint of the whole graph; `hashes` are the steps' content hashes.

    The version number is left out: two versions with one checksum are the same scenario.
    """
    steps: dict[str, JsonValue] = {
        step.id: [
            hashes[step.id],
            [
                [transition.target, canonical_condition(transition.condition or "")]
                for transition in step.transitions
            ],
        ]
        for step in scenario.steps
    }
    return _digest({"entry": scenario.entry_step, "steps": steps})


def _canonical_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _canonical(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return _canonical_text(value)
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, dict):
        return {_canonical_text(key): _canonical(item) for key, item in value.items()}
    return value


def _digest(value: JsonValue) -> str:
    text = json.dumps(_canonical(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
