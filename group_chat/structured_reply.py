"""Agents of older prompts say in JSON what changed, as their whole message (spec page 2.3)."""

import re
from contextlib import suppress

from data_models.errors import ToolInputError
from group_chat.turn_context import TurnContext
from services.turn.entities import eviction_notice

_MARKS = ("{", "```")
_SPEAKS = re.compile(
    r'"(?:entities|entities_to_update|derived_entities_to_update|entities_to_remove|handover)"\s*:'
)


def note_structured_reply(turn: TurnContext, *, agent: str, text: str) -> None:
    """Apply the changes that `text` holds as JSON, if the deployment has agents of older prompts.

    Otherwise nothing that an agent writes is a change: it may quote a mail or a record. What is
    malformed or does not fit is counted, and changes nothing either.
    """
    entities = turn.request.entities
    if entities is None or not entities.reads_legacy or not _is_structured(text):
        return
    with suppress(ToolInputError):
        entities.replied(text, agent_name=agent)
    notice = eviction_notice(entities)
    if notice is not None:
        turn.emit(notice)


def _is_structured(text: str) -> bool:
    begins = text.lstrip().startswith(_MARKS) or "\n```" in text
    return begins and _SPEAKS.search(text) is not None
