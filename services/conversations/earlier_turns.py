"""What a message meets of before: a dead turn taken over, an answer repeated, an old history."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from data_models import errors
from data_models.chat_context import AgentMessage, ChatContext, Turn, advance, is_open
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.conversations import turn_events
from data_models.conversations.claim import Claim
from data_models.conversations.conversation import (
    AnsweredMessage,
    Conversation,
    Interruption,
    RunningTurn,
)
from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.identifiers import ConversationLayout, PatientId, timestamp
from data_models.patient_context_models import PatientContextRegistryAccessor
from data_models.storage.blob_store import BlobStore, put_blob
from services.memory_blocks.rotation import make_room
from services.runs.hub import Run, show_whole

INTERRUPTED = errors.InterruptedTurnError.code
_TRIES = 5


@dataclass(frozen=True, slots=True)
class TakenOver:
    """What became of the dead turn: where it is kept, and whether it had finished after all."""

    answered: AnsweredMessage
    interruption: Interruption | None


@dataclass(frozen=True, slots=True)
class _Kept:
    context: ChatContext
    turn: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """Fences a dead turn off by rewriting the documents it was going to write.

    Whatever the old holder writes next meets a newer version and is refused (spec page 7, R31).
    The caller has put the claim into its own name before, so that nobody else does the same.
    """

    contexts: ChatContextAccessor
    registries: PatientContextRegistryAccessor

    async def fence(
        self, conversation: Conversation, dead: RunningTurn, now: datetime
    ) -> TakenOver:
        """Rewrite what the claim names and store the user's message where it belongs.

        A message whose patient was not decided, or is not in the roster yet, goes to the session,
        which no model is shown while a patient is active.
        """
        self.contexts.forget(conversation.conversation_id)
        patient_id, kept = dead.patient_id, None
        if dead.decided and not await self._is_in_fenced_roster(conversation, patient_id):
            patient_id = None
        if patient_id is not None:
            kept = await self._take_patient(conversation, patient_id, dead)
        if kept is None:
            kept = await self._rewritten(conversation, None, dead, keep=True)
        if kept is None:
            raise errors.StoreUnavailableError("the message of a dead turn could not be kept")
        return _taken_over(conversation, dead, kept, now)

    async def fence_documents(self, conversation: Conversation, dead: RunningTurn) -> None:
        """Rewrite what a dead holder was about to write; its message, if any, is not kept here."""
        self.contexts.forget(conversation.conversation_id)
        await self._is_in_fenced_roster(conversation, dead.patient_id)
        with suppress(errors.CorruptDocumentError):  # nobody can write over that
            await self._rewritten(conversation, dead.patient_id, dead, keep=False)

    async def fence_again(
        self, conversation: Conversation, dead: RunningTurn, now: datetime
    ) -> AnsweredMessage | None:
        """Fence a dead turn off whose message is to be answered anew, unless it had ended.

        What it had stored of its answer is closed as interrupted: whoever answers goes on behind
        it and opens it again, unless the message is taken to be about somebody else then.

        Returns:
            Its answer, if it was stored whole and only never released: done again, whatever it
            did would be done twice.
        """
        self.contexts.forget(conversation.conversation_id)
        await self._is_in_fenced_roster(conversation, dead.patient_id)
        # Until a patient is decided, the turn may have ended with the session.
        places = [dead.patient_id] if dead.decided else [dead.patient_id, None]
        for patient_id in dict.fromkeys(places):
            with suppress(errors.CorruptDocumentError):  # nobody can write over that
                kept = await self._rewritten(conversation, patient_id, dead, keep=False)
                if kept is not None and not (
                    is_open(kept.turn) or kept.turn.error_code == INTERRUPTED
                ):
                    return _taken_over(conversation, dead, kept, now).answered
        return None

    async def _is_in_fenced_roster(
        self, conversation: Conversation, patient_id: PatientId | None
    ) -> bool:
        """Rewrite the registry too, which the dead turn may be about to write."""
        for _ in range(_TRIES):
            stored = await self.registries.read(
                conversation.conversation_id, epoch=conversation.epoch, fresh=True
            )
            try:
                await self.registries.write(stored.document, etag=stored.etag)
            except (errors.BlobChangedError, errors.BlobExistsError):
                continue  # the old holder is slow, not dead: look again
            return patient_id in stored.document.patient_registry
        raise errors.StoreUnavailableError("the registry changes too fast")

    async def _take_patient(
        self, conversation: Conversation, patient_id: PatientId, dead: RunningTurn
    ) -> _Kept | None:
        try:
            return await self._rewritten(conversation, patient_id, dead, keep=dead.decided)
        except errors.CorruptDocumentError:
            return None  # nobody can write over it, and the session takes the message

    async def _rewritten(
        self,
        conversation: Conversation,
        patient_id: PatientId | None,
        dead: RunningTurn,
        *,
        keep: bool,
    ) -> _Kept | None:
        """Raise the document's fence; return the dead turn if the document holds it now."""
        for _ in range(_TRIES):
            stored = await self.contexts.read(
                conversation.conversation_id, patient_id, epoch=conversation.epoch, fresh=True
            )
            context = stored.document
            context.fence += 1
            turn = _find_run(context, dead.run_id)
            if turn is None and keep:
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
            if turn is not None and is_open(turn):
                advance(turn, "FAILED", error_code=INTERRUPTED)
            await make_room(self.contexts, context)
            try:
                await self.contexts.write(context, etag=stored.etag)
            except (errors.BlobChangedError, errors.BlobExistsError):
                continue  # the old holder is slow, not dead: look again
            return None if turn is None else _Kept(context, turn)
        raise errors.StoreUnavailableError("the context document changes too fast")


def _find_run(context: ChatContext, run_id: str) -> Turn | None:
    """Return the turn of that run, if the document holds it."""
    return next((turn for turn in reversed(context.chat_history) if turn.run_id == run_id), None)


def _taken_over(
    conversation: Conversation, dead: RunningTurn, kept: _Kept, now: datetime
) -> TakenOver:
    context, turn = kept.context, kept.turn
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
    return TakenOver(answered, conversation.interrupted(dead, kept_with=context.patient_id))


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
        except errors.StoreError as error:
            run.emit(turn_events.RunFailed(error.code, error.user_message, answered.run_id))
            return
        if elsewhere is not None:
            run.emit(elsewhere)
        for message in turn.agent_responses if turn is not None else [self._gone()]:
            show_whole(run, message)
        if turn is not None and turn.turn_status == "FAILED":
            code = turn.error_code or errors.InterruptedTurnError.code
            run.emit(turn_events.RunFailed(code, errors.user_message_of(code), answered.run_id))
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
        stored_context = await self.contexts.read(conversation_id, patient_id, epoch=answered.epoch)
        context = stored_context.document
        if (turn := _find_run(context, answered.run_id)) is not None:
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
