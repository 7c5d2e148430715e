"""Applies deltas, tool results and hand-overs to a patient's entities (spec page 2.2)."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict

from data_models.entities.conversation_entities import ConversationEntitiesManager, Provenance
from data_models.entities.derived_entities import AgentScopedDerivedEntitiesManager, Origin
from data_models.entities.entities import ENTITIES_LIMIT_BYTES, Entities
from data_models.entities.entity_queue import Entity, EntityReport, empty_report
from data_models.entities.entity_values import canonical_key
from data_models.errors import StaleEntitiesError
from services.entities.circumstances import AgentNames, MergeReport, Writing
from services.entities.delta import EntityDelta
from services.entities.repetition import DeltaWrite, Repetition
from services.language.requests.clock import is_relative_value

# Keeps the entities of a patient within their share of the document (E8).

# More than the fields of one entity take as JSON, its value, key, origin and dependencies aside.
_FRAME_BYTES = 420
_MANAGERS_BYTES = 800
Gone = tuple[str | None, str]
"""Agent, or None for the conversation, and key."""


def make_fit(
    entities: Entities, *, pinned: Collection[str], touched: Collection[Gone], now: datetime
) -> list[Gone]:
    """Let go of the oldest until the part fits, and say who went.

    First what was evicted before and could be restored, then what is expired, then the oldest;
    what was just written goes last, and what is pinned stays, whatever it costs.
    """
    gone: list[Gone] = []
    while entities.stored_bytes() > ENTITIES_LIMIT_BYTES:
        if _forget_evicted(entities):
            continue
        if (oldest := _oldest(entities, pinned, touched, now)) is None:
            break
        agent_name, key = oldest
        if agent_name is None:
            entities.conversation.evict(key)
        else:
            entities.derived.evict(agent_name, key)
        gone.append(oldest)
    return gone


def surely_fits(entities: Entities) -> bool:
    """Tell without writing any JSON whether the part is within its share; mostly it is."""
    return _upper_bound(entities) <= ENTITIES_LIMIT_BYTES


def _upper_bound(entities: Entities) -> int:
    """Return a size that is never below the real one, without writing any JSON."""
    rows = _all(entities.conversation, entities.derived)
    total = _MANAGERS_BYTES + _FRAME_BYTES * len(rows)
    for one in rows:
        text = one.cached or one.canonical
        total += len(text) if text.isascii() else 4 * len(text)
        total += one.extra_bytes() + 2 * len(one.key)
    return total


def _all(
    conversation: ConversationEntitiesManager, derived: AgentScopedDerivedEntitiesManager
) -> list[Entity]:
    rows: list[Entity] = [*conversation.entities.values(), *conversation.recently_evicted]
    rows += derived.recently_evicted
    for queue in derived.agent_entities.values():
        rows += queue.values()
    return rows


def _forget_evicted(entities: Entities) -> bool:
    """Drop the older of the oldest evicted entities; False if there is none."""
    wanted, found = entities.conversation.recently_evicted, entities.derived.recently_evicted
    if not wanted and not found:
        return False
    if not found or (wanted and wanted[0].inserted_at <= found[0].inserted_at):
        del wanted[0]
    else:
        del found[0]
    return True


def _oldest(
    entities: Entities, pinned: Collection[str], touched: Collection[Gone], now: datetime
) -> Gone | None:
    """Return who leaves first: the untouched, of those the expired, of those the oldest."""
    rows: list[tuple[tuple[bool, bool, datetime, bool, int], Gone]] = []
    for key, wanted in entities.conversation.entities.items():
        rank = ((None, key) in touched, True, wanted.inserted_at, True, wanted.seq)
        rows.append((rank, (None, key)))
    for agent_name, queue in entities.derived.agent_entities.items():
        for key, found in queue.items():
            place = (agent_name, key)
            is_live = not found.is_expired(now)
            rows.append((((place in touched), is_live, found.inserted_at, False, found.seq), place))
    movable = [row for row in rows if row[1][1] not in pinned]
    return min(movable, key=lambda row: row[0])[1] if movable else None


class AgentEntityContext(TypedDict):
    """What one agent is shown, oldest first."""

    entities: dict[str, Any]
    derived_entities: dict[str, Any]


def merge_entity_delta(
    entities: Entities,
    delta: EntityDelta,
    *,
    agent_name: str | None,
    writing: Writing,
    source: Provenance = "inferred",
) -> MergeReport:
    """Apply what a model sent; checked whole before anything changes.

    Args:
        agent_name: Who sent it; None for the server's own reading of the user's message.
        source: How the conversation part is known.

    Raises:
        UnknownAgentError: `agent_name`, or the agent of a hand-over, is not in the team.
        StaleEntitiesError: somebody wrote since the writer read.
    """
    speaks_derived = bool(delta.derived_entities_to_update or delta.handover)
    if agent_name is not None or speaks_derived:
        agent_name = writing.team.checked(agent_name)
    if delta.handover:
        writing.team.checked(delta.handover_to)
    _check_revision(entities, delta, writing)
    write = DeltaWrite(entities, delta, agent_name, source, writing)
    repeated = Repetition(write=write)
    if repeated.is_one:
        copy = entities.model_copy(deep=True)
        return repeated.report_of(_merge(replace(write, entities=copy)))
    report = _merge(write)
    repeated.remember(report)
    return report


def store_tool_result(
    entities: Entities,
    values: Mapping[str, Any],
    *,
    agent_name: str,
    origin: Origin,
    writing: Writing,
) -> MergeReport:
    """Store what a tool found under the agent that asked for it.

    Raises:
        UnknownAgentError: the agent is not in the team.
        StaleEntitiesError: somebody wrote since the writer read.
    """
    agent_name = writing.team.checked(agent_name)
    if writing.expected_revision not in (None, entities.derived.revision):
        raise StaleEntitiesError("the entities changed since they were read")
    entities.last_delta = ""
    report: MergeReport = {
        "conversation": empty_report(),
        "derived": _merge_found(entities, agent_name, values, origin, writing),
    }
    _fit(entities, writing, report, agent_name)
    return report


def get_agent_entity_context(
    conversation: ConversationEntitiesManager,
    derived: AgentScopedDerivedEntitiesManager,
    *,
    agent_name: str,
    now: datetime,
) -> AgentEntityContext:
    """Return copies of what `agent_name` may see: all that the user wants, and its own finds."""
    return {
        "entities": conversation.get_all(),
        "derived_entities": derived.get_for_agent(agent_name, now=now),
    }


def clear_agent(
    entities: Entities, agent_name: str, *, team: AgentNames, now: datetime
) -> MergeReport:
    """Drop everything that tools found for one agent.

    Raises:
        UnknownAgentError: the agent is not in the team.
    """
    removed = entities.derived.clear_agent(team.checked(agent_name), now=now)
    return {"conversation": empty_report(), "derived": {**empty_report(), "removed": removed}}


def _merge(write: DeltaWrite) -> MergeReport:
    entities, delta, agent_name = write.entities, write.delta, write.agent_name
    report: MergeReport = {"conversation": _merge_wanted(write), "derived": empty_report()}
    if agent_name is not None:
        values, remove = delta.derived_entities_to_update, delta.entities_to_remove
        report["derived"] = _merge_found(
            entities, agent_name, values, Origin(), write.writing, remove=remove
        )
    for key in report["conversation"]["added"]:
        entities.derived.forget(key)
    if agent_name is not None and delta.handover_to is not None:
        known = [canonical_key(raw) or raw for raw in delta.handover]
        now = write.writing.now
        copied = entities.derived.hand_over(agent_name, delta.handover_to, known, now=now)
        report["derived"]["rejected"].update(copied["rejected"])
    _fit(entities, write.writing, report, agent_name)
    return report


def _check_revision(entities: Entities, delta: EntityDelta, writing: Writing) -> None:
    """Refuse what was written against an older state.

    What tools found meanwhile does not make the user's wishes stale; a conclusion rests on both.
    """
    if (expected := writing.expected_revision) is None:
        return
    current = entities.conversation.revision
    if not delta.entities_to_update and not delta.entities_to_remove:
        current = max(current, entities.derived.revision)
    if expected != current:
        raise StaleEntitiesError("the entities changed since they were read")


def _merge_wanted(write: DeltaWrite) -> EntityReport:
    entities, delta, now = write.entities, write.delta, write.writing.now
    freed = {canonical_key(raw) for raw in delta.entities_to_remove} if write.agent_name else set()
    taken = entities.derived.live_keys(now=now)
    report = entities.conversation.apply_delta(
        delta.entities_to_update,
        now=now,
        remove=delta.entities_to_remove,
        provenance=write.source,
        pinned=write.writing.pinned,
        is_taken=lambda key: (
            entities.derived.holds_live(key, now=now, unless=write.agent_name)
            if key in freed
            else key in taken
        ),
        is_relative=is_relative_value,
    )
    for raw in delta.entities_to_remove:
        if canonical_key(raw) is None:
            report["rejected"][raw] = "key"
    changed = {*report["added"], *report["updated"], *report["removed"]}
    changed.update(entities.conversation.renewed)
    if changed:
        entities.derived.expire_dependents(changed, now=now)
    return report


def _merge_found(
    entities: Entities,
    agent_name: str,
    values: Mapping[str, Any],
    origin: Origin,
    writing: Writing,
    *,
    remove: Collection[str] = (),
) -> EntityReport:
    return entities.derived.apply_delta(
        agent_name,
        values,
        now=writing.now,
        origin=origin,
        remove=list(remove),
        pinned=writing.pinned,
        is_taken=lambda key: key in entities.conversation.entities,
    )


def _fit(entities: Entities, writing: Writing, report: MergeReport, agent_name: str | None) -> None:
    if surely_fits(entities):
        return
    written: list[tuple[str | None, str]] = []
    for kind in ("added", "updated"):
        written += [(None, key) for key in report["conversation"][kind]]
        written += [(agent_name, key) for key in report["derived"][kind]]
    for owner, key in make_fit(
        entities, pinned=writing.pinned, touched=frozenset(written), now=writing.now
    ):
        if owner is None:
            report["conversation"]["evicted"].append(key)
        elif owner == agent_name:
            report["derived"]["evicted"].append(key)
