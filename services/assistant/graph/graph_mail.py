"""A user's mailbox in Microsoft Graph."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from data_models.conversations.conversation import Effect
from data_models.errors import AssistantUnsureError
from services.assistant.calendar import ALWAYS, Span
from services.assistant.graph.graph_account import IMMUTABLE, GraphAccount, create_marked
from services.assistant.graph.graph_shapes import GraphMessage, instant_of, odata, shaped
from services.assistant.graph.graph_wire import Json, segment
from services.assistant.mail import MAIL_HEAD_LIMIT_CHARS, Email, MailFolder, NewEmail

_FIELDS = "id,subject,from,toRecipients,receivedDateTime,bodyPreview,isRead,isDraft,parentFolderId"
_AS_TEXT = f'{IMMUTABLE}, outlook.body-content-type="text"'
_PAGE = 50
_DAY = timedelta(days=1)
# Words, names and addresses; without quotes, colons and signs, which the search would obey.
_WORD = re.compile(r"[\w@]+(?:[.'-][\w@]+)*")


class GraphMailbox:
    """A `Mailbox`; listings are of the inbox."""

    def __init__(self, *, account: GraphAccount) -> None:
        self._account = account.preferring(IMMUTABLE)
        self._as_text = account.preferring(_AS_TEXT)

    async def search(
        self, words: str, *, within: Span[datetime] = ALWAYS, limit: int
    ) -> Sequence[Email]:
        query = {"$select": _FIELDS, "$top": str(min(limit, _PAGE)), **_asked(words, within)}
        found: list[Email] = []
        async for row in self._account.rows("mailFolders/inbox/messages", query):
            message = shaped(GraphMessage, row)
            mail = _mail(message, "inbox", message.body_preview[:MAIL_HEAD_LIMIT_CHARS])
            if within.has(mail.received):
                found.append(mail)
            if len(found) == limit:
                break
        return sorted(found, key=lambda mail: mail.received, reverse=True)

    async def get(self, mail_id: str) -> Email | None:
        path = f"messages/{segment(mail_id)}"
        message = await self._as_text.find(GraphMessage, path, {"$select": f"{_FIELDS},body"})
        return None if message is None else _whole(message, await self._folder(message))

    async def draft(self, mail: NewEmail, effect: Effect) -> Email:
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
        return _whole(shaped(GraphMessage, row), "drafts")

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
        row = await self._account.find(GraphMessage, path, {"$select": "id,isDraft"})
        return row is not None and bool(row.is_draft)

    async def _folder(self, message: GraphMessage) -> MailFolder:
        if message.is_draft:
            return "drafts"
        row = await self._account.get("mailFolders/sentitems", {"$select": "id"})
        is_sent = row is not None and row.get("id") == message.parent_folder_id
        return "sent" if is_sent else "inbox"


def _asked(words: str, within: Span[datetime]) -> dict[str, str]:
    """Return the options that narrow a listing; Graph takes a search or a filter, never both."""
    plain, (since, until) = [word.casefold() for word in _WORD.findall(words)], within
    if plain:
        # Days of the search have a zone of the server's choice, so one more on each side.
        days = [f"received>={since - _DAY:%Y-%m-%d}"] if since else []
        days += [f"received<={until + _DAY:%Y-%m-%d}"] if until else []
        return {"$search": f'"{" ".join([*plain, *days])}"'}
    spans = [f"receivedDateTime ge {odata(since)}"] if since else []
    spans += [f"receivedDateTime lt {odata(until)}"] if until else []
    order = {"$orderby": "receivedDateTime desc"}
    return {**order, "$filter": " and ".join(spans)} if spans else order


def _whole(message: GraphMessage, folder: MailFolder) -> Email:
    text = message.body.content if message.body else message.body_preview
    return _mail(message, folder, text)


def _mail(message: GraphMessage, folder: MailFolder, text: str) -> Email:
    return Email(
        id=message.id,
        subject=message.subject,
        sender=message.sender.email_address.line if message.sender else "",
        to=tuple(one.email_address.line for one in message.to_recipients),
        received=instant_of(message.received),
        text=text,
        folder=folder,
        is_read=message.is_read is not False,
    )
