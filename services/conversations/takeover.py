"""Takes the conversation over from a turn that died, so that nothing it was told is lost."""

from dataclasses import dataclass
from datetime import datetime

from data_models.chat_context import ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.conversation import AnsweredMessage, Conversation, Interruption, RunningTurn
from data_models.documents import Stored
from data_models.errors import InterruptedTurnError

INTERRUPTED = InterruptedTurnError.code


@dataclass(frozen=True, slots=True)
class TakenOver:
    """What became of the dead turn: where it is kept, and whether it had finished after all."""

    answered: AnsweredMessage
    interruption: Interruption | None


class Takeover:
    """Fences a dead turn off by rewriting the document it was going to write.

    Whatever the old holder writes next meets a newer version and is refused (spec page 7, R31).
    """

    def __init__(self, *, contexts: ChatContextAccessor) -> None:
        self._contexts = contexts

    async def fence(
        self, conversation: Conversation, dead: RunningTurn, now: datetime
    ) -> TakenOver:
        """Rewrite the document the claim names and store the user's message where it belongs.

        A message whose patient was not decided goes to the session, which no model is shown
        while a patient is active.
        """
        self._contexts.forget(conversation.conversation_id)
        stored = await self._contexts.read(
            conversation.conversation_id, dead.patient_id, epoch=conversation.epoch
        )
        context = stored.document
        context.fence += 1
        turn = find_run(context, dead.run_id)
        if turn is None and (dead.decided or dead.patient_id is None):
            turn = _kept(context, dead)
        elsewhere = turn is None
        if turn is not None and turn.turn_status in ("PENDING", "IN_PROGRESS"):
            turn.turn_status, turn.error_code = "FAILED", INTERRUPTED
        await self._contexts.write(context, etag=stored.etag)
        if elsewhere or turn is None:
            context, turn = await self._keep_in_session(conversation, dead)
        return _taken_over(dead, context, turn, now)

    async def _keep_in_session(
        self, conversation: Conversation, dead: RunningTurn
    ) -> tuple[ChatContext, Turn]:
        stored: Stored[ChatContext] = await self._contexts.read(
            conversation.conversation_id, None, epoch=conversation.epoch
        )
        context = stored.document
        turn = find_run(context, dead.run_id)
        if turn is None:
            turn = _kept(context, dead)
            turn.turn_status, turn.error_code = "FAILED", INTERRUPTED
            await self._contexts.write(context, etag=stored.etag)
        return context, turn


def find_run(context: ChatContext, run_id: str) -> Turn | None:
    """Return the turn of that run, if the document holds it."""
    return next((turn for turn in reversed(context.chat_history) if turn.run_id == run_id), None)


def _kept(context: ChatContext, dead: RunningTurn) -> Turn:
    turn = Turn(
        turn_id=context.next_turn_id,
        run_id=dead.run_id,
        timestamp=dead.started_at,
        user=dead.message.sender.display_name,
        user_message=dead.message.text,
        turn_status="IN_PROGRESS",
    )
    context.next_turn_id += 1
    context.chat_history.append(turn)
    return turn


def _taken_over(dead: RunningTurn, context: ChatContext, turn: Turn, now: datetime) -> TakenOver:
    answered = AnsweredMessage(
        message_hash=dead.message.message_hash,
        run_id=dead.run_id,
        patient_id=context.patient_id,
        epoch=context.epoch,
        turn_id=turn.turn_id,
        answered_at=int(now.timestamp()),
    )
    if turn.error_code != INTERRUPTED:
        return TakenOver(answered, None)
    interruption = Interruption(
        run_id=dead.run_id, patient_id=context.patient_id, interrupted_at=dead.started_at
    )
    return TakenOver(answered, interruption)
