"""What the owner of a conversation changes outside any turn: papers, drafts, the memory."""

import asyncio
import hashlib
import mimetypes
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Final

from pydantic import BaseModel

from data_models.chat_context import Attachment, ChatContext
from data_models.errors import (
    AttachmentError,
    BadFrameError,
    MemoryChangedError,
    MessageTooLongError,
    ModelError,
    NotFoundError,
)
from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import read_if_whole
from services.attachments.papers import Whose, whose_paper
from services.audit.trail import record_access
from services.conversations.maintenance_lease import HeldDocument, MaintenanceLease
from services.identity.linking import SubjectLinker
from services.memory_blocks.blocks import MemoryRules, blocks_of
from services.memory_edits.operations import Operation, apply
from services.memory_edits.view import MemoryView, revision_of, view_of
from services.records.readers.reading import DocumentReader
from services.records.readers.result import ReadDocument
from services.tool_memory.personal import PersonalToolMemories
from services.views.conversation_reader import ConversationReader, OwnedChat

BYTES_LIMIT: Final = 20 * 1024 * 1024
PAPERS_LIMIT: Final = 20
NAME_LIMIT_CHARS: Final = 120
_FORMS = "PDF with a text layer, Word (.docx), RTF, HTML, Markdown, plain text and CDA are read"
_IMAGES: Final = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"WEBP", "webp"))
_RIFF_HEAD: Final = 8
"""Bytes of `RIFF` and a length, which a sound and a film begin with as well."""
BY_A_MODEL: Final = "a model wrote this down from an image: compare it with the image"
_OTHERS = (
    "This paper names another patient and not the one it was given for, so it was not kept. "
    "Please open that patient first, or check the file."
)
_NOT_SEEN = (
    "The model could not read that image. Please try again later, or give it as PDF with a text "
    "layer, as Word or as text."
)
_UNTYPED = frozenset({"", "application/octet-stream"})


@dataclass(frozen=True, slots=True)
class PaperRead:
    """What came of a file.

    Attributes:
        whose: Whose it is, as far as code can tell.
        attachment: Its row; None as long as the user has not said yes.
    """

    whose: Whose
    pages: int
    gap: str
    attachment: Attachment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentService:
    """Keeps papers of patients of the caller's own conversation. Holds nothing of any.

    Every method raises `NotFoundError` where the conversation is absent, malformed or not the
    owner's, or the patient is not in it, `ChartClosedError` where the chart is not open to them,
    and puts what it does on the audit trail first.
    """

    reader: ConversationReader
    lease: MaintenanceLease
    linker: SubjectLinker
    documents: DocumentReader
    read_image: Callable[[bytes, str], Awaitable[str | None]]

    async def add(
        self, chat: OwnedChat, *, file_name: str, media_type: str, data: bytes, is_confirmed: bool
    ) -> PaperRead:
        """Read a file, and keep it with the patient once the user has said yes.

        The same bytes are kept once, however often they are sent.

        Raises:
            AttachmentError: it cannot be read, is too much, or names another patient.
            ConversationBusyError: the running turn takes too long.
        """
        patient = await self.reader.enter_chart(chat, "add_attachment")
        if len(data) > BYTES_LIMIT:
            raise AttachmentError("That file is larger than 20 MB. Please give a smaller one.")
        found = await self._read(data, _media_type(media_type, file_name))
        if not found.text:
            reason = found.problem or "it holds no text"
            raise AttachmentError(f"That file cannot be read: {reason}. {_FORMS}.")
        whose = await whose_paper(found.text, patient, linker=self.linker)
        if whose == "other":
            raise AttachmentError(_OTHERS)
        pages, gap = max(1, len(found.pages)), found.problem
        if not is_confirmed:
            return PaperRead(whose, pages, gap, None)
        kept = "".join(one if one.isalnum() or one in " .-()_" else "_" for one in file_name)
        row = Attachment(
            attachment_id=f"att-{hashlib.blake2b(data, digest_size=5).hexdigest()}",
            file_name=" ".join(kept.split())[-NAME_LIMIT_CHARS:] or "paper",
            media_type=_media_type(media_type, file_name),
            size_bytes=len(data),
            pages=pages,
            gap=gap,
            added_at=self.reader.clock.now(),
            added_by=chat.owner,
        )
        async with self._holding(chat, patient) as held:
            rows = held.document.attachments
            known = next((one for one in rows if one.attachment_id == row.attachment_id), None)
            if known is None:
                await self._keep(held, row, data, found.text)
        return PaperRead(whose, pages, gap, known or row)

    async def all(self, chat: OwnedChat) -> list[Attachment]:
        """Return the papers of a patient, in the order in which they came."""
        return list((await self.reader.document(chat, "list_attachments")).attachments)

    async def open(self, chat: OwnedChat, attachment_id: str) -> tuple[Attachment, bytes]:
        """Return a paper as it was given.

        Raises:
            NotFoundError: also for a paper of another patient.
        """
        document = await self.reader.document(chat, "read_attachment")
        row = _held(document, attachment_id)
        contexts = self.reader.contexts
        return row, await contexts.file_bytes(chat.chat_id, document.patient_id, row.attachment_id)

    async def remove(self, chat: OwnedChat, attachment_id: str) -> None:
        """Take a paper away; what was said of it stays in the talk.

        Raises:
            NotFoundError: also for a paper of another patient.
            ConversationBusyError: the running turn takes too long.
        """
        patient = await self.reader.enter_chart(chat, "remove_attachment")
        async with self._holding(chat, patient) as held:
            document = held.document
            row = _held(document, attachment_id)
            document.attachments = [one for one in document.attachments if one is not row]
            await held.write()
            await asyncio.gather(
                *(
                    self.reader.contexts.delete_file(chat.chat_id, patient, one)
                    for one in (row.attachment_id, row.text_id)
                )
            )

    async def _read(self, data: bytes, media_type: str) -> ReadDocument:
        found = await self.documents.read(data, media_type)
        head = data[_RIFF_HEAD:] if data.startswith(b"RIFF") else data
        kind = next((name for mark, name in _IMAGES if head.startswith(mark)), None)
        if found.text or kind is None:
            return found
        try:
            text = await self.read_image(data, f"image/{kind}")
        except ModelError as error:
            raise AttachmentError(_NOT_SEEN) from error
        return (
            found
            if text is None
            else ReadDocument((text,), BY_A_MODEL if text else "it holds no text")
        )

    def _holding(
        self, chat: OwnedChat, patient: PatientId
    ) -> AbstractAsyncContextManager[HeldDocument]:
        contexts = self.reader.contexts
        return self.lease.holding_document(contexts, chat.chat_id, patient, principal_id=chat.owner)

    async def _keep(self, held: HeldDocument, row: Attachment, data: bytes, text: str) -> None:
        """Store the files, then the row: no row is without its files."""
        document = held.document
        if len(document.attachments) >= PAPERS_LIMIT:
            raise AttachmentError(
                f"{PAPERS_LIMIT} papers are kept with this patient. Please remove one first."
            )
        await asyncio.gather(
            *(
                self.reader.contexts.save_file(
                    document.conversation_id, document.patient_id, name, body
                )
                for name, body in ((row.attachment_id, data), (row.text_id, text.encode()))
            )
        )
        document.attachments = [*document.attachments, row]
        await held.write()


def _held(document: ChatContext, attachment_id: str) -> Attachment:
    for one in document.attachments:
        if one.attachment_id == attachment_id:
            return one
    raise NotFoundError("no such attachment")


def _media_type(given: str, file_name: str) -> str:
    """Return the type that the client names; where it knows none, that of the name's ending."""
    if given not in _UNTYPED:
        return given
    if file_name.lower().endswith((".md", ".markdown")):
        return "text/markdown"
    return mimetypes.guess_type(file_name)[0] or given


DRAFTS_FOLDER = "drafts"
KEPT_DAYS = 7
DRAFT_LIMIT_CHARS = 16_000
"""As long as a message."""


# `drafts/{hash of user}/{patient}.json` stands beside the conversations, in a folder of its own:
# whatever stands below `users/` is a conversation. It is kept for seven days at most.


class Draft(BaseModel):
    """Text that was not sent; "": there is none."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """Each user reads their own alone, and only while the patient's chart is open to them.

    Every method raises `NotFoundError` for a conversation that is absent or not the caller's and
    for a patient who is not in it, and `ChartClosedError` where the chart is closed to the caller.
    """

    reader: ConversationReader
    store: BlobStore

    async def read(self, chat: OwnedChat) -> Draft:
        """Return the draft about a patient; what is older than seven days is gone."""
        name = await self._name(chat)
        oldest, found = self.reader.clock.now() - timedelta(days=KEPT_DAYS), Draft(text="")
        async for row in self.store.list(_prefix(chat.owner)):
            if row.modified_at < oldest:
                await self.store.delete(row.name)
            elif row.name == name and (blob := await self.store.read(name)) is not None:
                # One that cannot be read is as good as none: nobody can send it.
                found = read_if_whole(blob.data, Draft) or found
        return found

    async def write(self, chat: OwnedChat, text: str) -> None:
        """Keep `text` in the place of the draft before; "" takes that away.

        Raises:
            MessageTooLongError: longer than a message can be.
        """
        name = await self._name(chat)
        if len(text) > DRAFT_LIMIT_CHARS:
            raise MessageTooLongError(limit_chars=DRAFT_LIMIT_CHARS)
        if text.strip():
            data = Draft(text=text).model_dump_json().encode()
            # Another device of the same user: who wrote last wins.
            await change_blob(self.store, name, lambda _: data, what="a draft")
        else:
            await self.store.delete(name)

    async def _name(self, chat: OwnedChat) -> str:
        if (patient := await self.reader.roster_member(chat)) is None:
            raise NotFoundError("a draft is about a patient")
        return f"{_prefix(chat.owner)}{patient}.json"


def _prefix(owner: str) -> str:
    return f"{DRAFTS_FOLDER}/{hashed(owner)}/"


@dataclass(frozen=True, kw_only=True)
class MemoryService:
    """Works for the owner of a conversation; everybody else gets the answer of an unknown id."""

    reader: ConversationReader
    personal: PersonalToolMemories
    lease: MaintenanceLease
    rules: MemoryRules = field(default_factory=MemoryRules)

    async def show(self, chat: OwnedChat) -> MemoryView:
        """Return the memory of a patient, the active one, or `session`.

        Raises:
            NotFoundError: absent, malformed or not the owner's, the patient too.
        """
        document = await self.reader.document(chat, "read_memory")
        await self.personal.open(document, principal_id=chat.owner)
        return self._view(document)

    async def change(
        self, chat: OwnedChat, *, operations: Sequence[Operation], revision: str
    ) -> MemoryView:
        """Apply all of `operations` or none, and return the memory as it is then.

        The conversation is held meanwhile: a running turn is waited for, and what comes during
        the change is answered after it.

        Raises:
            NotFoundError: absent, malformed or not the owner's, the patient too.
            MemoryChangedError: the memory is not as it was at `revision`.
            MemoryItemError, BadFrameError: an operation cannot be done.
            ConversationBusyError: the running turn takes too long.
        """
        if chat.patient_id is None:
            raise BadFrameError("patient_id is needed: whose memory is changed, or `session`")
        patient, owner = await self.reader.roster_member(chat), chat.owner
        # Names of what is done, no content.
        actions = dict.fromkeys(f"{one.op}_memory" for one in operations)
        await record_access(self.reader.guard.audit, chat.visitor, *actions, patient=patient)
        async with self.lease.holding_document(
            self.reader.contexts, chat.chat_id, patient, principal_id=owner
        ) as held:
            document = held.document
            await self.personal.open(document, principal_id=owner)
            if revision_of(document) != revision:
                raise MemoryChangedError("the memory changed since it was read")
            apply(document, operations, by=owner, now=self.reader.clock.now())
            if gone := document.memory_changes.leaving():
                await self.reader.contexts.archive_changes(document, gone)
            await held.claim.hold()
            await held.write(await self.personal.keep(document, principal_id=owner))
        return self._view(document)

    def _view(self, document: ChatContext) -> MemoryView:
        now = self.reader.clock.now()
        blocks = blocks_of(document, now=now, rules=self.rules)
        return view_of(document, now=now, summary=blocks.context_summary, blocks=asdict(blocks))
