"""The four memory blocks of a document, made from it when somebody looks (spec page 4.1)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from data_models.chat_context import ChatContext
from data_models.memory_blocks import Block
from services.memory_blocks.figures import (
    SessionStatus,
    accuracy,
    average_generation_seconds,
    average_response_seconds,
    continuity_of,
    primary_agent,
    status_of,
    success_percent,
    turns_until_archival,
)
from services.memory_blocks.history import (
    HISTORY_LIMIT_CHARS,
    SESSION_LIMIT_CHARS,
    SUMMARY_LIMIT_CHARS,
    conversation_history,
    session_id_of,
    size_chars,
    turn_row,
    utilization_percent,
)
from services.memory_blocks.rotation import KEEP_TURNS, RotationRules
from services.memory_blocks.summary import context_summary
from services.memory_blocks.wording import iso

_READY_SHARE = 0.7
_EMERGENCY_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """What the settings say of memory.

    Attributes:
        idle: A session is PAUSED after so long without a message.
        validation: Whether documents are checked when they are loaded and before they are written.
    """

    idle: timedelta = timedelta(minutes=30)
    rotation: RotationRules = field(default_factory=RotationRules)
    validation: bool = True


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks under the seed's names; JSON but for the summary, which is text."""

    conversation_history: Block
    active_session: Block
    context_summary: str
    memory_metadata: Block


def blocks_of(
    context: ChatContext, *, now: datetime, rules: MemoryRules, epoch: int | None = None
) -> Blocks:
    """Return the blocks of `context` as they stand at `now`.

    Args:
        epoch: The conversation's, if `context` may be a document that a clear has archived.
    """
    history = conversation_history(context)
    history_size = size_chars(history)
    status = status_of(context, now=now, idle=rules.idle, epoch=epoch)
    session = _active_session(context, history_size, status)
    summary = context_summary(context)
    sizes = (history_size, size_chars(session), size_chars(summary))
    return Blocks(history, session, summary, _metadata(context, sizes, rules))


def _active_session(context: ChatContext, history_size: int, status: SessionStatus) -> Block:
    memory, turns = context.memory, context.chat_history
    intent, routing = memory.last_intent, memory.routing_history
    return {
        "session_info": {
            "session_id": session_id_of(context),
            "user_id": memory.user_id,
            "start_time": _iso(memory.started_at),
            "last_activity": _iso(memory.last_activity),
            "status": status,
        },
        "conversation_state": {
            "current_turn": context.next_turn_id - 1,
            "active_topic": memory.active_topic,
            "last_agent": routing[-1] if routing else None,
            "conversation_phase": memory.conversation_phase,
            "topic_transitions": [
                {"turn": one.turn, "topic": one.topic, "trigger": one.trigger}
                for one in memory.topic_transitions
            ],
        },
        "agent_context": {
            "primary_agent": primary_agent(routing),
            "agent_confidence": None if intent is None else intent.confidence,
            "routing_history": routing,
            "last_intent": None if intent is None else intent.intent,
        },
        "session_metadata": {
            "total_exchanges": memory.counts.exchanges,
            "average_response_time": average_response_seconds(turns),
            "context_quality_score": continuity_of(turns),
            "memory_usage_percent": utilization_percent(history_size, HISTORY_LIMIT_CHARS),
        },
    }


def _metadata(context: ChatContext, sizes: tuple[int, int, int], rules: MemoryRules) -> Block:
    memory, turns = context.memory, context.chat_history
    history, session, summary = sizes
    newest = sum(size_chars(turn_row(turn)) for turn in turns[-KEEP_TURNS:])
    ready = max(history / HISTORY_LIMIT_CHARS, len(turns) / rules.rotation.above_turns)
    return {
        "memory_usage": {
            "conversation_history": {
                **_usage(history, HISTORY_LIMIT_CHARS),
                "turns_stored": len(turns),
                "last_cleanup": _iso(memory.last_archival),
            },
            "active_session": _usage(session, SESSION_LIMIT_CHARS),
            "context_summary": _usage(summary, SUMMARY_LIMIT_CHARS),
        },
        "archival_info": {
            "total_archived_turns": context.next_turn_id - 1 - len(turns),
            "last_archival": _iso(memory.last_archival),
            "archival_trigger_threshold": rules.rotation.above_chars,
            "next_archival_estimate": turns_until_archival(
                turns, history, above=rules.rotation.above_chars, most=rules.rotation.above_turns
            ),
        },
        "performance_metrics": {
            "avg_context_generation_time": average_generation_seconds(memory.counts),
            "memory_update_success_rate": success_percent(memory.counts),
            "context_accuracy_score": accuracy(memory.counts),
            "last_performance_check": _iso(memory.last_updated),
        },
        "system_flags": {
            "memory_rotation_enabled": rules.rotation.enabled,
            "archival_ready": ready >= _READY_SHARE,
            "context_validation_enabled": rules.validation,
            "emergency_mode": newest > _EMERGENCY_SHARE * HISTORY_LIMIT_CHARS,
        },
    }


def _usage(size: int, limit: int) -> Block:
    percent = utilization_percent(size, limit)
    return {"current_size": size, "limit": limit, "utilization_percent": percent}


def _iso(at: datetime | None) -> str | None:
    return None if at is None else iso(at)
