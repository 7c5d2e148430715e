"""Files the entities of a legacy session: one object with everything, without order or owner."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from data_models.derived_entity import Origin
from data_models.entities import Entities
from data_models.entity_keys import ALIASES, namespace_of, plain_key
from data_models.entity_report import EntityReport, empty_report
from data_models.entity_values import canonical_json
from services.entities.circumstances import MergeReport
from services.entities.team import AgentNames
from services.language.relative_times import is_relative_value

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
    report: MergeReport = {"conversation": empty_report(), "derived": empty_report()}
    for key, value in legacy_rows(legacy).items():
        if namespace_of(key) == "derived":
            origin = Origin(tool=MIGRATION)
            is_new = entities.derived.file(agent_name, key, value, origin=origin, now=now)
            held = entities.derived.agent_entities[agent_name][key].canonical
            _note(report["derived"], key, is_new, held == canonical_json(value))
        else:
            is_new = entities.conversation.file(
                key, value, now=now, said_at=now if is_relative_value(value) else None
            )
            held = entities.conversation.entities[key].canonical
            _note(report["conversation"], key, is_new, held == canonical_json(value))
    if report["conversation"]["added"]:
        entities.conversation.changed(now)
    if report["derived"]["added"]:
        entities.derived.changed(now)
    return report


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


def _note(report: EntityReport, key: str, is_new: bool, is_equal: bool) -> None:
    if is_new:
        report["added"].append(key)
    elif is_equal:
        report["unchanged"].append(key)
    else:
        report["rejected"][key] = "newer"


def _made_key(raw: str) -> str:
    text = _NO_KEY_CHARS.sub("_", raw.casefold()).strip("_")
    return (text if text[:1].isalpha() else f"key_{text}".rstrip("_"))[:_KEY_LIMIT_CHARS]


def _free(key: str, rows: Mapping[str, Any]) -> str:
    number, free = 2, key
    while free in rows:
        free = f"{key[: _KEY_LIMIT_CHARS - 6]}_{number}"
        number += 1
    return free
