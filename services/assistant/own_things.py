"""A clinician's own calendar, tasks, mail, contacts and files, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from data_models.conversations.conversation import Effect
from services.language.pointing.folding import tokens_of

Thing_co = TypeVar("Thing_co", covariant=True)


class OwnThings(Protocol[Thing_co]):
    """One person's things of one kind. Every method raises `AssistantError` if it cannot be used.

    What pages follows its pages until a `limit` is reached. What is changed and is gone is an
    `AssistantItemGoneError`; what is made is made once under the key of its `effect`.
    """

    async def get(self, thing_id: str, /) -> Thing_co | None:
        """Return one of them, whole, or None if it is gone."""
        ...

    async def delete(self, thing_id: str, /) -> bool:
        """Remove one of them; False if it was gone already."""
        ...


Time = TypeVar("Time", bound=date)


class Span(NamedTuple, Generic[Time]):
    """From `since` to before `until`; None bounds nothing."""

    since: Time | None = None
    until: Time | None = None

    def has(self, moment: Time) -> bool:
        """Tell whether `moment` is within."""
        since, until = self
        return (since is None or moment >= since) and (until is None or moment < until)


ALWAYS: Span[Any] = Span()
EVENTS_LIMIT = 500
"""The most events that one listing gives; a back end follows no more pages than it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    """One event, or one occurrence of a recurring one.

    Attributes:
        id: The back end's; an occurrence has its own.
        start: Aware, like `end`.
        is_all_day: `start` and `end` are midnights in the user's zone then, `end` excluded.
    """

    id: str
    title: str
    start: datetime
    end: datetime
    is_all_day: bool = False
    location: str = ""
    attendees: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What to put into a calendar; both times are aware."""

    title: str
    start: datetime
    end: datetime
    location: str = ""


@dataclass(frozen=True, slots=True)
class FreeTime:
    """A gap between events."""

    start: datetime
    end: datetime


class Calendar(OwnThings[CalendarEvent], Protocol):
    """One person's calendar; whoever organizes an event tells its attendees that it is deleted."""

    async def between(self, start: datetime, end: datetime) -> Sequence[CalendarEvent]:
        """Return what takes place from `start` (included) to `end` (excluded), by start.

        At most the first `EVENTS_LIMIT`.
        """
        ...

    async def create(self, event: NewEvent, effect: Effect) -> CalendarEvent:
        """Add an event."""
        ...

    async def move(
        self, event_id: str, *, start: datetime, length: timedelta | None = None
    ) -> CalendarEvent:
        """Let an event begin at `start`; its length stays where no other is given.

        Of an event of whole days it always stays.
        """
        ...


def free_times(
    events: Sequence[CalendarEvent], *, start: datetime, end: datetime, least: timedelta
) -> list[FreeTime]:
    """Return the gaps of at least `least` between `start` and `end`; whole days block nothing."""
    found: list[FreeTime] = []
    at = start
    timed = (event for event in events if not event.is_all_day)
    for event in sorted(timed, key=lambda one: one.start):
        if event.start - at >= least:
            found.append(FreeTime(at, event.start))
        at = max(at, event.end)
    return [*found, FreeTime(at, end)] if end - at >= least else found


# A clinician's own tasks, said without naming a product.


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something to do.

    Attributes:
        due: A whole day in the user's zone; None has no date.
        id: "" until it is in a list.
    """

    id: str = ""
    title: str
    due: date | None = None
    is_done: bool = False
    notes: str = ""


class TaskList(OwnThings[Task], Protocol):
    """One person's tasks."""

    async def list(
        self, *, due: Span[date] = ALWAYS, include_done: bool = False, limit: int
    ) -> Sequence[Task]:
        """Return tasks, those due first at the head and those without a date at the end.

        Args:
            due: Where it bounds anything, only tasks that are due in that span.
        """
        ...

    async def add(self, task: Task, effect: Effect) -> Task:
        """Add a task."""
        ...

    async def complete(self, task_id: str) -> Task:
        """Mark a task done; one that is done stays done."""
        ...

    async def reopen(self, task_id: str) -> Task:
        """Mark a task not done."""
        ...

    async def move(self, task_id: str, *, due: date | None, title: str = "") -> Task:
        """Give a task another date, or none; its title, which may tell an hour, if one is given."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One person; `id` is "" until they are in a book."""

    id: str = ""
    name: str
    email: str = ""
    phone: str = ""
    organization: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactChange:
    """What becomes different; None stays, "" is emptied."""

    name: str | None = None
    email: str | None = None
    phone: str | None = None
    organization: str | None = None


class AddressBook(OwnThings[Contact], Protocol):
    """One person's contacts."""

    async def search(self, words: str, *, limit: int) -> Sequence[Contact]:
        """Return at most `limit` contacts that hold all `words`, by name; "" fits all."""
        ...

    async def add(self, contact: Contact, effect: Effect) -> Contact:
        """Add a contact."""
        ...

    async def change(self, contact_id: str, change: ContactChange) -> Contact:
        """Change a contact."""
        ...


def fits(words: str, *texts: str) -> bool:
    """Tell whether every word of `words` begins a word of `texts`; case and accents are folded."""
    held = tokens_of(" ".join(texts))
    return all(any(one.startswith(word) for one in held) for word in tokens_of(words))


DOCUMENT_TEXT_LIMIT_CHARS = 20_000
DOCUMENT_LIMIT_BYTES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalDocument:
    """One file.

    Attributes:
        name: With its ending.
        modified: Aware.
        media_type: As `text/plain`; "" if the back end does not know.
    """

    id: str
    name: str
    modified: datetime
    size_bytes: int
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """All that a file says.

    Attributes:
        text: What its reader sees; of it models are shown the first `DOCUMENT_TEXT_LIMIT_CHARS`.
        beside: What stands beside it (headers, notes, properties) or is written in escapes. Whom
            the file is about may stand there alone; nobody is shown it.
    """

    text: str
    beside: str = ""


class DocumentFolder(OwnThings[PersonalDocument], Protocol):
    """One person's files."""

    async def search(
        self, words: str, *, within: Span[datetime] = ALWAYS, limit: int
    ) -> Sequence[PersonalDocument]:
        """Return files whose name (or, where a back end can, text) holds all `words`.

        Args:
            words: "" fits every file.
            within: When it was changed.
            limit: At most so many, the newest first.
        """
        ...

    async def text(self, document_id: str) -> DocumentText:
        """Return a file's text, whole.

        Raises:
            AssistantItemGoneError: it is gone.
            AssistantError: it holds no text, or over `DOCUMENT_LIMIT_BYTES`.
        """
        ...


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
