"""A user's mailbox, contacts and OneDrive in Microsoft Graph."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from urllib.parse import quote

from yarl import URL

from data_models.conversations.conversation import Effect
from data_models.errors import (
    AssistantError,
    AssistantItemGoneError,
    AssistantRefusedError,
    AssistantUnsureError,
)
from services.assistant import own_things
from services.assistant.document_text import check_readable, text_of
from services.assistant.graph import graph_shapes
from services.assistant.graph.graph_account import IMMUTABLE, GraphAccount, create_marked
from services.assistant.graph.graph_client import Json, segment

_MAIL_FIELDS = (
    "id,subject,from,toRecipients,receivedDateTime,bodyPreview,isRead,isDraft,parentFolderId"
)
_AS_TEXT = f'{IMMUTABLE}, outlook.body-content-type="text"'
_MAILS_LIMIT = 50
_DAY = timedelta(days=1)
# Words, names and addresses; without quotes, colons and signs, which the search would obey.
_WORD = re.compile(r"[\w@]+(?:[.'-][\w@]+)*")


class GraphMailbox:
    """A `Mailbox`; listings are of the inbox."""

    def __init__(self, *, account: GraphAccount) -> None:
        self._account = account.preferring(IMMUTABLE)
        self._as_text = account.preferring(_AS_TEXT)

    async def search(
        self, words: str, *, within: own_things.Span[datetime] = own_things.ALWAYS, limit: int
    ) -> Sequence[own_things.Email]:
        query = {
            "$select": _MAIL_FIELDS,
            "$top": str(min(limit, _MAILS_LIMIT)),
            **_asked(words, within),
        }
        found: list[own_things.Email] = []
        async for row in self._account.rows("mailFolders/inbox/messages", query):
            message = graph_shapes.shaped(graph_shapes.GraphMessage, row)
            mail = _mail(message, "inbox", message.body_preview[: own_things.MAIL_HEAD_LIMIT_CHARS])
            if within.has(mail.received):
                found.append(mail)
            if len(found) == limit:
                break
        return sorted(found, key=lambda mail: mail.received, reverse=True)

    async def get(self, mail_id: str) -> own_things.Email | None:
        path = f"messages/{segment(mail_id)}"
        message = await self._as_text.find(
            graph_shapes.GraphMessage, path, {"$select": f"{_MAIL_FIELDS},body"}
        )
        return None if message is None else _whole(message, await self._folder(message))

    async def draft(self, mail: own_things.NewEmail, effect: Effect) -> own_things.Email:
        body: Json = {
            "subject": mail.subject,
            "body": {"contentType": "Text", "content": mail.text},
            "toRecipients": [{"emailAddress": {"address": to}} for to in mail.to],
        }
        path, inside = "messages", ""
        if mail.answers:
            path, inside = f"messages/{segment(mail.answers)}/createReply", "message"
        row = await create_marked(
            self._as_text, path, body, effect, among="messages", inside=inside
        )
        return _whole(graph_shapes.shaped(graph_shapes.GraphMessage, row), "drafts")

    async def send(self, mail_id: str) -> bool:
        """See `Mailbox.send`: after a lost answer it is looked for, and not sent again."""
        if not await self._is_draft(mail_id):
            return False
        try:
            answer = await self._account.post(f"messages/{segment(mail_id)}/send", None)
        except AssistantUnsureError:
            if await self._is_draft(mail_id):
                raise
            return True
        if answer.is_gone:
            return False
        answer.value()
        return True

    async def _is_draft(self, mail_id: str) -> bool:
        path = f"messages/{segment(mail_id)}"
        row = await self._account.find(graph_shapes.GraphMessage, path, {"$select": "id,isDraft"})
        return row is not None and bool(row.is_draft)

    async def _folder(self, message: graph_shapes.GraphMessage) -> own_things.MailFolder:
        if message.is_draft:
            return "drafts"
        row = await self._account.get("mailFolders/sentitems", {"$select": "id"})
        is_sent = row is not None and row.get("id") == message.parent_folder_id
        return "sent" if is_sent else "inbox"


def _asked(words: str, within: own_things.Span[datetime]) -> dict[str, str]:
    """Return the options that narrow a listing; Graph takes a search or a filter, never both."""
    plain, (since, until) = [word.casefold() for word in _WORD.findall(words)], within
    if plain:
        # Days of the search have a zone of the server's choice, so one more on each side.
        days = [f"received>={since - _DAY:%Y-%m-%d}"] if since else []
        days += [f"received<={until + _DAY:%Y-%m-%d}"] if until else []
        return {"$search": f'"{" ".join([*plain, *days])}"'}
    spans = [f"receivedDateTime ge {graph_shapes.odata(since)}"] if since else []
    spans += [f"receivedDateTime lt {graph_shapes.odata(until)}"] if until else []
    order = {"$orderby": "receivedDateTime desc"}
    return {**order, "$filter": " and ".join(spans)} if spans else order


def _whole(message: graph_shapes.GraphMessage, folder: own_things.MailFolder) -> own_things.Email:
    text = message.body.content if message.body else message.body_preview
    return _mail(message, folder, text)


def _mail(
    message: graph_shapes.GraphMessage, folder: own_things.MailFolder, text: str
) -> own_things.Email:
    return own_things.Email(
        id=message.id,
        subject=message.subject,
        sender=message.sender.email_address.line if message.sender else "",
        to=tuple(one.email_address.line for one in message.to_recipients),
        received=graph_shapes.instant_of(message.received),
        text=text,
        folder=folder,
        is_read=message.is_read is not False,
    )


_CONTACT_FIELDS = "id,displayName,emailAddresses,mobilePhone,businessPhones,homePhones,companyName"
_QUERY = {"$select": _CONTACT_FIELDS}
_CONTACTS_PAGE = "100"
_TRIES = 3


class GraphAddressBook:
    """An `AddressBook` over the default folder."""

    def __init__(self, *, account: GraphAccount) -> None:
        self._account = account.preferring(IMMUTABLE)

    async def search(self, words: str, *, limit: int) -> Sequence[own_things.Contact]:
        """See `AddressBook.search`; Graph itself finds contacts by a whole address only."""
        query = {**_QUERY, "$orderby": "displayName", "$top": _CONTACTS_PAGE}
        found: list[own_things.Contact] = []
        async for row in self._account.rows("contacts", query):
            contact = _contact(graph_shapes.shaped(graph_shapes.GraphContact, row))
            if own_things.fits(
                words, contact.name, contact.email, contact.phone, contact.organization
            ):
                found.append(contact)
            if len(found) == limit:
                break
        return sorted(found, key=lambda contact: contact.name.casefold())

    async def get(self, contact_id: str) -> own_things.Contact | None:
        row = await self._row(contact_id)
        return None if row is None else _contact(row)

    async def add(self, contact: own_things.Contact, effect: Effect) -> own_things.Contact:
        body: Json = {"displayName": contact.name, "givenName": contact.name}
        if contact.email:
            body["emailAddresses"] = [{"address": contact.email, "name": contact.name}]
        if contact.phone:
            body["businessPhones"] = [contact.phone]
        if contact.organization:
            body["companyName"] = contact.organization
        row = await create_marked(self._account, "contacts", body, effect, among="contacts")
        return _contact(graph_shapes.shaped(graph_shapes.GraphContact, row))

    async def change(self, contact_id: str, change: own_things.ContactChange) -> own_things.Contact:
        """See `AddressBook.change`; further addresses and phones of the contact stay."""
        for _ in range(_TRIES):
            if (row := await self._row(contact_id)) is None:
                raise AssistantItemGoneError("the contact is no longer there")
            answer = await self._account.patch(
                f"contacts/{segment(contact_id)}", _changed(row, change), etag=row.etag
            )
            if not answer.is_stale:
                return _contact(graph_shapes.shaped(graph_shapes.GraphContact, answer.value()))
        raise AssistantError("the contact changed again and again meanwhile; nothing was changed")

    async def delete(self, contact_id: str) -> bool:
        return await self._account.delete(f"contacts/{segment(contact_id)}", {"$select": "id"})

    async def _row(self, contact_id: str) -> graph_shapes.GraphContact | None:
        return await self._account.find(
            graph_shapes.GraphContact, f"contacts/{segment(contact_id)}", _QUERY
        )


def _changed(row: graph_shapes.GraphContact, change: own_things.ContactChange) -> Json:
    body: Json = {}
    name = row.display_name if change.name is None else change.name
    if change.name is not None:
        body["displayName"] = change.name
    if change.organization is not None:
        body["companyName"] = change.organization
    if change.email is not None:
        own = [{"address": change.email, "name": name}] if change.email else []
        rest = [{"address": one.address, "name": one.name} for one in row.email_addresses[1:]]
        body["emailAddresses"] = own + rest
    if change.phone is not None:
        body |= _phone(row, change.phone)
    return body


def _phone(row: graph_shapes.GraphContact, phone: str) -> Json:
    """Return the change of the phone that `_contact` shows."""
    own = [phone] if phone else []
    if row.mobile_phone:
        return {"mobilePhone": phone or None}
    if row.business_phones or not row.home_phones:
        return {"businessPhones": own + list(row.business_phones[1:])}
    return {"homePhones": own + list(row.home_phones[1:])}


def _contact(row: graph_shapes.GraphContact) -> own_things.Contact:
    phones = (row.mobile_phone, *row.business_phones, *row.home_phones)
    return own_things.Contact(
        id=row.id,
        name=row.display_name,
        email=row.email_addresses[0].address if row.email_addresses else "",
        phone=next((phone for phone in phones if phone), ""),
        organization=row.company_name,
    )


_FILE_FIELDS = "id,name,size,lastModifiedDateTime,file"
_FILES_PAGE = "200"


class GraphDocumentFolder:
    """A `DocumentFolder` over the user's own drive.

    Args:
        file_hosts: Where files may be fetched from; Graph keeps none itself but names addresses
            of the tenant's SharePoint.
    """

    def __init__(self, *, account: GraphAccount, file_hosts: Collection[str]) -> None:
        self._account = account
        self._hosts = frozenset(host.lower() for host in file_hosts)

    async def search(
        self, words: str, *, within: own_things.Span[datetime] = own_things.ALWAYS, limit: int
    ) -> Sequence[own_things.PersonalDocument]:
        """See `DocumentFolder.search`; with words, Graph looks into the files too."""
        # Graph does not sort by time, so every result is read before the newest are known.
        rows = self._account.rows(_listing(words), {"$select": _FILE_FIELDS, "$top": _FILES_PAGE})
        items = [graph_shapes.shaped(graph_shapes.GraphItem, row) async for row in rows]
        # A drive that changes while it is listed shows an item twice; the last counts.
        latest = {item.id: item for item in items}.values()
        found = [_document(item) for item in latest if item.file and not item.deleted]
        fitting = [row for row in found if within.has(row.modified)]
        return sorted(fitting, key=lambda row: row.modified, reverse=True)[:limit]

    async def get(self, document_id: str) -> own_things.PersonalDocument | None:
        item = await self._item(document_id, _FILE_FIELDS)
        return None if item is None else _document(item)

    async def text(self, document_id: str) -> own_things.DocumentText:
        item = await self._item(document_id, f"{_FILE_FIELDS},@microsoft.graph.downloadUrl")
        if item is None:
            raise AssistantItemGoneError("the document is no longer there")
        document = _document(item)
        check_readable(document)
        data = await self._account.client.download(
            self._checked(item.download_url), limit_bytes=own_things.DOCUMENT_LIMIT_BYTES
        )
        return await text_of(document, data)

    async def delete(self, document_id: str) -> bool:
        """See `DocumentFolder.delete`; it goes to the drive's recycle bin."""
        return await self._account.delete(f"drive/items/{segment(document_id)}", {"$select": "id"})

    async def _item(self, document_id: str, fields: str) -> graph_shapes.GraphItem | None:
        path = f"drive/items/{segment(document_id)}"
        item = await self._account.find(graph_shapes.GraphItem, path, {"$select": fields})
        return item if item is not None and item.file and not item.deleted else None

    def _checked(self, text: str) -> URL:
        try:
            url = URL(text, encoded=True)
        except ValueError:
            raise AssistantError("the document's address cannot be read") from None
        if url.scheme != self._account.client.base_url.scheme or url.host not in self._hosts:
            raise AssistantRefusedError("the host of the file is not one of GRAPH_FILE_HOSTS")
        return url


def _listing(words: str) -> str:
    plain = " ".join(words.split()).replace("'", "''")
    # A quote within the text is written twice; all else is as in any address.
    return f"drive/root/search(q='{quote(plain, safe=chr(39))}')" if plain else "drive/root/delta"


def _document(item: graph_shapes.GraphItem) -> own_things.PersonalDocument:
    return own_things.PersonalDocument(
        id=item.id,
        name=item.name,
        modified=graph_shapes.instant_of(item.modified),
        size_bytes=item.size,
        media_type=item.file.mime_type if item.file else "",
    )
