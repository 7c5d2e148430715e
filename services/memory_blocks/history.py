"""The block `conversation_history`: the document's newest turns under the seed's names."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.identifiers import storage_folder
from data_models.memory_blocks import RING, Block, IntentClassification
from services.memory_blocks.wording import iso

# How long a block is, and how long it may be: the one measure (spec page 4.1).

HISTORY_LIMIT_CHARS = 32_000
SESSION_LIMIT_CHARS = 4_000
SUMMARY_LIMIT_CHARS = 8_000


def size_chars(block: Any) -> int:
    """Return the length of a block, or of a part of one: of the text itself, or compact JSON."""
    return len(block if isinstance(block, str) else orjson.dumps(block).decode())


def utilization_percent(size: int, limit: int) -> float:
    """Return `size` in percent of `limit`, to one decimal."""
    return round(size / limit * 100, 1)


HEADER_CHARS = 400
"""The most that the block holds beside its turns."""
_PLAIN_ID_CHARS = 120


def session_id_of(context: ChatContext) -> str:
    """Return the id that all blocks of a document carry: the conversation's, if it is short."""
    plain = context.conversation_id
    short = len(plain) <= _PLAIN_ID_CHARS and plain.isascii() and plain.isprintable()
    return plain if short and '"' not in plain and "\\" not in plain else storage_folder(plain)


def turn_row(turn: Turn) -> dict[str, Any]:
    """Return a turn as the block holds it: one answer by itself, several as a list."""
    enriched, intent = turn.context_enrichment, turn.intent_classification
    row: dict[str, Any] = {
        "turn_id": turn.turn_id,
        "timestamp": iso(turn.timestamp),
        "user_message": {"content": turn.user_message, "message_id": turn.run_id},
        "context_enrichment": enriched
        and {
            "previous_context": enriched.previous_context,
            "enriched_message": enriched.enriched_message,
            "relevant_history": [*enriched.relevant_history],
        },
        "intent_classification": intent
        and {
            "intent": intent.intent,
            "confidence": intent.confidence,
            "reasoning": intent.reasoning,
        },
    }
    answers = [_answer(one) for one in turn.agent_responses]
    if len(answers) > 1:
        row["agent_responses"] = answers
    else:
        row["agent_response"] = answers[0] if answers else None
    row["turn_status"] = turn.turn_status
    return row


def last_intent(turns: Sequence[Turn]) -> IntentClassification | None:
    """Return how the newest turn was understood that was; a call for help is not."""
    read = (turn.intent_classification for turn in reversed(turns))
    return next((one for one in read if one is not None), None)


def routing_of(turns: Sequence[Turn]) -> list[str]:
    """Return who spoke last in each of the newest answered turns, at most 10."""
    return [turn.agent_responses[-1].agent for turn in turns if turn.agent_responses][-RING:]


def conversation_history(context: ChatContext) -> Block:
    """Return the block; `total_turns` counts the archived turns too."""
    updated = last_updated(context)
    return {
        "session_id": session_id_of(context),
        "turns": [turn_row(turn) for turn in context.chat_history],
        "total_turns": context.next_turn_id - 1,
        "last_updated": None if updated is None else iso(updated),
    }


def last_updated(context: ChatContext) -> datetime | None:
    """Return when the newest turn was answered, or came; None while there is none."""
    if not context.chat_history:
        return None
    last = context.chat_history[-1]
    return last.agent_responses[-1].timestamp if last.agent_responses else last.timestamp


def _answer(message: AgentMessage) -> dict[str, Any]:
    return {"agent_type": message.agent, "content": message.text, "response_id": message.message_id}
