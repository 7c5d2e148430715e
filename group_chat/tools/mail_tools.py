"""Tools over the user's own mail, contacts and documents; sending and deleting only ask."""

import asyncio
import re

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.personal import ROWS_SHOWN, PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.assistant.contacts import ContactChange, NewContact
from services.assistant.documents import DOCUMENT_TEXT_LIMIT_CHARS
from services.assistant.mail import NewEmail, without_cut_text
from services.language.names_within import names_one_of

MAIL_TOOLS = ("search_mail", "read_mail", "draft_mail", "send_mail")
_ADDRESS = re.compile(r"[^\s@<>\",;]{1,64}@[A-Za-z0-9.-]{1,190}")


class MailSearchArguments(ClosedValue):
    """Which messages."""

    words: str = Field(default="", max_length=200, description="In sender, subject or text.")
    since: str | None = Field(default=None, max_length=32, description="ISO, or yesterday, Friday.")
    until: str | None = Field(
        default=None, max_length=32, description="The same; a day is included."
    )


class MailArguments(ClosedValue):
    """Which message."""

    mail_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")


class DraftArguments(ClosedValue):
    """What to write."""

    to: list[str] = Field(min_length=1, max_length=20, description="E-mail addresses.")
    title: str = Field(min_length=1, max_length=200, description="Its subject line.")
    text: str = Field(min_length=1, max_length=10_000)
    answers: str = Field(default="", max_length=500, description="Id of the message it answers.")


class MailTools:
    """Works on the mail of whoever asks."""

    def __init__(self, *, assistant: PersonalAssistant) -> None:
        self._assistant = assistant

    async def search_mail(self, turn: TurnContext, asked: MailSearchArguments) -> ToolOutput:
        """The user's own mail, newest first."""
        assistant = await self._assistant.open(turn)
        since, until = assistant.span(asked.since, asked.until)
        found = await assistant.services.mail.search(
            asked.words, since=since, until=until, limit=ROWS_SHOWN + 1
        )
        return assistant.listed("messages", [without_cut_text(one) for one in found])

    async def read_mail(self, turn: TurnContext, asked: MailArguments) -> ToolOutput:
        """The text of the message the user means."""
        assistant = await self._assistant.open(turn)
        mail = await assistant.meant("email", asked.mail_id, assistant.services.mail.get)
        # Off the loop: the whole text is looked through for other patients' names.
        return {"message": await asyncio.to_thread(assistant.rows, [mail])}

    async def draft_mail(self, turn: TurnContext, asked: DraftArguments) -> ToolOutput:
        """Writes a message as a draft, unsent."""
        if not all(_ADDRESS.fullmatch(one) for one in asked.to):
            raise ToolInputError("to must hold e-mail addresses; search_contacts finds them")
        assistant = await self._assistant.open(turn, changes=True)
        subject = " ".join(asked.title.split())
        new = NewEmail(to=tuple(asked.to), subject=subject, text=asked.text, answers=asked.answers)
        return {
            "draft": await assistant.show_made(
                await assistant.services.mail.draft(new, assistant.effect)
            )
        }

    async def send_mail(self, turn: TurnContext, asked: MailArguments) -> ToolOutput:
        """Asks the user to confirm that a draft is sent."""
        assistant = await self._assistant.open(turn, changes=True)
        meant = await assistant.all_meant("email", asked.mail_id, assistant.services.mail.get)
        if any(one.folder != "drafts" for one in meant):
            raise ToolInputError("only a draft can be sent; write one with draft_mail")
        return assistant.ask_first("send_mail", meant)


def mail_tools(assistant: PersonalAssistant) -> tuple[Tool, ...]:
    """Return the tools over the mail of whoever asks."""
    own = MailTools(assistant=assistant)
    return (
        *tools_of(own.search_mail, own.read_mail),
        *tools_of(own.draft_mail, changes=True),
        *tools_of(own.send_mail),
    )


# Tools over the user's own documents; deleting only asks.

DOCUMENT_TOOLS = ("search_documents", "read_own_document", "delete_document")
_WITHHELD = "the document names another patient, so it is not shown here"


class DocumentSearchArguments(ClosedValue):
    """Which documents."""

    words: str = Field(default="", max_length=200, description="In the name of the document.")
    since: str | None = Field(default=None, max_length=32, description="Changed then or later.")
    until: str | None = Field(
        default=None, max_length=32, description="The same; a day is included."
    )


class DocumentArguments(ClosedValue):
    """Which document."""

    document_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")


class DocumentTools:
    """Works on the documents of whoever asks."""

    def __init__(self, *, assistant: PersonalAssistant) -> None:
        self._assistant = assistant

    async def search_documents(
        self, turn: TurnContext, asked: DocumentSearchArguments
    ) -> ToolOutput:
        """The user's own files."""
        assistant = await self._assistant.open(turn)
        since, until = assistant.span(asked.since, asked.until)
        found = await assistant.services.documents.search(
            asked.words, since=since, until=until, limit=ROWS_SHOWN + 1
        )
        return assistant.listed("documents", found)

    async def read_own_document(self, turn: TurnContext, asked: DocumentArguments) -> ToolOutput:
        """The text of the document."""
        assistant = await self._assistant.open(turn)
        documents = assistant.services.documents
        document = await assistant.meant("document", asked.document_id, documents.get)
        found, row = await documents.text(document.id), assistant.rows([document])
        said = {"text": found.text, "beside": found.beside}
        if await asyncio.to_thread(names_one_of, said, assistant.memory.others):
            return {"document": row, "withheld": _WITHHELD}
        shown = {"document": row, "text": found.text[:DOCUMENT_TEXT_LIMIT_CHARS]}
        return shown if shown["text"] == found.text else {**shown, "cut": _cut(found.text)}

    async def delete_document(self, turn: TurnContext, asked: DocumentArguments) -> ToolOutput:
        """Asks the user to confirm that the document they mean is deleted."""
        assistant = await self._assistant.open(turn, changes=True)
        documents = assistant.services.documents
        meant = await assistant.all_meant("document", asked.document_id, documents.get)
        return assistant.ask_first("delete_document", meant)


def _cut(text: str) -> str:
    return f"the first {DOCUMENT_TEXT_LIMIT_CHARS:,} of {len(text):,} characters"


def document_tools(assistant: PersonalAssistant) -> tuple[Tool, ...]:
    """Return the tools over the documents of whoever asks."""
    own = DocumentTools(assistant=assistant)
    return tools_of(own.search_documents, own.read_own_document, own.delete_document)


# Tools over the user's own contacts; deleting only asks.

_FIELD_WORDS = ("phone number", "phone", "number", "e-mail", "email", "mail", "address")
CONTACT_TOOLS = ("search_contacts", "add_contact", "change_contact", "delete_contact")


class ContactSearchArguments(ClosedValue):
    """Whom to look for."""

    words: str = Field(default="", max_length=200, description="In name, address or organization.")


class AddContactArguments(ClosedValue):
    """Whom to add."""

    name: str = Field(min_length=1, max_length=200)
    email: str = Field(default="", max_length=200)
    phone: str = Field(default="", max_length=60)
    organization: str = Field(default="", max_length=200)


class ChangeContactArguments(ClosedValue):
    """What becomes different; what is not given stays."""

    contact_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")
    name: str | None = Field(default=None, min_length=1, max_length=200)
    email: str | None = Field(default=None, max_length=200)
    phone: str | None = Field(default=None, max_length=60)
    organization: str | None = Field(default=None, max_length=200)


class ContactArguments(ClosedValue):
    """Which contact."""

    contact_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")


class ContactTools:
    """Works on the contacts of whoever asks."""

    def __init__(self, *, assistant: PersonalAssistant) -> None:
        self._assistant = assistant

    async def search_contacts(self, turn: TurnContext, asked: ContactSearchArguments) -> ToolOutput:
        """The user's own contacts."""
        assistant = await self._assistant.open(turn)
        found = await assistant.services.contacts.search(asked.words, limit=ROWS_SHOWN + 1)
        return assistant.listed("contacts", found)

    async def add_contact(self, turn: TurnContext, asked: AddContactArguments) -> ToolOutput:
        """Adds a contact of the user's."""
        assistant = await self._assistant.open(turn, changes=True)
        new = NewContact(
            name=" ".join(asked.name.split()),
            email=asked.email.strip(),
            phone=asked.phone.strip(),
            organization=asked.organization.strip(),
        )
        return {
            "added": await assistant.show_made(
                await assistant.services.contacts.add(new, assistant.effect)
            )
        }

    async def change_contact(self, turn: TurnContext, asked: ChangeContactArguments) -> ToolOutput:
        """Changes the contact that the user means."""
        assistant = await self._assistant.open(turn, changes=True)
        contacts = assistant.services.contacts
        new = [one for one in (asked.name, asked.email, asked.phone, asked.organization) if one]
        contact = await assistant.meant(
            "contact", asked.contact_id, contacts.get, without=[*new, *_FIELD_WORDS]
        )
        change = ContactChange(
            name=asked.name,
            email=asked.email,
            phone=asked.phone,
            organization=asked.organization,
        )
        changed = await contacts.change(contact.id, change)
        await assistant.undoable("change_contact", contact, changed)
        return {"changed": assistant.rows([changed])}

    async def delete_contact(self, turn: TurnContext, asked: ContactArguments) -> ToolOutput:
        """Asks the user to confirm that the contact they mean is deleted."""
        assistant = await self._assistant.open(turn, changes=True)
        meant = await assistant.all_meant(
            "contact", asked.contact_id, assistant.services.contacts.get
        )
        return assistant.ask_first("delete_contact", meant)


def contact_tools(assistant: PersonalAssistant) -> tuple[Tool, ...]:
    """Return the tools over the contacts of whoever asks."""
    own = ContactTools(assistant=assistant)
    return (
        *tools_of(own.search_contacts),
        *tools_of(own.add_contact, own.change_contact, changes=True),
        *tools_of(own.delete_contact),
    )
