"""Tools over the user's own mail, contacts and documents; sending and deleting only ask."""

import asyncio
import re

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.own_tools import OwnTools
from group_chat.tools.personal import ROWS_SHOWN, OpenAssistant
from group_chat.tools.tool import ToolOutput
from group_chat.turn_context import current_effect
from services.assistant.contacts import ContactChange, NewContact
from services.assistant.documents import DOCUMENT_TEXT_LIMIT_CHARS
from services.assistant.mail import NewEmail, without_cut_text
from services.language.names_within import names_one_of

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


async def search_mail(assistant: OpenAssistant, asked: MailSearchArguments) -> ToolOutput:
    """The user's own mail, newest first."""
    within = assistant.span(asked.since, asked.until)
    found = await assistant.services.mail.search(asked.words, within=within, limit=ROWS_SHOWN + 1)
    return assistant.listed("messages", [without_cut_text(one) for one in found])


async def read_mail(assistant: OpenAssistant, asked: MailArguments) -> ToolOutput:
    """The text of the message the user means."""
    mail = await assistant.meant("email", asked.mail_id, assistant.services.mail.get)
    # Off the loop: the whole text is looked through for other patients' names.
    return {"message": await asyncio.to_thread(assistant.rows, [mail])}


async def draft_mail(assistant: OpenAssistant, asked: DraftArguments) -> ToolOutput:
    """Writes a message as a draft, unsent."""
    if not all(_ADDRESS.fullmatch(one) for one in asked.to):
        raise ToolInputError("to must hold e-mail addresses; search_contacts finds them")
    subject = " ".join(asked.title.split())
    new = NewEmail(to=tuple(asked.to), subject=subject, text=asked.text, answers=asked.answers)
    made = await assistant.services.mail.draft(new, current_effect())
    return {"draft": await assistant.show_made(made)}


async def send_mail(assistant: OpenAssistant, asked: MailArguments) -> ToolOutput:
    """Asks the user to confirm that a draft is sent."""
    meant = await assistant.all_meant("email", asked.mail_id, assistant.services.mail.get)
    if any(one.folder != "drafts" for one in meant):
        raise ToolInputError("only a draft can be sent; write one with draft_mail")
    return assistant.ask_first("send_mail", meant)


MAIL = OwnTools((search_mail, read_mail), changes=(draft_mail,), asks=(send_mail,))


# Tools over the user's own documents; deleting only asks.

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


async def search_documents(assistant: OpenAssistant, asked: DocumentSearchArguments) -> ToolOutput:
    """The user's own files."""
    within, documents = assistant.span(asked.since, asked.until), assistant.services.documents
    found = await documents.search(asked.words, within=within, limit=ROWS_SHOWN + 1)
    return assistant.listed("documents", found)


async def read_own_document(assistant: OpenAssistant, asked: DocumentArguments) -> ToolOutput:
    """The text of the document."""
    documents = assistant.services.documents
    document = await assistant.meant("document", asked.document_id, documents.get)
    found, row = await documents.text(document.id), assistant.rows([document])
    said = {"text": found.text, "beside": found.beside}
    if await asyncio.to_thread(names_one_of, said, assistant.memory.others):
        return {"document": row, "withheld": _WITHHELD}
    shown = {"document": row, "text": found.text[:DOCUMENT_TEXT_LIMIT_CHARS]}
    return shown if shown["text"] == found.text else {**shown, "cut": _cut(found.text)}


async def delete_document(assistant: OpenAssistant, asked: DocumentArguments) -> ToolOutput:
    """Asks the user to confirm that the document they mean is deleted."""
    documents = assistant.services.documents
    meant = await assistant.all_meant("document", asked.document_id, documents.get)
    return assistant.ask_first("delete_document", meant)


def _cut(text: str) -> str:
    return f"the first {DOCUMENT_TEXT_LIMIT_CHARS:,} of {len(text):,} characters"


DOCUMENTS = OwnTools((search_documents, read_own_document), asks=(delete_document,))


# Tools over the user's own contacts; deleting only asks.

_FIELD_WORDS = ("phone number", "phone", "number", "e-mail", "email", "mail", "address")


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


async def search_contacts(assistant: OpenAssistant, asked: ContactSearchArguments) -> ToolOutput:
    """The user's own contacts."""
    found = await assistant.services.contacts.search(asked.words, limit=ROWS_SHOWN + 1)
    return assistant.listed("contacts", found)


async def add_contact(assistant: OpenAssistant, asked: AddContactArguments) -> ToolOutput:
    """Adds a contact of the user's."""
    new = NewContact(**{name: " ".join(said.split()) for name, said in asked})
    made = await assistant.services.contacts.add(new, current_effect())
    return {"added": await assistant.show_made(made)}


async def change_contact(assistant: OpenAssistant, asked: ChangeContactArguments) -> ToolOutput:
    """Changes the contact that the user means."""
    contacts = assistant.services.contacts
    new = [one for one in (asked.name, asked.email, asked.phone, asked.organization) if one]
    contact = await assistant.meant(
        "contact", asked.contact_id, contacts.get, without=[*new, *_FIELD_WORDS]
    )
    change = ContactChange(**asked.model_dump(exclude={"contact_id"}))
    changed = await contacts.change(contact.id, change)
    await assistant.undoable("change_contact", contact, changed)
    return {"changed": assistant.rows([changed])}


async def delete_contact(assistant: OpenAssistant, asked: ContactArguments) -> ToolOutput:
    """Asks the user to confirm that the contact they mean is deleted."""
    meant = await assistant.all_meant("contact", asked.contact_id, assistant.services.contacts.get)
    return assistant.ask_first("delete_contact", meant)


CONTACTS = OwnTools(
    (search_contacts,), changes=(add_contact, change_contact), asks=(delete_contact,)
)
