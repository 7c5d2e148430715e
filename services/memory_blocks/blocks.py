"""The four memory blocks of a document, made from it when somebody looks (spec page 4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from data_models.chat_context import ChatContext, Turn
from data_models.memory_blocks import Block, MemoryBlocks, MemoryCounts
from services.memory_blocks.history import (
    HISTORY_LIMIT_CHARS,
    SESSION_LIMIT_CHARS,
    SUMMARY_LIMIT_CHARS,
    context_summary,
    conversation_history,
    last_intent,
    last_updated,
    routing_of,
    session_id_of,
    size_chars,
    turn_row,
    utilization_percent,
)
from services.memory_blocks.limits import iso
from services.memory_blocks.rotation import KEEP_TURNS, ROTATE_ABOVE_TURNS, RotationRules

SessionStatus: TypeAlias = Literal["ACTIVE", "PAUSED", "ENDED"]
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
    intent, routing = last_intent(turns), routing_of(turns)
    newest_first = list(dict.fromkeys(reversed(routing)))
    return {
        "session_info": {
            "session_id": session_id_of(context),
            "user_id": memory.user_id,
            "start_time": _iso(memory.started_at),
            "last_activity": _iso(turns[-1].timestamp if turns else None),
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
            "primary_agent": max(newest_first, key=list(routing).count, default=None),
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
    ready = max(history / HISTORY_LIMIT_CHARS, len(turns) / ROTATE_ABOVE_TURNS)
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
                turns, history, above=rules.rotation.above_chars, most=ROTATE_ABOVE_TURNS
            ),
        },
        "performance_metrics": {
            "avg_context_generation_time": average_generation_seconds(memory.counts),
            "memory_update_success_rate": success_percent(memory.counts),
            "context_accuracy_score": accuracy(memory),
            "last_performance_check": _iso(last_updated(context)),
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


# Every figure of the blocks, each by its written definition; none is stored.


def continuity_of(turns: Sequence[Turn]) -> float:
    """Return the share of completed turns whose message was understood in context."""
    done = [turn for turn in turns if turn.turn_status == "COMPLETED"]
    understood = sum(turn.context_enrichment is not None for turn in done)
    return round(understood / len(done), 2) if done else 1.0


def average_response_seconds(turns: Sequence[Turn]) -> float:
    """Return the mean time from message to last answer, over the answered turns in the block."""
    times = [
        (turn.agent_responses[-1].timestamp - turn.timestamp).total_seconds()
        for turn in turns
        if turn.turn_status == "COMPLETED" and turn.agent_responses
    ]
    return round(max(0.0, sum(times) / len(times)), 2) if times else 0.0


def average_generation_seconds(counts: MemoryCounts) -> float:
    """Return the mean time that the last (at most 10) extractions took."""
    times = counts.generation_seconds
    return round(sum(times) / len(times), 4) if times else 0.0


def success_percent(counts: MemoryCounts) -> float:
    """Return the share of turns whose extraction neither failed nor came too late."""
    if counts.updates == 0:
        return 100.0
    return round((counts.updates - counts.failed_updates) / counts.updates * 100, 1)


def accuracy(memory: MemoryBlocks) -> float:
    """Return the share of the key points ever written that no person corrected or retired."""
    is_corrected = [one.source == "person" or one.status == "retired" for one in memory.key_points]
    written = max(memory.next_points - 1, len(is_corrected))
    return round(1 - sum(is_corrected) / written, 2) if written else 1.0


def turns_until_archival(turns: Sequence[Turn], size: int, *, above: int, most: int) -> int | None:
    """Return after how many turns of the present mean size turns are archived next."""
    if not turns:
        return None
    mean = max(1, size // len(turns))
    return max(0, min(most - len(turns), (above - size) // mean) + 1)


def status_of(
    context: ChatContext, *, now: datetime, idle: timedelta, epoch: int | None
) -> SessionStatus:
    """Return ENDED after a clear, PAUSED after the idle time, else ACTIVE.

    A clear raises the conversation's epoch, and what it archived keeps the one before.
    """
    if epoch is not None and context.epoch < epoch:
        return "ENDED"
    turns = context.chat_history
    return "ACTIVE" if turns and now - turns[-1].timestamp <= idle else "PAUSED"
