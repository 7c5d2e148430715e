"""Repeats the stored answer of a message that was sent twice."""

from dataclasses import dataclass

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.conversations import turn_events
from data_models.conversations.conversation import AnsweredMessage
from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.errors import InterruptedTurnError, StoreError, user_message_of
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContextRegistryAccessor
from services.conversations.takeover import find_run
from services.runs.hub import Run, show_whole

_GONE_TEXT = "This message was already answered, and the conversation has been cleared since."


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """Turns what is stored of a turn back into its events."""

    contexts: ChatContextAccessor
    conversations: ConversationAccessor
    registries: PatientContextRegistryAccessor
    clock: Clock
    ids: IdSource
    facilitator: str

    async def repeat(self, run: Run, answered: AnsweredMessage) -> None:
        """Emit the stored turn's events into `run`, which has not begun.

        A store that fails ends it with that error.
        """
        run.emit(turn_events.RunStarted(answered.run_id, run.conversation_id))
        try:
            turn = await self._turn(run.conversation_id, answered)
            elsewhere = None if turn is None else await self._elsewhere(run, answered)
        except StoreError as error:
            run.emit(turn_events.RunFailed(error.code, error.user_message, answered.run_id))
            return
        if elsewhere is not None:
            run.emit(elsewhere)
        for message in turn.agent_responses if turn is not None else [self._gone()]:
            show_whole(run, message)
        if turn is not None and turn.turn_status == "FAILED":
            code = turn.error_code or InterruptedTurnError.code
            run.emit(turn_events.RunFailed(code, user_message_of(code), answered.run_id))
            return
        stopped = turn is not None and turn.turn_status == "STOPPED"
        run.emit(
            turn_events.RunFinished("cancelled" if stopped else "success", turn_events.TurnTiming())
        )

    async def _elsewhere(self, run: Run, answered: AnsweredMessage) -> turn_events.Notice | None:
        """Return what says whom a repeated answer is about, where another patient is active."""
        registry = await self.registries.read(run.conversation_id, epoch=answered.epoch, fresh=True)
        active = registry.document.active_patient_id
        if answered.patient_id is None or active == answered.patient_id:
            return None
        now = f"`{active}` is active now" if active else "no patient is active now"
        text = f"This repeats an earlier answer about `{answered.patient_id}`; {now}."
        return turn_events.Notice("repeated", text)

    async def _turn(self, conversation_id: str, answered: AnsweredMessage) -> Turn | None:
        stored = await self.conversations.read(conversation_id)
        if stored is None or stored.document.epoch != answered.epoch or answered.turn_id is None:
            return None
        patient_id = None if answered.patient_id is None else PatientId(answered.patient_id)
        context = (
            await self.contexts.read(conversation_id, patient_id, epoch=answered.epoch)
        ).document
        if (turn := find_run(context, answered.run_id)) is not None:
            return await self.contexts.whole_turn(context, turn)
        return await self._find_archived(context, answered.run_id, answered.turn_id)

    async def _find_archived(self, context: ChatContext, run_id: str, turn_id: int) -> Turn | None:
        turns = await self.contexts.read_archived_turns(context, before=turn_id + 1, limit=1)
        turn = next((turn for turn in turns if turn.run_id == run_id), None)
        return None if turn is None else await self.contexts.whole_turn(context, turn)

    def _gone(self) -> AgentMessage:
        return AgentMessage(
            message_id=self.ids.new_id("msg"),
            agent=self.facilitator,
            text=_GONE_TEXT,
            timestamp=self.clock.now(),
            made_by="rules",
        )
