"""Reads the delta of entities out of what a model replied (spec page 2.3)."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from data_models.entities.entity_values import DERIVED_KEYS, canonical_key, namespace_of
from data_models.errors import EntityDeltaError
from data_models.values import ClosedValue

REPLY_LIMIT_CHARS = 200_000
_DELTA_KEYS = ("entities_to_update", "derived_entities_to_update", "entities_to_remove", "handover")
_LEGACY_KEY = "entities"
_FENCE = re.compile(r"```[a-zA-Z0-9_-]*\s*\n?(.*?)```", re.DOTALL)


class EntityDelta(ClosedValue):
    """Only what changed.

    Attributes:
        entities_to_update: What the user wants, by key.
        derived_entities_to_update: What the agent concluded, by key.
        entities_to_remove: Keys of either kind; removed before anything is set.
        handover: Derived keys to copy to the agent `handover_to`.
        is_legacy: Whether it came as the complete state that older prompts asked for.
    """

    entities_to_update: dict[str, Any] = Field(default_factory=dict)
    derived_entities_to_update: dict[str, Any] = Field(default_factory=dict)
    entities_to_remove: list[str] = Field(default_factory=list)
    handover: list[str] = Field(default_factory=list)
    handover_to: str | None = None
    is_legacy: bool = False


def parse_entity_delta(payload: Mapping[str, Any] | str, *, legacy: bool = True) -> EntityDelta:
    """Return the delta that `payload` holds; an empty one if it speaks of no entities.

    Takes a JSON object or its text, bare, in a code fence or under `response`.

    Args:
        legacy: Whether the complete-state form `{"entities": {...}}` is understood.

    Raises:
        EntityDeltaError: it is malformed; the text names the place, never what stands there.
    """
    root = _object(payload)
    holder, path = root, ""
    is_delta = any(key in root for key in (*_DELTA_KEYS, _LEGACY_KEY))
    if not is_delta and isinstance(root.get("response"), Mapping):
        holder, path = root["response"], "response."
    if any(key in holder for key in _DELTA_KEYS):
        return _delta(holder, path)
    if _LEGACY_KEY not in holder:
        return EntityDelta()
    if not legacy:
        raise EntityDeltaError(f"{path}{_LEGACY_KEY}: the complete-state form is switched off")
    state = {} if holder[_LEGACY_KEY] is None else holder[_LEGACY_KEY]
    if not isinstance(state, Mapping):
        raise EntityDeltaError(f"{path}{_LEGACY_KEY}: expected an object")
    entities = _checked({"entities_to_update": state}, path).entities_to_update
    derived = {
        raw: value
        for raw, value in entities.items()
        if namespace_of(canonical_key(raw) or "") == "derived"
    }
    wanted = {raw: value for raw, value in entities.items() if raw not in derived}
    return EntityDelta(
        entities_to_update=wanted, derived_entities_to_update=derived, is_legacy=True
    )


def _object(payload: object) -> Mapping[str, Any]:
    if isinstance(payload, Mapping):
        return payload
    if not isinstance(payload, str):
        raise EntityDeltaError("position 0: expected a JSON object")
    return _parsed(payload)


def _parsed(payload: str) -> Mapping[str, Any]:
    if len(payload) > REPLY_LIMIT_CHARS:
        raise EntityDeltaError(f"position {REPLY_LIMIT_CHARS}: the reply is too long")
    text, offset = _unfenced(payload)
    try:
        parsed = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = payload[: offset + error.pos]
        problem = _place(place) + f": {error.msg}"
    except ValueError:
        problem = _place(payload[:offset]) + ": a number is not finite or too long"
    except RecursionError:
        problem = _place(payload[:offset]) + ": nested too deeply"
    else:
        if isinstance(parsed, dict):
            return parsed
        problem = _place(payload[:offset]) + ": expected a JSON object"
    # Outside the handlers, so that no cause keeps the model's words.
    raise EntityDeltaError(problem)


def _unfenced(payload: str) -> tuple[str, int]:
    """Return the JSON text and where it begins."""
    fences = list(_FENCE.finditer(payload))
    if len(fences) != 1 or payload.lstrip("\ufeff \t\r\n").startswith("{"):
        stripped = payload.lstrip("\ufeff \t\r\n")
        return stripped, len(payload) - len(stripped)
    return fences[0].group(1), fences[0].start(1)


def _place(before: str) -> str:
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"line {line} column {column} (position {len(before)})"


def _no_number(_: str) -> None:
    raise ValueError


def _delta(holder: Mapping[str, Any], path: str) -> EntityDelta:
    """Read `handover: [keys], handover_to: name` or `handover: {keys, to}` with the rest."""
    row = {key: holder[key] for key in _DELTA_KEYS if holder.get(key) is not None}
    target = holder.get("handover_to")
    if isinstance(row.get("handover"), Mapping):
        row["handover"], target = row["handover"].get("keys") or [], row["handover"].get("to")
    if row.get("handover"):
        row["handover_to"] = target
    delta = _checked(row, path)
    if delta.handover and delta.handover_to is None:
        raise EntityDeltaError(f"{path}handover: expected the name of the agent that takes them")
    return delta


def _checked(row: Mapping[str, Any], path: str) -> EntityDelta:
    try:
        return EntityDelta.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
    # Outside the handler, so that no cause keeps the model's words; nor does a key of theirs.
    place = ".".join(str(part) for part in first["loc"][:2] if part in row or part in range(1_000))
    raise EntityDeltaError(f"{path}{place}: {first['msg']}")


def without_finds(delta: EntityDelta) -> tuple[EntityDelta, list[str]]:
    """Return `delta` without the values that only tools know, and the keys of those."""
    updates = (delta.entities_to_update, delta.derived_entities_to_update)
    kept = [{key: one for key, one in each.items() if not _is_find(key)} for each in updates]
    forged = [key for each in updates for key in each if _is_find(key)]
    if not forged:
        return delta, []
    wanted, derived = kept
    changed = {"entities_to_update": wanted, "derived_entities_to_update": derived}
    return delta.model_copy(update=changed), forged


def _is_find(key: str) -> bool:
    return canonical_key(key) in DERIVED_KEYS
