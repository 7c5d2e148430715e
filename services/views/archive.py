"""What clears put away, read and brought back by its owner alone; and branches (ADR 117)."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from pydantic import AwareDatetime, BaseModel

from data_models.chart_view import ChartView
from data_models.chat_context import ChatContext, Turn, is_open
from data_models.chat_context_accessor import ArchivedTurns, newest_turns, range_in
from data_models.conversations.conversation import BranchOrigin, Conversation
from data_models.conversations.incoming_message import WEB
from data_models.documents import parse_document
from data_models.errors import CorruptDocumentError, NotFoundError, NothingToUndoError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.patient_context_models import PatientContext, Registry, identity_noted
from data_models.storage.blob_store import BlobStore
from data_models.values import Document
from services.audit.trail import Visitor, record_access
from services.conversations.clearing import Clearing, manifest_rows
from services.conversations.maintenance_lease import MaintenanceLease
from services.memory_blocks.rotation import make_room
from services.views.conversation_reader import (
    PAGE_LIMIT_TURNS,
    SESSION,
    ConversationReader,
    OwnedChat,
)
from services.views.conversation_view import HistoryPage, RosterRow, roster_rows

DocumentT = TypeVar("DocumentT", bound=Document)
_LISTED_LIMIT = 50
_TIME = "%Y%m%dT%H%M%S"


class ArchivedTalk(BaseModel):
    """What one clear put away, and of whom: those whose charts are open to the owner."""

    archive_id: str
    cleared_at: AwareDatetime
    patients: list[RosterRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveReader:
    """Reads archives as they were written. Holds nothing of any conversation.

    Every method raises `NotFoundError` when the conversation is malformed, absent or somebody
    else's. What was erased since is not there. Nothing is upgraded in place: an undo compares an
    archive with what the clear had written.
    """

    reader: ConversationReader
    store: BlobStore

    async def talks(self, chat: OwnedChat) -> list[ArchivedTalk]:
        """Return what was cleared, the newest first, fifty at most."""
        await self.reader.access(chat)
        layout = ConversationLayout.of(chat.chat_id)
        prefix = layout.archive_prefix
        names = {row.name async for row in self.store.list(prefix)}
        ids = {name.removeprefix(prefix).partition("/")[0] for name in names}
        # What has no manifest was not archived to the end, and is still in the conversation.
        whole = [one for one in ids if layout.manifest(one) in names]
        newest = sorted(whole, key=_in_time, reverse=True)[:_LISTED_LIMIT]
        return await asyncio.gather(*(self._talk(chat, one) for one in newest))

    async def _talk(self, chat: OwnedChat, archive_id: str) -> ArchivedTalk:
        roster = await self._roster(chat, archive_id)
        shown = await self.reader.guard.open_to(chat.owner, roster.patient_registry)
        return ArchivedTalk(
            archive_id=archive_id,
            cleared_at=_in_time(archive_id)[0],
            patients=roster_rows(roster.patient_registry[one] for one in shown),
        )

    async def turns(
        self, chat: OwnedChat, archive_id: str, *, before: int | None, limit: int
    ) -> HistoryPage:
        """Return up to `limit` archived turns of a patient, or of nobody, below turn `before`.

        The rows that were shown beside an answer are not read back; each message names them.

        Raises:
            NotFoundError: also for an archive that is not there, or a patient who is not in it.
            ChartClosedError: the patient's chart is not open to the owner.
            CorruptDocumentError: what is archived cannot be read.
        """
        await self.reader.access(chat)
        layout = ConversationLayout.of(chat.chat_id)
        if not (rows := await manifest_rows(self.store, layout, archive_id)):
            raise NotFoundError("no such archive")
        roster = (await self._roster(chat, archive_id)).patient_registry
        patient = _patient_in(roster, chat.patient_id)
        await self.reader.guard.open_chart(chat.visitor, patient, "read_archive")
        context = await self._read(chat, layout.context(patient), archive_id, ChatContext)
        if context is None or context.patient_id != patient:
            raise NotFoundError("nothing of that patient is in this archive")
        limit = min(limit, PAGE_LIMIT_TURNS)
        blobs = [
            one.original for one in rows if one.original.startswith(layout.turns_prefix(patient))
        ]
        found = await newest_turns(
            {name: place for name in blobs if (place := range_in(name)) is not None},
            partial(self._older, chat, archive_id, context),
            held=context.chat_history,
            before=context.next_turn_id if before is None else before,
            most=limit + 1,  # one more tells whether there is another page
        )
        ids = sorted(found)
        page = ids[-limit:]
        return HistoryPage(
            patient_id=patient,
            turns=[found[number] for number in page],
            next_before=page[0] if len(page) < len(ids) else None,
            patient=identity_noted(roster[patient].facts) if patient else None,
        )

    async def _older(
        self, chat: OwnedChat, archive_id: str, context: ChatContext, name: str
    ) -> Sequence[Turn]:
        stored = await self._read(chat, name, archive_id, ArchivedTurns)
        # Turns of an earlier epoch were cleared before this.
        return [] if stored is None or stored.epoch != context.epoch else stored.turns

    async def _roster(self, chat: OwnedChat, archive_id: str) -> Registry:
        """Return who was in a conversation; an empty roster where nobody was."""
        name = ConversationLayout.of(chat.chat_id).registry
        found = await self._read(chat, name, archive_id, Registry)
        return found or Registry(conversation_id=chat.chat_id)

    async def _read(
        self, chat: OwnedChat, original: str, archive_id: str, model: type[DocumentT]
    ) -> DocumentT | None:
        layout = ConversationLayout.of(chat.chat_id)
        blob = await self.store.read(layout.archived(original, archive_id))
        if blob is None:
            return None
        return parse_document(blob.data, model, conversation_id=chat.chat_id)


def _patient_in(roster: Mapping[PatientId, object], raw: str | None) -> PatientId | None:
    if raw in (None, SESSION):
        return None
    for patient in roster:
        if patient == raw:
            return patient
    raise NotFoundError("no such patient in this archive")


def _in_time(archive_id: str) -> tuple[datetime, int]:
    """Return when an archive was made, and its place among those of one second."""
    when, _, number = archive_id.partition("-")
    return datetime.strptime(when, _TIME).replace(tzinfo=UTC), int(number or 1)


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


# What could be of later, or of anybody else, is not copied into a branch: see ADR 117.


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
        source = await self.reader.document(chat._replace(patient_id=patient), "branch_from")
        await self._copy_talk(branch_id, source, turns, page.views, before_turn=before_turn)
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
        self,
        branch_id: str,
        source: ChatContext,
        turns: list[Turn],
        views: dict[str, ChartView],
        *,
        before_turn: int,
    ) -> None:
        contexts = self.reader.contexts
        context = ChatContext(conversation_id=branch_id, patient_id=source.patient_id)
        for number, turn in enumerate(turns, 1):
            context.chat_history.append(_copied(turn, number, self.reader.ids.new_id("run")))
            names = [view.view_id for answer in turn.agent_responses for view in answer.views]
            shown = [views[name] for name in names if name in views]
            receipt = b""
            with suppress(NotFoundError, CorruptDocumentError):
                # Word for word: the audit trail has its hash, and it names the run that it is of.
                receipt = await contexts.receipt_of(source, turn)
            if shown or receipt:
                await contexts.save_runs(context, number, [], views=shown, receipt=receipt)
        context.next_turn_id = len(turns) + 1
        await self._copy_papers(source, context, before_turn=before_turn)
        if turns:
            await make_room(contexts, context)
        await contexts.write(context, etag=None)

    async def _copy_papers(
        self, source: ChatContext, branch: ChatContext, *, before_turn: int
    ) -> None:
        """Copy what was given before that turn began."""
        contexts = self.reader.contexts
        first_left = [turn for turn in source.chat_history if turn.turn_id == before_turn]
        if not first_left:
            older = await contexts.read_archived_turns(source, before=before_turn + 1, limit=1)
            first_left = [turn for turn in older if turn.turn_id == before_turn]
        for row in source.attachments:
            if any(row.added_at >= turn.timestamp for turn in first_left):
                continue
            for name in (row.attachment_id, row.text_id):
                with suppress(NotFoundError):  # readers say of a lost text that it is gone
                    data = await contexts.file_bytes(
                        source.conversation_id, source.patient_id, name
                    )
                    await contexts.save_file(branch.conversation_id, branch.patient_id, name, data)
            branch.attachments.append(row)

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
