"""Reads what clears put away for the owner alone; no agent and no prompt sees it (page 14)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import AwareDatetime, BaseModel

from data_models.chat_context import ChatContext, Turn
from data_models.chat_context_accessor import ArchivedTurns
from data_models.document import Document
from data_models.documents import parse_document
from data_models.errors import NotFoundError
from data_models.identifiers import PatientId
from data_models.layout import ConversationLayout
from data_models.patient_context_models import Registry, identity_noted
from data_models.storage.blob_store import BlobStore
from services.conversations.clearing import manifest_rows, run_in_parallel
from services.views.conversation_reader import (
    PAGE_LIMIT_TURNS,
    SESSION,
    ConversationReader,
    OwnedChat,
)
from services.views.conversation_view import HistoryPage, RosterRow, roster_rows

DocumentT = TypeVar("DocumentT", bound=Document)
LISTED_LIMIT = 50
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
        newest = sorted(whole, key=_in_time, reverse=True)[:LISTED_LIMIT]
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
        older = layout.turns_prefix(patient)
        files = [row.original for row in rows if row.original.startswith(older)]
        found = await self._whole_turns(chat, context, files, archive_id)
        ids = sorted(number for number in found if before is None or number < before)
        page = ids[-min(limit, PAGE_LIMIT_TURNS) :]
        return HistoryPage(
            patient_id=patient,
            turns=[found[number] for number in page],
            next_before=page[0] if len(page) < len(ids) else None,
            patient=identity_noted(roster[patient].facts) if patient else None,
        )

    async def _whole_turns(
        self, chat: OwnedChat, context: ChatContext, files: Sequence[str], archive_id: str
    ) -> dict[int, Turn]:
        """Return all turns by their numbers, with the whole text of those that were shortened."""
        found = {turn.turn_id: turn for turn in context.chat_history}
        read = [self._read(chat, name, archive_id, ArchivedTurns) for name in files]
        for stored in await run_in_parallel(read):
            # Turns of an earlier epoch were cleared before this.
            if stored is not None and stored.epoch == context.epoch:
                found |= {one.turn_id: one for one in stored.turns if _is_wanted(found, one)}
        return found

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


def _is_wanted(found: Mapping[int, Turn], turn: Turn) -> bool:
    """Whether an older turn is new, or the whole text of one that the document has shortened."""
    held = found.get(turn.turn_id)
    return held is None or (held.is_shortened and held.run_id == turn.run_id)


def _in_time(archive_id: str) -> tuple[datetime, int]:
    """Return when an archive was made, and its place among those of one second."""
    when, _, number = archive_id.partition("-")
    return datetime.strptime(when, _TIME).replace(tzinfo=UTC), int(number or 1)
