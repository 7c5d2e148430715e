"""Reads conversations back for people: one door, and one answer for absent and not yours."""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from data_models import errors, patient_context_models
from data_models.chart_view import ChartView
from data_models.chat_context import Artifact, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.conversations.conversation import Conversation
from data_models.conversations.conversation_accessor import ConversationAccessor, OwnerIndex
from data_models.identifiers import PatientId, storable_patient_id
from services.audit.trail import Visitor
from services.chart_access.chart_guard import ChartGuard
from services.language.words.detection import language_of
from services.records.answers.whole_chart import in_own_words
from services.views import conversation_view

SESSION = "session"
PAGE_LIMIT_TURNS = 200
CHANNEL_OWNER = "bot:"
"""What the names of channels begin with that own conversations; no web user's does."""
_LISTED = 50
logger = structlog.get_logger()


class OwnedChat(NamedTuple):
    """What a verified caller asks for, as one who says that it is theirs.

    Attributes:
        patient_id: Of whom; None: of the active patient; `session`: of nobody.
    """

    chat_id: str
    owner: str
    patient_id: str | None = None

    @property
    def visitor(self) -> Visitor:
        """The owner as who comes to data of patients."""
        return Visitor(self.owner, self.chat_id)


@dataclass(frozen=True, kw_only=True)
class ConversationReader:
    """Everything about a conversation that is not a turn.

    Every method that takes a chat raises `NotFoundError` when its id is malformed, it is absent
    or somebody else's, and puts what it reads of a patient on the audit trail first. What a chart
    holds that is not open to who reads raises `ChartClosedError`.
    """

    conversations: ConversationAccessor
    registries: patient_context_models.PatientContextRegistryAccessor
    contexts: ChatContextAccessor
    owners: OwnerIndex
    clock: Clock
    ids: IdSource
    guard: ChartGuard

    async def create(self, *, owner: str) -> str:
        """Return an id that nobody can guess; its first message makes it `owner`'s conversation.

        Nothing is stored: who only looks leaves no empty conversation behind.
        """
        return self.ids.new_id("chat")

    async def list_of(self, *, owner: str) -> list[conversation_view.ConversationSummary]:
        """Return the owner's conversations, the last used first, 50 at most.

        One whose documents cannot be read is listed with its problem; it takes no other with it.
        """
        ids = (await self.owners.read(owner))[:_LISTED]
        found = await asyncio.gather(*(self._summarize(each, owner) for each in ids))
        return sorted(filter(None, found), key=lambda row: row.updated_at, reverse=True)

    async def _summarize(
        self, conversation_id: str, owner: str
    ) -> conversation_view.ConversationSummary | None:
        try:
            stored = await self.conversations.read(conversation_id, fresh=True)
            found = None if stored is None else stored.document
            if found is None or (found.owner, found.kind) != (owner, "talk"):
                return None
            registry = (await self._registry(found)).patient_registry
            shown = await self.guard.open_to(owner, registry)
            return conversation_view.ConversationSummary(
                chat_id=found.conversation_id,
                patient_ids=shown,
                patients=conversation_view.roster_rows(registry[one] for one in shown),
                created_at=found.created_at,
                updated_at=found.updated_at,
                epoch=found.epoch,
            )
        except errors.InvalidIdentifierError:
            return None  # an entry of the index that names nothing
        except (errors.CorruptDocumentError, errors.DocumentTooNewError) as error:
            logger.warning("conversation_unreadable", error=error.code, chat_id=conversation_id)
            now = self.clock.now()
            return conversation_view.ConversationSummary(
                chat_id=conversation_id,
                patient_ids=[],
                patients=[],
                created_at=now,
                updated_at=now,
                problem=error.code,
            )

    async def access(self, chat: OwnedChat, *, unclaimed_ok: bool = False) -> None:
        """Return if the owner may use the conversation: the one door.

        Raises:
            NotFoundError: malformed, absent (unless `unclaimed_ok`) or somebody else's.
        """
        conversation = await self._find(chat.chat_id)
        if not (conversation is None and unclaimed_ok):
            _check_owner(conversation, chat.owner)

    async def is_web_conversation(self, conversation_id: str) -> bool:
        """Whether there is such a conversation and no channel's bot began it.

        Raises:
            NotFoundError: malformed.
        """
        conversation = await self._find(conversation_id)
        return conversation is not None and not conversation.owner.startswith(CHANNEL_OWNER)

    async def view(self, chat: OwnedChat) -> conversation_view.ConversationView:
        """Return the conversation as it stands, without patients whose charts are closed."""
        conversation = await self._check_access(chat)
        registry = await self._registry(conversation)
        shown = await self.guard.open_to(chat.owner, registry.patient_registry)
        active = registry.active_patient_id if registry.active_patient_id in shown else None
        context = await self._context(conversation, active, chat.owner, "read_conversation")
        running = conversation.running_turn
        return conversation_view.ConversationView(
            chat_id=chat.chat_id,
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
            patient_id=active,
            patients=conversation_view.roster_rows(
                row for one, row in registry.patient_registry.items() if one in shown
            ),
            plan=context.plan,
            artifacts=context.artifacts,
            scenario=context.scenario.shown_place if context.scenario else None,
            question=conversation_view.question_row(
                conversation, self.clock.now(), principal=chat.owner, active=active
            ),
            running_turn=None
            if running is None
            else conversation_view.RunningRow(run_id=running.run_id, started_at=running.started_at),
            queued=conversation.inbox_tail - conversation.inbox_head,
            branched_from=conversation.branched_from,
        )

    async def progress(self, chat: OwnedChat) -> conversation_view.Progress:
        """Return what runs and what ended last: one small read, nothing of a patient."""
        conversation = await self._check_access(chat)
        running, answered = conversation.running_turn, conversation.answered
        return conversation_view.Progress(
            running_run_id=None if running is None else running.run_id,
            last_run_id=answered[-1].run_id if answered else None,
        )

    async def messages(
        self, chat: OwnedChat, *, before: int | None = None, limit: int = 50
    ) -> conversation_view.HistoryPage:
        """Return up to `limit` turns below turn `before`.

        Raises:
            NotFoundError: also for a patient that is not in the roster.
        """
        conversation, limit = await self._check_access(chat), min(limit, PAGE_LIMIT_TURNS)
        patient = await self._patient(conversation, chat.patient_id)
        context = await self._context(conversation, patient, chat.owner, "read_history")
        turns = [one for one in context.chat_history if before is None or one.turn_id < before]
        turns = turns[-limit:]
        if len(turns) < limit:
            first = turns[0].turn_id if turns else (before or context.next_turn_id)
            missing = limit - len(turns)
            older = await self.contexts.read_archived_turns(context, before=first, limit=missing)
            turns = older + turns
        whole = [await self.contexts.whole_turn(context, turn) for turn in turns]
        views = await asyncio.gather(*(self._views(context, turn) for turn in whole))
        rows = (await self._registry(conversation)).patient_registry
        return conversation_view.HistoryPage(
            patient_id=patient,
            turns=whole,
            next_before=whole[0].turn_id if whole and whole[0].turn_id > 1 else None,
            patient=patient_context_models.identity_noted(rows[patient].facts)
            if patient in rows
            else None,
            views={one.view_id: one for each in views for one in each},
            tools={one.turn_id: conversation_view.tool_rows(context, one) for one in whole},
        )

    async def artifact(
        self, chat: OwnedChat, artifact_id: str, *, reader: str | None = None
    ) -> tuple[Artifact, bytes]:
        """Return a file an agent made for this patient.

        Args:
            reader: The principal who gets it, where the owner is a channel's conversation.

        Raises:
            NotFoundError: also for a file of another patient.
            ChartClosedError: the patient's chart is not open to who reads.
        """
        conversation = await self._check_access(chat)
        patient = await self._patient(conversation, chat.patient_id)
        who = reader or chat.owner
        context = await self._context(conversation, patient, who, "read_artifact")
        held = [one for one in context.artifacts if one.artifact_id == artifact_id]
        if not held:
            raise errors.NotFoundError("no such artifact")
        return held[0], await self.contexts.file_bytes(chat.chat_id, patient, artifact_id)

    async def receipt(self, chat: OwnedChat, run_id: str) -> bytes:
        """Return the receipt of a turn, as stored."""
        return await self.contexts.receipt(await self.document(chat, "read_receipt"), run_id)

    async def document(self, chat: OwnedChat, action: str) -> ChatContext:
        """Return the document as it is stored; `action`: what the audit trail calls it."""
        conversation = await self._check_access(chat)
        patient = await self._patient(conversation, chat.patient_id)
        return await self._context(conversation, patient, chat.owner, action)

    async def roster_member(self, chat: OwnedChat) -> PatientId | None:
        """Return the patient checked against the roster; None for the session or nobody.

        Raises:
            NotFoundError: also for a patient that is not in the roster.
            ChartClosedError: the patient's chart is not open to the owner.
        """
        patient = await self._patient(await self._check_access(chat), chat.patient_id)
        await self.guard.enter(chat.visitor, patient)
        return patient

    async def enter_chart(self, chat: OwnedChat, action: str) -> PatientId:
        """Return a patient of the roster once the access is on record; the session has no chart.

        Raises:
            NotFoundError: also for a patient that is not in the roster, and for `session`.
            ChartClosedError: the patient's chart is not open to the owner.
        """
        patient = await self._patient(await self._check_access(chat), chat.patient_id)
        if patient is None:
            raise errors.NotFoundError("no such patient here")
        await self.guard.open_chart(chat.visitor, patient, action)
        return patient

    async def _views(self, context: ChatContext, turn: Turn) -> list[ChartView]:
        try:
            views = await self.contexts.views(context, turn)
        except errors.CorruptDocumentError as error:
            # What was said stays readable; each message names the rows that are missing with it.
            logger.warning("views_unreadable", error=error.code, turn_id=turn.turn_id)
            return []
        language = language_of(turn.user_message)
        return [in_own_words(view, language) for view in views]

    async def _check_access(self, chat: OwnedChat) -> Conversation:
        return _check_owner(await self._find(chat.chat_id), chat.owner)

    async def _find(self, conversation_id: str) -> Conversation | None:
        try:
            stored = await self.conversations.read(conversation_id, fresh=True)
        except errors.InvalidIdentifierError:
            raise errors.NotFoundError("no such conversation") from None
        return None if stored is None else stored.document

    async def _patient(self, conversation: Conversation, raw: str | None) -> PatientId | None:
        registry = await self._registry(conversation)
        if raw is None:
            return registry.active_patient_id
        if raw == SESSION:
            return None
        try:
            patient_id = storable_patient_id(raw)
        except errors.InvalidIdentifierError:
            raise errors.NotFoundError("no such patient here") from None
        if patient_id not in registry.patient_registry:
            raise errors.NotFoundError("no such patient here")
        return patient_id

    async def _registry(self, conversation: Conversation) -> patient_context_models.Registry:
        stored = await self.registries.read(
            conversation.conversation_id, epoch=conversation.epoch, fresh=True
        )
        return stored.document

    async def _context(
        self, conversation: Conversation, patient_id: PatientId | None, owner: str, action: str
    ) -> ChatContext:
        chat_id = conversation.conversation_id
        await self.guard.open_chart(Visitor(owner, chat_id), patient_id, action)
        stored = await self.contexts.read(chat_id, patient_id, epoch=conversation.epoch, fresh=True)
        return stored.document


def _check_owner(conversation: Conversation | None, owner: str) -> Conversation:
    if conversation is None or conversation.owner != owner:
        raise errors.NotFoundError("no such conversation")
    return conversation
