"""Adopts the single history of the reference implementation, once, as the session's."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.conversations.claim import Claim
from data_models.identifiers import ConversationLayout, timestamp
from data_models.storage.blob_store import BlobStore, put_blob
from services.memory_blocks.rotation import make_room

_RUN = "legacy_"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyHistory:
    """Reads `chat_context.json`, keeps it with the session, archives the original (spec page 1.1).

    It is never attributed to a patient: nobody can tell whom its messages were about.
    """

    store: BlobStore
    contexts: ChatContextAccessor

    async def adopt(self, claim: Claim, *, now: datetime) -> None:
        """Move a legacy history into the session's; does nothing where there is none.

        Repeating after a crash is safe: the session is written before the original goes.

        Raises:
            CorruptDocumentError: the legacy file is not of the known shape; it is left in place.
        """
        conversation_id = claim.conversation.conversation_id
        if not (messages := await self.contexts.read_legacy(conversation_id)):
            return
        session = await self.contexts.read(conversation_id, None, epoch=claim.epoch)
        if not any(turn.run_id.startswith(_RUN) for turn in session.document.chat_history):
            _fill(session.document, messages, now)
            await make_room(self.contexts, session.document)
            await self.contexts.write(session.document, etag=session.etag)
        layout = ConversationLayout.of(conversation_id)
        if (original := await self.store.read(layout.legacy)) is not None:
            # It may have been archived before a crash in the same second.
            target = layout.archived(layout.legacy, timestamp(now))
            await put_blob(self.store, target, original.data)
        await self.store.delete(layout.legacy)
        self.contexts.forget(conversation_id)


def _fill(session: ChatContext, messages: Sequence[tuple[str, str, str]], now: datetime) -> None:
    for role, name, text in messages:
        if role == "user":
            session.chat_history.append(_turn(session, text, now))
            continue
        if role == "system":
            continue
        if not session.chat_history:
            session.chat_history.append(_turn(session, "", now))
        turn = session.chat_history[-1]
        turn.agent_responses.append(
            AgentMessage(
                message_id=f"{_RUN}{turn.turn_id}_{len(turn.agent_responses)}",
                agent=name or "Agent",
                text=text,
                timestamp=now,
            )
        )


def _turn(session: ChatContext, text: str, now: datetime) -> Turn:
    number = session.next_turn_id
    session.next_turn_id += 1
    return Turn(
        turn_id=number,
        run_id=f"{_RUN}{number}",
        timestamp=now,
        user="",
        user_message=text,
        turn_status="COMPLETED",
    )
