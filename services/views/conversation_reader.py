"""Reads conversations back for people: one door, and one answer for absent and not yours."""

import asyncio

import structlog
from pydantic import AwareDatetime, BaseModel, Field

from data_models.chart_view import ChartView
from data_models.chat_context import Artifact, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.conversation import Conversation
from data_models.conversation_accessor import ConversationAccessor
from data_models.errors import CorruptDocumentError, InvalidIdentifierError, NotFoundError
from data_models.identifiers import PatientId, storable_patient_id
from data_models.patient_context_models import Registry
from data_models.patient_context_registry_accessor import PatientContextRegistryAccessor
from data_models.patient_identity import PatientIdentity, identity_noted
from data_models.plan import Plan
from data_models.scenario_session import ScenarioPlace
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.conversations.owner_index import OwnerIndex
from services.views.roster import RosterRow, roster_rows

SESSION = "session"
PAGE_LIMIT_TURNS = 200
CHANNEL_OWNER = "bot:"
"""What the names of channels begin with that own conversations; no web user's does."""
_LISTED = 50
logger = structlog.get_logger()


class ConversationSummary(BaseModel):
    """One row of the caller's list."""

    chat_id: str
    patient_ids: list[PatientId]
    created_at: AwareDatetime
    updated_at: AwareDatetime


class RunningRow(BaseModel):
    """The turn that runs now."""

    run_id: str
    started_at: AwareDatetime


class Progress(BaseModel):
    """What a second screen needs to know to catch up; ids only."""

    running_run_id: str | None
    last_run_id: str | None


class QuestionRow(BaseModel):
    """The question that waits for an answer."""

    id: str
    kind: str
    text: str


class ConversationView(BaseModel):
    """A conversation as it stands; its patients in the order in which they were first opened."""

    chat_id: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    patient_id: PatientId | None
    patients: list[RosterRow]
    plan: Plan | None
    artifacts: list[Artifact]
    scenario: ScenarioPlace | None = None
    question: QuestionRow | None
    running_turn: RunningRow | None
    queued: int


class HistoryPage(BaseModel):
    """Some turns of one patient, oldest first, with their whole texts.

    Attributes:
        views: Rows that were shown with their messages, by view; those that can be read.
    """

    patient_id: PatientId | None
    turns: list[Turn]
    next_before: int | None
    patient: PatientIdentity | None = None
    views: dict[str, ChartView] = Field(default_factory=dict)


class ConversationReader:
    """Everything about a conversation that is not a turn.

    Every method that takes a conversation id raises `NotFoundError` when it is malformed, absent
    or somebody else's, and puts what it reads of a patient on the audit trail first.
    """

    def __init__(
        self,
        *,
        conversations: ConversationAccessor,
        registries: PatientContextRegistryAccessor,
        contexts: ChatContextAccessor,
        owners: OwnerIndex,
        audit: Audit,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._conversations = conversations
        self._registries = registries
        self._contexts = contexts
        self._owners = owners
        self._audit = audit
        self._clock = clock
        self._ids = ids

    async def create(self, *, owner: str) -> str:
        """Make a conversation of `owner`'s and return its id, which nobody can guess."""
        now, conversation_id = self._clock.now(), self._ids.new_id("chat")
        await self._owners.add(owner, conversation_id)
        conversation = Conversation(
            conversation_id=conversation_id,
            owner=owner,
            channel="web",
            created_at=now,
            updated_at=now,
        )
        await self._conversations.write(conversation, etag=None)
        return conversation_id

    async def list_of(self, *, owner: str) -> list[ConversationSummary]:
        """Return the owner's conversations, the last used first, 50 at most."""
        ids = (await self._owners.of(owner))[:_LISTED]
        found = await asyncio.gather(*(self._conversations.read(each, fresh=True) for each in ids))
        owned = [each.document for each in found if each and each.document.owner == owner]
        rows = await asyncio.gather(*(self._summary(conversation) for conversation in owned))
        return sorted(rows, key=lambda row: row.updated_at, reverse=True)

    async def access(self, conversation_id: str, *, owner: str, unclaimed_ok: bool = False) -> None:
        """Return if `owner` may use the conversation: the one door.

        Raises:
            NotFoundError: malformed, absent (unless `unclaimed_ok`) or somebody else's.
        """
        conversation = await self._found(conversation_id)
        if conversation is None and unclaimed_ok:
            return
        if conversation is None or conversation.owner != owner:
            raise NotFoundError("no such conversation")

    async def is_web_conversation(self, conversation_id: str) -> bool:
        """Whether there is such a conversation and no channel's bot began it.

        Raises:
            NotFoundError: malformed.
        """
        conversation = await self._found(conversation_id)
        return conversation is not None and not conversation.owner.startswith(CHANNEL_OWNER)

    async def view(self, conversation_id: str, *, owner: str) -> ConversationView:
        """Return the conversation as it stands."""
        conversation = await self._accessed(conversation_id, owner)
        registry = await self._registry(conversation)
        active = registry.active_patient_id
        context = await self._context(conversation, active, owner, action="read_conversation")
        running = conversation.running_turn
        return ConversationView(
            chat_id=conversation_id,
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
            patient_id=active,
            patients=roster_rows(registry.patient_registry.values()),
            plan=context.plan,
            artifacts=context.artifacts,
            scenario=context.scenario.shown_place if context.scenario else None,
            question=self._question(conversation),
            running_turn=None
            if running is None
            else RunningRow(run_id=running.run_id, started_at=running.started_at),
            queued=conversation.inbox_tail - conversation.inbox_head,
        )

    async def progress(self, conversation_id: str, *, owner: str) -> Progress:
        """Return what runs and what ended last: one small read, nothing of a patient."""
        conversation = await self._accessed(conversation_id, owner)
        running, answered = conversation.running_turn, conversation.answered
        return Progress(
            running_run_id=None if running is None else running.run_id,
            last_run_id=answered[-1].run_id if answered else None,
        )

    async def messages(
        self,
        conversation_id: str,
        *,
        owner: str,
        patient_id: str | None,
        before: int | None = None,
        limit: int = 50,
    ) -> HistoryPage:
        """Return up to `limit` turns below turn `before`: of a patient, the active one, `session`.

        Raises:
            NotFoundError: also for a patient that is not in the roster.
        """
        conversation = await self._accessed(conversation_id, owner)
        patient = await self._patient(conversation, patient_id)
        context = await self._context(conversation, patient, owner, action="read_history")
        limit = min(limit, PAGE_LIMIT_TURNS)
        turns = [turn for turn in context.chat_history if before is None or turn.turn_id < before]
        turns = turns[-limit:]
        if len(turns) < limit:
            first = turns[0].turn_id if turns else (before or context.next_turn_id)
            missing = limit - len(turns)
            older = await self._contexts.archived_turns(context, before=first, limit=missing)
            turns = older + turns
        whole = [await self._contexts.whole_turn(context, turn) for turn in turns]
        more = bool(whole) and whole[0].turn_id > 1
        views = await asyncio.gather(*(self._views(context, turn) for turn in whole))
        rows = (await self._registry(conversation)).patient_registry
        return HistoryPage(
            patient_id=patient,
            turns=whole,
            next_before=whole[0].turn_id if more else None,
            patient=identity_noted(rows[patient].facts) if patient in rows else None,
            views={one.view_id: one for each in views for one in each},
        )

    async def artifact(
        self, conversation_id: str, *, owner: str, patient_id: str, artifact_id: str
    ) -> tuple[Artifact, bytes]:
        """Return a file an agent made for this patient.

        Raises:
            NotFoundError: also for a file of another patient.
        """
        conversation = await self._accessed(conversation_id, owner)
        patient = await self._patient(conversation, patient_id)
        context = await self._context(conversation, patient, owner, action="read_artifact")
        for artifact in context.artifacts:
            if artifact.artifact_id == artifact_id:
                data = await self._contexts.artifact_bytes(conversation_id, patient, artifact)
                return artifact, data
        raise NotFoundError("no such artifact")

    async def document(
        self, conversation_id: str, *, owner: str, patient_id: str | None, action: str
    ) -> ChatContext:
        """Return the document of a patient, the active one, or `session`, as it is stored.

        Args:
            action: What the audit trail calls it.
        """
        conversation = await self._accessed(conversation_id, owner)
        patient = await self._patient(conversation, patient_id)
        return await self._context(conversation, patient, owner, action=action)

    async def roster_member(
        self, conversation_id: str, *, owner: str, patient_id: str | None
    ) -> PatientId | None:
        """Return `patient_id` checked against the roster; None for the session or nobody."""
        return await self._patient(await self._accessed(conversation_id, owner), patient_id)

    async def _views(self, context: ChatContext, turn: Turn) -> list[ChartView]:
        try:
            return await self._contexts.views(context, turn)
        except CorruptDocumentError as error:
            # What was said stays readable; each message names the rows that are missing with it.
            logger.warning("views_unreadable", error=error.code, turn_id=turn.turn_id)
            return []

    def _question(self, conversation: Conversation) -> QuestionRow | None:
        question = conversation.open_question
        if question is None or not question.is_alive(
            epoch=conversation.epoch, now=self._clock.now()
        ):
            return None
        return QuestionRow(id=question.question_id, kind=question.kind, text=question.text)

    async def _summary(self, conversation: Conversation) -> ConversationSummary:
        registry = await self._registry(conversation)
        return ConversationSummary(
            chat_id=conversation.conversation_id,
            patient_ids=list(registry.patient_registry),
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
        )

    async def _accessed(self, conversation_id: str, owner: str) -> Conversation:
        conversation = await self._found(conversation_id)
        if conversation is None or conversation.owner != owner:
            raise NotFoundError("no such conversation")
        return conversation

    async def _found(self, conversation_id: str) -> Conversation | None:
        try:
            stored = await self._conversations.read(conversation_id, fresh=True)
        except InvalidIdentifierError:
            raise NotFoundError("no such conversation") from None
        return None if stored is None else stored.document

    async def _patient(self, conversation: Conversation, raw: str | None) -> PatientId | None:
        registry = await self._registry(conversation)
        if raw is None:
            return registry.active_patient_id
        if raw == SESSION:
            return None
        try:
            patient_id = storable_patient_id(raw)
        except InvalidIdentifierError:
            raise NotFoundError("no such patient here") from None
        if patient_id not in registry.patient_registry:
            raise NotFoundError("no such patient here")
        return patient_id

    async def _registry(self, conversation: Conversation) -> Registry:
        stored = await self._registries.read(
            conversation.conversation_id, epoch=conversation.epoch, fresh=True
        )
        return stored.document

    async def _context(
        self,
        conversation: Conversation,
        patient_id: PatientId | None,
        owner: str,
        *,
        action: str,
    ) -> ChatContext:
        await self._audit.record(
            AuditEntry(
                principal=owner,
                conversation=conversation.conversation_id,
                patient=patient_id,
                actions=(action,),
            )
        )
        stored = await self._contexts.read(
            conversation.conversation_id, patient_id, epoch=conversation.epoch, fresh=True
        )
        return stored.document
