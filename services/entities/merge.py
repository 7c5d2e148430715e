"""Applies deltas, tool results and hand-overs to a patient's entities (spec page 2.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict

from data_models.entities.derived_entities import AgentScopedDerivedEntitiesManager, Origin
from data_models.entities.entities import (
    ENTITIES_LIMIT_BYTES,
    ConversationEntitiesManager,
    Entities,
    Provenance,
    Said,
)
from data_models.entities.entity_queue import Entity, EntityReport, Terms, empty_report
from data_models.entities.entity_values import canonical_key
from data_models.errors import StaleEntitiesError
from services.entities.circumstances import MergeReport, Writing
from services.entities.delta import EntityDelta
from services.entities.repetition import DeltaWrite, as_repeated, is_repeated, remember
from services.language.requests.clock import is_relative_value


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
    if is_repeated(write):
        return as_repeated(_merge(replace(write, entities=entities.model_copy(deep=True))), write)
    report = _merge(write)
    remember(write, report)
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
    found = _merge_found(entities, agent_name, values, origin, writing)
    report: MergeReport = {"conversation": empty_report(), "derived": found}
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
    freed = {canonical_key(raw) for raw in delta.entities_to_remove}
    said = Said(write.source, is_relative_value)
    report = entities.conversation.apply_delta(
        delta.entities_to_update,
        now=now,
        said=said,
        terms=Terms(
            remove=delta.entities_to_remove,
            pinned=write.writing.pinned,
            is_taken=lambda key: entities.derived.holds_live(
                key, now=now, unless=write.agent_name if key in freed else None
            ),
        ),
    )
    for raw in delta.entities_to_remove:
        if canonical_key(raw) is None:
            report["rejected"][raw] = "key"
    if changed := {*report["added"], *report["updated"], *report["removed"], *said.renewed}:
        entities.derived.expire_dependents(changed, now=now)
    return report


def _merge_found(
    entities: Entities,
    agent_name: str,
    values: Mapping[str, Any],
    origin: Origin,
    writing: Writing,
    *,
    remove: Sequence[str] = (),
) -> EntityReport:
    terms = Terms(remove, writing.pinned, entities.conversation.entities.__contains__)
    return entities.derived.apply_delta(
        agent_name, values, now=writing.now, origin=origin, terms=terms
    )


# Keeps the entities of a patient within their share of the document (E8).


def _fit(entities: Entities, writing: Writing, report: MergeReport, agent_name: str | None) -> None:
    """Let go of the oldest until the part fits.

    First what was evicted before and could be restored, then what is expired, then the oldest;
    what was just written goes last, and what is pinned stays, whatever it costs.
    """
    if entities.stored_bytes() <= ENTITIES_LIMIT_BYTES:
        return
    halves = ((None, report["conversation"]), (agent_name, report["derived"]))
    written = {(owner, key) for owner, one in halves for key in (*one["added"], *one["updated"])}
    while entities.stored_bytes() > ENTITIES_LIMIT_BYTES:
        if entities.conversation.recently_evicted:
            del entities.conversation.recently_evicted[0]
            continue
        rows = [
            (((owner, key) in written, *_rank(owner, one, writing.now)), owner, key)
            for owner, queue in entities.queues()
            for key, one in queue.items()
            if key not in writing.pinned
        ]
        if not rows:
            return
        _, owner, key = min(rows, key=lambda row: row[0])
        if owner is None:
            entities.conversation.evict(key)
            report["conversation"]["evicted"].append(key)
            continue
        entities.derived.evict(owner, key)
        if owner == agent_name:
            report["derived"]["evicted"].append(key)


def _rank(owner: str | None, one: Entity, now: datetime) -> tuple[bool, datetime, bool, int]:
    return not one.is_expired(now), one.inserted_at, owner is None, one.seq
