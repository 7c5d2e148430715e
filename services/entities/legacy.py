"""The legacy form of entities: what a document holds of it, and its place in today's. Pure."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from data_models.entities.derived_entities import Origin
from data_models.entities.entities import Entities, Said
from data_models.entities.entity_queue import Entity, EntityReport, empty_report
from data_models.entities.entity_values import (
    ALIASES,
    Offer,
    canonical_json,
    namespace_of,
    plain_key,
)
from data_models.errors import CorruptDocumentError
from services.entities.circumstances import AgentNames, MergeReport
from services.language.requests.clock import is_relative_value

LEGACY_FIELD = "continuation_context"
_OWNER_FIELDS = ("agent", "agent_name", "blocked_agent", "awaiting_agent")


def legacy_entities(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the legacy form holds; empty where there is nothing left to move.

    Raises:
        CorruptDocumentError: the field is not of the known shape.
    """
    if (continuation := document.get(LEGACY_FIELD)) is None:
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


def union_of(entities: Entities) -> dict[str, Any]:
    """Return all values of both namespaces by key."""
    return {key: one.value for _, queue in entities.queues() for key, one in queue.items()}


def lost_share(legacy: Mapping[str, Any], entities: Entities) -> float:
    """Return which share of the legacy entities `entities` does not hold; 0.0 for none."""
    keys, held = legacy_rows(legacy).keys(), union_of(entities)
    return sum(key not in held for key in keys) / len(keys) if keys else 0.0


MIGRATION = "migration"
_KEY_LIMIT_CHARS = 64
_NO_KEY_CHARS = re.compile(r"[^a-z0-9_]+")


def file_legacy(
    entities: Entities,
    legacy: Mapping[str, Any],
    *,
    owner: str | None,
    team: AgentNames,
    now: datetime,
) -> MergeReport:
    """Add every key of `legacy`, whatever the cap; what is here already is newer and stays (E26).

    Keys are filed by convention; an ambiguous one is taken as the user's wish.

    Args:
        owner: The agent that waited for the user, by its old or new name.

    Raises:
        UnknownAgentError: `owner` names an agent that the team does not have.
    """
    agent_name = team.owner(owner)
    wanted, derived = entities.conversation, entities.derived
    said, origin = Said(is_relative=is_relative_value), Origin(MIGRATION, agent_name=agent_name)
    report: MergeReport = {"conversation": empty_report(), "derived": empty_report()}
    for key, value in legacy_rows(legacy).items():
        offer = Offer(value, canonical_json(value) or "")
        if namespace_of(key) == "derived":
            own = derived.agent_entities.setdefault(agent_name, {})
            if _is_new(own, key, offer, report["derived"]):
                derived.add(own, key, offer, origin, now=now)
        elif _is_new(wanted.entities, key, offer, report["conversation"]):
            wanted.add(wanted.entities, key, offer, said, now=now)
    if report["conversation"]["added"]:
        wanted.touch(now)
    if report["derived"]["added"]:
        derived.touch(now)
    return report


def _is_new(queue: Mapping[str, Entity], key: str, offer: Offer, report: EntityReport) -> bool:
    if key not in queue:
        report["added"].append(key)
    elif queue[key].canonical == offer.canonical:
        report["unchanged"].append(key)
    else:
        report["rejected"][key] = "newer"
    return key not in queue


def legacy_rows(legacy: Mapping[str, Any]) -> dict[str, Any]:
    """Return `legacy` under keys that may be stored, one for each of its own.

    Two old keys that mean the same stay apart unless their values are equal.
    """
    rows: dict[str, Any] = {}
    plain = {raw: plain_key(raw) or _made_key(raw) for raw in legacy}
    for raw in sorted(legacy, key=lambda raw: plain[raw] in ALIASES):
        own = plain[raw]
        key = ALIASES.get(own, own)
        if key in rows and canonical_json(rows[key]) != canonical_json(legacy[raw]):
            key = _free(own, rows)
        rows[key] = legacy[raw]
    order = {ALIASES.get(key, key): index for index, key in enumerate(plain.values())}
    return dict(sorted(rows.items(), key=lambda row: order.get(row[0], len(order))))


def _made_key(raw: str) -> str:
    text = _NO_KEY_CHARS.sub("_", raw.casefold()).strip("_")
    return (text if text[:1].isalpha() else f"key_{text}".rstrip("_"))[:_KEY_LIMIT_CHARS]


def _free(key: str, rows: Mapping[str, Any]) -> str:
    number, free = 2, key
    while free in rows:
        free = f"{key[: _KEY_LIMIT_CHARS - 6]}_{number}"
        number += 1
    return free
