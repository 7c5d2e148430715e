"""A clinician's own mail, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from data_models.conversations.conversation import Effect
from services.assistant.calendar import ALWAYS, Span

MAIL_TEXT_LIMIT_CHARS = 20_000
MAIL_HEAD_LIMIT_CHARS = 300
MAIL_SURE_LIMIT_CHARS = 250
"""No back end cuts a text so short (Microsoft Graph's preview has 255)."""

MailFolder: TypeAlias = Literal["inbox", "drafts", "sent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    """One message, received, drafted or sent.

    Attributes:
        sender: Name and address as one line, `Anna Schmidt <anna@hospital.example>`.
        to: Lines of the same form.
        received: When it came; a draft or a sent message: when it was written. Aware.
        text: Plain text. A listing gives its first `MAIL_HEAD_LIMIT_CHARS`, `get` all of it, so
            that whom it names is known; models are shown the first `MAIL_TEXT_LIMIT_CHARS`.
    """

    id: str
    subject: str
    sender: str
    to: tuple[str, ...] = ()
    received: datetime
    text: str = ""
    folder: MailFolder = "inbox"
    is_read: bool = True


def without_cut_text(mail: Email) -> Email:
    """Return a listed message without a text that may have been cut short.

    Whom it names further on nobody knows; `Mailbox.get` has it whole.
    """
    return mail if len(mail.text) < MAIL_SURE_LIMIT_CHARS else replace(mail, text="")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEmail:
    """A message to write.

    Attributes:
        to: Addresses, at least one.
        answers: Id of the message that it replies to, or "".
    """

    to: tuple[str, ...]
    subject: str
    text: str
    answers: str = ""


class Mailbox(Protocol):
    """One person's mail. Every method raises `AssistantError` where it cannot be used."""

    async def search(
        self, words: str, *, within: Span[datetime] = ALWAYS, limit: int
    ) -> Sequence[Email]:
        """Return received messages that hold all `words`, the newest first.

        Args:
            words: Looked for in sender, subject and text; "" fits every message.
            within: When it came.
            limit: At most so many, however many pages the back end needs for them.
        """
        ...

    async def get(self, mail_id: str) -> Email | None:
        """Return one message of any folder with its text, or None if it is gone."""
        ...

    async def draft(self, mail: NewEmail, effect: Effect) -> Email:
        """Write a message, once under the key of `effect`, and send nothing."""
        ...

    async def send(self, mail_id: str) -> bool:
        """Send a draft, once; False if there is no such draft any more."""
        ...
