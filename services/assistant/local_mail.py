"""Mail in one JSON file; what is sent lands as an .eml file in the outbox, for a mail program."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.effects import Effect
from data_models.errors import BlobExistsError
from services.assistant.local_rows import LocalRows, id_of
from services.assistant.mail import (
    MAIL_HEAD_LIMIT_CHARS,
    Email,
    NewEmail,
)
from services.assistant.words import fits

OWN_ADDRESS = "me@rounds.invalid"
OWN_NAME = f"me <{OWN_ADDRESS}>"


class LocalMailbox:
    """A `Mailbox` whose mail nobody delivers: it keeps what is to be sent in `outbox`."""

    def __init__(
        self, *, rows: LocalRows[Email], store: BlobStore, outbox: str, clock: Clock
    ) -> None:
        self._rows = rows
        self._store = store
        self._outbox = outbox
        self._clock = clock

    async def search(
        self,
        words: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int,
    ) -> Sequence[Email]:
        """See `Mailbox.search`."""
        received = [row for row in await self._rows.all() if row.folder == "inbox"]
        found = [
            row
            for row in received
            if fits(words, row.sender, row.subject, row.text)
            and (since is None or row.received >= since)
            and (until is None or row.received < until)
        ]
        found.sort(key=lambda row: row.received, reverse=True)
        return [replace(row, text=row.text[:MAIL_HEAD_LIMIT_CHARS]) for row in found[:limit]]

    async def get(self, mail_id: str) -> Email | None:
        """See `Mailbox.get`."""
        return await self._rows.get(mail_id)

    async def draft(self, mail: NewEmail, effect: Effect) -> Email:
        """See `Mailbox.draft`."""
        row = Email(
            id=id_of("mail", effect),
            subject=mail.subject,
            sender=OWN_NAME,
            to=mail.to,
            received=self._clock.now(),
            text=mail.text,
            folder="drafts",
        )
        return await self._rows.add(row)

    async def send(self, mail_id: str) -> bool:
        """See `Mailbox.send`.

        The outbox is written first and once, so a crash or a second call sends nothing twice.
        """
        found = await self._rows.get(mail_id)
        if found is None or found.folder != "drafts":
            return False
        now = self._clock.now()
        with suppress(BlobExistsError):
            name = f"{self._outbox}{mail_id}.eml"
            await self._store.create(name, as_file(found, written=now))
        await self._rows.change(mail_id, folder="sent", received=now)
        return True


def as_file(mail: Email, *, written: datetime) -> bytes:
    """Return a message as other mail programs read it (RFC 5322)."""
    message = EmailMessage()
    message["From"] = OWN_NAME
    message["To"] = ", ".join(mail.to)
    message["Subject"] = " ".join(mail.subject.split())
    message["Date"] = format_datetime(written)
    message["Message-ID"] = f"<{mail.id}@rounds.invalid>"
    message.set_content(mail.text)
    return message.as_bytes()
