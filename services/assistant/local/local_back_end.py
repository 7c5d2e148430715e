"""The back end without a server: files of our own, in the store that conversations are in."""

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date, datetime, tzinfo
from email.message import EmailMessage
from email.utils import format_datetime
from functools import partial
from urllib.parse import quote, unquote

from pydantic import TypeAdapter

from data_models.clock import Clock
from data_models.conversations.conversation import Effect
from data_models.errors import AssistantItemGoneError
from data_models.identifiers import hashed
from data_models.storage.blob_store import BlobInfo, BlobStore, is_blob_name, put_blob
from services.assistant import own_things
from services.assistant.back_end import AssistantServices
from services.assistant.document_text import check_readable, text_of
from services.assistant.local.local_file import LocalFile, LocalRows, LocalSamples, id_of

_MAIL = TypeAdapter(list[own_things.Email])
_TASKS = TypeAdapter(list[own_things.Task])
_CONTACTS = TypeAdapter(list[own_things.Contact])

# Documents as files of a folder of their owner's.

_FOLDER = "documents/"
_BEGUN = "documents_begun"


class LocalDocumentFolder:
    """A `DocumentFolder` over the blobs below `folder`; an id is the blob's last segment."""

    def __init__(self, *, store: BlobStore, folder: str, samples: LocalSamples) -> None:
        self._store = store
        self._folder = folder
        self._samples = samples

    async def search(
        self, words: str, *, within: own_things.Span[datetime] = own_things.ALWAYS, limit: int
    ) -> Sequence[own_things.PersonalDocument]:
        """See `DocumentFolder.search`: by name, not by text."""
        found = [
            row
            for row in await self._all()
            if own_things.fits(words, row.name) and within.has(row.modified)
        ]
        return sorted(found, key=lambda row: row.modified, reverse=True)[:limit]

    async def get(self, document_id: str) -> own_things.PersonalDocument | None:
        return next((row for row in await self._all() if row.id == document_id), None)

    async def text(self, document_id: str) -> own_things.DocumentText:
        if (found := await self.get(document_id)) is None:
            raise AssistantItemGoneError("the document is no longer there")
        check_readable(found)
        if (blob := await self._store.read(self._name(document_id))) is None:
            raise AssistantItemGoneError("the document is no longer there")
        return await text_of(found, blob.data)

    async def delete(self, document_id: str) -> bool:
        if await self.get(document_id) is None:
            return False
        await self._store.delete(self._name(document_id))
        return True

    async def _all(self) -> list[own_things.PersonalDocument]:
        await self._begin()
        return [_document(row) async for row in self._store.list(self._folder + _FOLDER)]

    async def _begin(self) -> None:
        """Give a new user the samples, once: one that is deleted does not come back."""
        if await self._store.read(self._folder + _BEGUN) is not None:
            return
        for name, data in await asyncio.to_thread(self._samples.documents):
            await put_blob(self._store, self._name(quote(name, safe="")), data)
        await put_blob(self._store, self._folder + _BEGUN, b"1")

    def _name(self, document_id: str) -> str:
        name = f"{self._folder}{_FOLDER}{document_id}"
        if "/" in document_id or not is_blob_name(name):
            raise AssistantItemGoneError("the document is no longer there")
        return name


def _document(row: BlobInfo) -> own_things.PersonalDocument:
    document_id = row.name.rpartition("/")[2]
    name = unquote(document_id)
    return own_things.PersonalDocument(
        id=document_id,
        name=name,
        modified=row.modified_at,
        size_bytes=row.size_bytes,
        media_type=mimetypes.guess_type(name)[0] or "",
    )


# Mail in one JSON file; what is sent lands as an .eml file in the outbox, for a mail program.

OWN_ADDRESS = "me@rounds.invalid"
OWN_NAME = f"me <{OWN_ADDRESS}>"


class LocalMailbox(LocalRows[own_things.Email]):
    """A `Mailbox` whose mail nobody delivers: it keeps what is to be sent in `outbox`."""

    def __init__(self, *, file: LocalFile, store: BlobStore, outbox: str, clock: Clock) -> None:
        super().__init__(file=file, rows=_MAIL)
        self._store = store
        self._outbox = outbox
        self._clock = clock

    async def search(
        self, words: str, *, within: own_things.Span[datetime] = own_things.ALWAYS, limit: int
    ) -> Sequence[own_things.Email]:
        received = [row for row in await self.all() if row.folder == "inbox"]
        found = [
            row
            for row in received
            if own_things.fits(words, row.sender, row.subject, row.text)
            and within.has(row.received)
        ]
        found.sort(key=lambda row: row.received, reverse=True)
        return [
            replace(row, text=row.text[: own_things.MAIL_HEAD_LIMIT_CHARS]) for row in found[:limit]
        ]

    async def draft(self, mail: own_things.NewEmail, effect: Effect) -> own_things.Email:
        row = own_things.Email(
            id=id_of("mail", effect),
            subject=mail.subject,
            sender=OWN_NAME,
            to=mail.to,
            received=self._clock.now(),
            text=mail.text,
            folder="drafts",
        )
        return await self.insert(row)

    async def send(self, mail_id: str) -> bool:
        """See `Mailbox.send`.

        The outbox is written first and once, so a crash or a second call sends nothing twice.
        """
        found = await self.get(mail_id)
        if found is None or found.folder != "drafts":
            return False
        now = self._clock.now()
        name = f"{self._outbox}{mail_id}.eml"
        await put_blob(self._store, name, as_file(found, written=now))
        await self.update(mail_id, folder="sent", received=now)
        return True


def as_file(mail: own_things.Email, *, written: datetime) -> bytes:
    """Return a message as other mail programs read it (RFC 5322)."""
    message = EmailMessage()
    message["From"] = OWN_NAME
    message["To"] = ", ".join(mail.to)
    message["Subject"] = " ".join(mail.subject.split())
    message["Date"] = format_datetime(written)
    message["Message-ID"] = f"<{mail.id}@rounds.invalid>"
    message.set_content(mail.text)
    return message.as_bytes()


# Tasks in one JSON file.


class LocalTaskList(LocalRows[own_things.Task]):
    """A `TaskList`."""

    async def list(
        self,
        *,
        due: own_things.Span[date] = own_things.ALWAYS,
        include_done: bool = False,
        limit: int,
    ) -> Sequence[own_things.Task]:
        found = [row for row in await self.all() if include_done or not row.is_done]
        if any(due):
            found = [row for row in found if row.due and due.has(row.due)]
        return sorted(found, key=lambda row: (row.due or date.max, row.title))[:limit]

    async def add(self, task: own_things.Task, effect: Effect) -> own_things.Task:
        return await self.insert(replace(task, id=id_of("task", effect)))

    async def complete(self, task_id: str) -> own_things.Task:
        return await self.update(task_id, is_done=True)

    async def reopen(self, task_id: str) -> own_things.Task:
        return await self.update(task_id, is_done=False)

    async def move(self, task_id: str, *, due: date | None, title: str = "") -> own_things.Task:
        return await self.update(task_id, due=due, **({"title": title} if title else {}))


# Contacts in one JSON file.


class LocalAddressBook(LocalRows[own_things.Contact]):
    """An `AddressBook`."""

    async def search(self, words: str, *, limit: int) -> Sequence[own_things.Contact]:
        found = [
            row
            for row in await self.all()
            if own_things.fits(words, row.name, row.email, row.phone, row.organization)
        ]
        return sorted(found, key=lambda row: row.name.casefold())[:limit]

    async def add(self, contact: own_things.Contact, effect: Effect) -> own_things.Contact:
        return await self.insert(replace(contact, id=id_of("contact", effect)))

    async def change(self, contact_id: str, change: own_things.ContactChange) -> own_things.Contact:
        values = {name: value for name, value in asdict(change).items() if value is not None}
        return await self.update(contact_id, **values)


FOLDER = "assistant"


class LocalAssistant:
    """An `AssistantBackEnd`: `assistant/{hash of the principal}/calendar.ics` and its siblings."""

    def __init__(self, *, store: BlobStore, samples: LocalSamples, clock: Clock) -> None:
        self._store = store
        self._samples = samples
        self._clock = clock

    def of(self, principal_id: str, *, zone: tzinfo) -> AssistantServices:
        # icalendar takes 4 MB: it is loaded for the first who asks of their own office.
        from services.assistant.local.local_calendar import LocalCalendar

        store, clock = self._store, self._clock
        folder = f"{FOLDER}/{hashed('assistant', principal_id)}/"
        file = partial(self._file, folder, zone)
        return AssistantServices(
            calendar=LocalCalendar(file=file("calendar.ics"), zone=zone, clock=clock),
            mail=LocalMailbox(
                file=file("mail.json"), store=store, outbox=f"{folder}outbox/", clock=clock
            ),
            contacts=LocalAddressBook(file=file("contacts.json"), rows=_CONTACTS),
            tasks=LocalTaskList(file=file("tasks.json"), rows=_TASKS),
            documents=LocalDocumentFolder(store=store, folder=folder, samples=self._samples),
        )

    def _file(self, folder: str, zone: tzinfo, name: str) -> LocalFile:
        today = self._clock.now().astimezone(zone).date()
        return LocalFile(
            store=self._store,
            name=folder + name,
            begins_as=lambda: self._samples.file(name, today=today),
        )
