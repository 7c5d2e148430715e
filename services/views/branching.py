"""Branches a conversation before one of its questions: a new one with what was said until then.

What could be of later, or of anybody else, is not copied: see ADR 117.
"""

from dataclasses import dataclass

from data_models.chart_view import ChartView
from data_models.chat_context import ChatContext, Turn, is_open
from data_models.conversations.conversation import BranchOrigin, Conversation
from data_models.conversations.incoming_message import WEB
from data_models.errors import NotFoundError, NothingToUndoError
from data_models.identifiers import PatientId
from data_models.layout import ConversationLayout
from data_models.patient_context_models import PatientContext, Registry
from data_models.storage.blob_store import BlobStore
from services.audit.trail import Visitor, record_access
from services.conversations.clearing import Clearing
from services.conversations.maintenance_lease import MaintenanceLease
from services.conversations.room import make_room
from services.views.conversation_reader import PAGE_LIMIT_TURNS, ConversationReader, OwnedChat

# Undoes the last clear of a conversation by its owner's button on a page.


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoring:
    """Does what the word `undo` does, without a turn. Holds nothing of any conversation."""

    reader: ConversationReader
    clearing: Clearing
    lease: MaintenanceLease

    async def restore(self, chat: OwnedChat) -> int:
        """Bring back what was cleared and return of how many documents.

        What was said since is archived, and comes back by another undo.

        Raises:
            NotFoundError: absent, malformed or not the owner's.
            NothingToUndoError: the owner cleared nothing in the last 24 hours.
            ConversationBusyError: the running turn takes too long.
            CorruptDocumentError: the archive was changed; nothing is.
        """
        await self.reader.access(chat)
        async with self.lease.holding(chat.chat_id, principal_id=chat.owner) as claim:
            await self.clearing.finish(claim)
            now = self.reader.clock.now()
            if (last := claim.conversation.undoable_clear(chat.owner, now=now)) is None:
                raise NothingToUndoError("no clear of the caller's, or an old one")
            await record_access(self.reader.guard.audit, chat.visitor, "undo_clear")
            # No turn shows how far it is.
            return await self.clearing.undo(claim, last, now=now, tell=lambda *_: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Branching:
    """Makes branches of the caller's own conversations. Holds nothing of any."""

    reader: ConversationReader
    store: BlobStore

    async def branch(self, chat: OwnedChat, *, before_turn: int) -> str:
        """Return the id of a new conversation with a patient's turns below `before_turn`.

        Of very many turns the newest two hundred are copied. The old conversation stays as it is.

        Raises:
            NotFoundError: absent, malformed or not the owner's, or without that patient.
            ChartClosedError: the patient's chart is not open to the owner.
            AuditUnavailableError: it is not on record, so it does not happen.
        """
        page = await self.reader.messages(chat, before=before_turn, limit=PAGE_LIMIT_TURNS)
        if (patient := page.patient_id) is None:
            raise NotFoundError("a branch is about a patient")
        row = await self._row(chat.chat_id, patient)
        branch_id = self.reader.ids.new_id("chat")
        for one, action in ((chat.chat_id, "branch"), (branch_id, "begin_branch")):
            await record_access(
                self.reader.guard.audit, Visitor(chat.owner, one), action, patient=patient
            )
        await self.reader.owners.add(chat.owner, branch_id)
        turns = [turn for turn in page.turns if not is_open(turn)]
        await self._copy_talk(branch_id, patient, turns, page.views)
        await self._open(branch_id, row)
        origin = BranchOrigin(conversation_id=chat.chat_id, before_turn=before_turn)
        # The conversation's own document comes last: before that nobody finds the others.
        now = self.reader.clock.now()
        conversation = Conversation(
            conversation_id=branch_id,
            owner=chat.owner,
            channel=WEB,
            created_at=now,
            updated_at=now,
            branched_from=origin,
        )
        await self.reader.conversations.write(conversation, etag=None)
        # A patient who was forgotten or cleared meanwhile takes the copy along.
        try:
            await self._row(chat.chat_id, patient)
        except NotFoundError:
            prefix = ConversationLayout.of(branch_id).prefix
            for name in [row.name async for row in self.store.list(prefix)]:
                await self.store.delete(name)
            self.reader.contexts.forget(branch_id)
            raise
        return branch_id

    async def _row(self, conversation_id: str, patient: PatientId) -> PatientContext:
        """Return the patient's row of the roster as it is now.

        Raises:
            NotFoundError: there is none: cleared or forgotten.
        """
        stored = await self.reader.conversations.read(conversation_id, fresh=True)
        if stored is None:
            raise NotFoundError("no such conversation")
        registry = await self.reader.registries.read(
            conversation_id, epoch=stored.document.epoch, fresh=True
        )
        if patient not in registry.document.patient_registry:
            raise NotFoundError("no such patient here")
        return registry.document.patient_registry[patient]

    async def _copy_talk(
        self, branch_id: str, patient: PatientId, turns: list[Turn], views: dict[str, ChartView]
    ) -> None:
        context = ChatContext(conversation_id=branch_id, patient_id=patient)
        for number, turn in enumerate(turns, 1):
            context.chat_history.append(_copied(turn, number, self.reader.ids.new_id("run")))
            names = [view.view_id for answer in turn.agent_responses for view in answer.views]
            shown = [views[name] for name in names if name in views]
            if shown:
                await self.reader.contexts.save_runs(context, number, [], views=shown)
        context.next_turn_id = len(turns) + 1
        if turns:
            await make_room(self.reader.contexts, context)
        await self.reader.contexts.write(context, etag=None)

    async def _open(self, branch_id: str, row: PatientContext) -> None:
        now, patient = self.reader.clock.now(), row.patient_id
        opened = PatientContext(
            patient_id=patient,
            facts=row.facts,
            conversation_id=branch_id,
            created_at=now,
            updated_at=now,
        )
        registry = Registry(
            conversation_id=branch_id, active_patient_id=patient, patient_registry={patient: opened}
        )
        await self.reader.registries.write(registry, etag=None)


def _copied(turn: Turn, turn_id: int, run_id: str) -> Turn:
    """Return what was said in a turn as another conversation's, without what led on from it."""
    answers = [
        one.model_copy(update={"plan_id": None, "plan_step": None, "shortened_from_chars": None})
        for one in turn.agent_responses
    ]
    changes = {
        "turn_id": turn_id,
        "run_id": run_id,
        "agent_responses": answers,
        "shortened_from_chars": None,
        "context_enrichment": None,
        "intent_classification": None,
    }
    return turn.model_copy(update=changes)
