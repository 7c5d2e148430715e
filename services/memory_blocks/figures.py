"""Every figure of the blocks, each by its written definition. Pure; nothing here is stored."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from data_models.chat_context import ChatContext, Turn
from data_models.memory_blocks import MemoryCounts

SessionStatus: TypeAlias = Literal["ACTIVE", "PAUSED", "ENDED"]
SURE = 0.7
"""From this confidence on an intent chooses who answers."""


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


def accuracy(counts: MemoryCounts) -> float:
    """Return the share of written key points that no person corrected or retired."""
    if counts.items_written == 0:
        return 1.0
    return round(max(0.0, 1 - counts.items_corrected / counts.items_written), 2)


def primary_agent(routing: Sequence[str]) -> str | None:
    """Return who had the last word most often of late; of equals the later one."""
    newest_first = list(dict.fromkeys(reversed(routing)))
    return max(newest_first, key=list(routing).count, default=None)


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
    last = context.memory.last_activity
    if last is None and context.chat_history:
        last = context.chat_history[-1].timestamp
    return "PAUSED" if last is None or now - last > idle else "ACTIVE"
