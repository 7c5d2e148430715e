"""A stored context document of the legacy form, and the same in today's. Pure: JSON in and out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from data_models.entities import Entities
from data_models.errors import CorruptDocumentError
from services.entities.legacy import file_legacy, legacy_rows
from services.entities.team import AgentNames

LEGACY_FIELD = "continuation_context"
_OWNER_FIELDS = ("agent", "agent_name", "blocked_agent", "awaiting_agent")


@dataclass(frozen=True, slots=True)
class Differences:
    """What a migrated document holds otherwise than the old one (spec page 2.4)."""

    missing_in_new: list[str]
    extra_in_new: list[str]
    value_changes: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether there are none; what was added since is no loss."""
        return not self.missing_in_new and not self.value_changes


def document_of(data: bytes) -> dict[str, Any]:
    """Return the JSON object of a context document.

    Raises:
        CorruptDocumentError: it is none.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise CorruptDocumentError("the context document is no JSON object")
    return document


def legacy_entities(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the legacy form holds; empty where there is nothing left to move.

    Raises:
        CorruptDocumentError: the field is not of the known shape.
    """
    continuation = document.get(LEGACY_FIELD)
    if continuation is None:
        return {}
    entities = continuation.get("entities") if isinstance(continuation, Mapping) else continuation
    if entities is None:
        return {}
    if not isinstance(entities, Mapping):
        raise CorruptDocumentError("the legacy entities are no JSON object")
    return dict(entities)


def legacy_owner(document: Mapping[str, Any]) -> str | None:
    """Return the agent that waited for the user, by whatever name it had."""
    places = [document.get(LEGACY_FIELD), document.get("continuation")]
    names = [
        place[field]
        for place in places
        if isinstance(place, Mapping)
        for field in _OWNER_FIELDS
        if isinstance(place.get(field), str)
    ]
    return names[0] if names else None


def migrated(document: Mapping[str, Any], *, team: AgentNames, now: datetime) -> dict[str, Any]:
    """Return `document` with its legacy entities moved into the managers, every key counted.

    Raises:
        CorruptDocumentError: something is not of the known shape, or a key would be lost.
        UnknownAgentError: the agent that waited is not in the team.
    """
    legacy, entities = legacy_entities(document), entities_of(document)
    file_legacy(entities, legacy, owner=legacy_owner(document), team=team, now=now)
    held = union_of(entities)
    if any(key not in held for key in legacy_rows(legacy)):
        raise CorruptDocumentError("not every legacy entity found a place")
    continuation = {
        key: value for key, value in document[LEGACY_FIELD].items() if key != "entities"
    }
    changed = {**document, "entities": entities.model_dump(mode="json")}
    return {**changed, LEGACY_FIELD: continuation}


def entities_of(document: Mapping[str, Any]) -> Entities:
    """Return the managers of `document`; empty ones if it has none yet.

    Raises:
        CorruptDocumentError: they cannot be read.
    """
    try:
        return Entities.model_validate(document.get("entities") or {})
    except ValidationError:
        # Not `from error`: pydantic quotes what the document holds.
        raise CorruptDocumentError("the entities cannot be read") from None


def union_of(entities: Entities) -> dict[str, Any]:
    """Return all values of both namespaces by key."""
    held = entities.conversation.get_all()
    for queue in entities.derived.agent_entities.values():
        held.update({key: one.value for key, one in queue.items()})
    return held


def lost_share(legacy: Mapping[str, Any], entities: Entities) -> float:
    """Return which share of the legacy entities `entities` does not hold; 0.0 for none."""
    keys, held = legacy_rows(legacy).keys(), union_of(entities)
    return sum(key not in held for key in keys) / len(keys) if keys else 0.0


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Differences:
    """Compare the legacy dict of `old` with both namespaces of `new`."""
    before, after = legacy_rows(legacy_entities(old)), union_of(entities_of(new))
    return Differences(
        missing_in_new=sorted(set(before) - set(after)),
        extra_in_new=sorted(set(after) - set(before)),
        value_changes={
            key: {"old": before[key], "new": after[key]}
            for key in sorted(set(before) & set(after))
            if json.dumps(before[key], sort_keys=True) != json.dumps(after[key], sort_keys=True)
        },
    )
