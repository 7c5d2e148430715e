"""Keeps the entities of a patient within their share of the document (E8)."""

from collections.abc import Collection
from datetime import datetime

from data_models.conversation_entities import ConversationEntitiesManager
from data_models.derived_entities import AgentScopedDerivedEntitiesManager
from data_models.entities import ENTITIES_LIMIT_BYTES, Entities
from data_models.entity_queue import Entity

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
    while entities.size_bytes() > ENTITIES_LIMIT_BYTES:
        if _forget_evicted(entities):
            continue
        oldest = _oldest(entities, pinned, touched, now)
        if oldest is None:
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
