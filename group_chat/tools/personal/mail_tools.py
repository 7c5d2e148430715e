"""Tools over the user's own mail, contacts and documents; sending and deleting only ask."""

import asyncio
import re
from typing import Annotated, TypeAlias

from pydantic import Field

from data_models.errors import ToolInputError
from group_chat.tools.personal.personal import (
    ROWS_SHOWN,
    Day,
    OpenAssistant,
    OwnId,
    OwnTools,
    Title,
)
from group_chat.tools.tool import ToolOutput
from group_chat.turn_context import current_effect
from services.assistant import own_things
from services.language.people.names_within import names_one_of
from services.language.words.folding import words_of
from services.language.words.phrases import parts_in

Words: TypeAlias = Annotated[str, Field(max_length=200)]
Phone: TypeAlias = Annotated[str, Field(max_length=60)]
_ADDRESS = re.compile(r"[^\s@<>\",;]{1,64}@[A-Za-z0-9.-]{1,190}")


async def search_mail(
    assistant: OpenAssistant,
    words: Words = Field(default="", description="In sender, subject or text."),
    since: Day = Field(default=None, description="ISO, or yesterday, Friday."),
    until: Day = Field(default=None, description="The same; a day is included."),
) -> ToolOutput:
    """The user's own mail, newest first."""
    within = assistant.span(since, until)
    found = await assistant.services.mail.search(words, within=within, limit=ROWS_SHOWN + 1)
    return assistant.listed("messages", [own_things.without_cut_text(one) for one in found])


async def read_mail(assistant: OpenAssistant, mail_id: OwnId = "") -> ToolOutput:
    """The text of the message the user means."""
    mail = await assistant.meant("email", mail_id, assistant.services.mail.get)
    # Off the loop: the whole text is looked through for other patients' names.
    return {"message": await asyncio.to_thread(assistant.rows, [mail])}


async def draft_mail(
    assistant: OpenAssistant,
    to: list[str] = Field(
        max_length=20, description="E-mail addresses, or names of contacts; of an answer none."
    ),
    title: str = Field(max_length=300, description='Its subject line; "" for that of an answer.'),
    text: str = Field(min_length=1, max_length=10_000),
    answers: str = Field(default="", max_length=500, description="Id of the message it answers."),
) -> ToolOutput:
    """Writes a message as a draft, unsent."""
    reached = [await _address(assistant, one) for one in to]
    subject = " ".join(title.split())
    if answers and not reached:
        mails, said = assistant.services.mail, assistant.turn.request.text
        mail = await assistant.meant("email", answers, mails.get, without=(said,))
        if mail.folder != "inbox":
            raise ToolInputError("only a message that came can be answered; name one to whom")
        answers, reached = mail.id, _ADDRESS.findall(mail.sender)
        subject = subject or f"Re: {mail.subject}"
    if not (reached and subject):
        raise ToolInputError("it needs an address and a subject line")
    new = own_things.NewEmail(to=tuple(reached), subject=subject, text=text, answers=answers)
    made = await assistant.services.mail.draft(new, current_effect())
    return {"draft": await assistant.show_made(made)}


async def _address(assistant: OpenAssistant, to: str) -> str:
    """Return an address: what is none is the name of one contact, whole or in part."""
    if _ADDRESS.fullmatch(to):
        return to
    said = {*words_of(to)}
    found = await assistant.services.contacts.search(to, limit=ROWS_SHOWN) if said else []
    named = [one for one in found if said <= {*words_of(one.name)} and one.email]
    if len(named) != 1:
        raise ToolInputError(f"no one contact is {to}; search_contacts finds names and addresses")
    return named[0].email


async def send_mail(assistant: OpenAssistant, mail_id: OwnId = "") -> ToolOutput:
    """Asks the user to confirm that a draft is sent."""
    meant = await assistant.all_meant("email", mail_id, assistant.services.mail.get)
    if any(one.folder != "drafts" for one in meant):
        raise ToolInputError("only a draft can be sent; write one with draft_mail")
    to = {*words_of((parts_in(assistant.turn.request.text, "sent_to") or {}).get("who", ""))}
    if any(not to <= {*words_of(" ".join(one.to))} for one in meant):
        raise ToolInputError("that draft goes to somebody else; write one to whom it shall go")
    return assistant.ask_first("send_mail", meant)


MAIL = OwnTools((search_mail, read_mail), changes=(draft_mail,), asks=(send_mail,))


# Tools over the user's own documents; deleting only asks.

_WITHHELD = "the document names another patient, so it is not shown here"


async def search_documents(
    assistant: OpenAssistant,
    words: Words = Field(default="", description="In the name of the document."),
    since: Day = Field(default=None, description="Changed then or later."),
    until: Day = Field(default=None, description="The same; a day is included."),
) -> ToolOutput:
    """The user's own files."""
    within, documents = assistant.span(since, until), assistant.services.documents
    found = await documents.search(words, within=within, limit=ROWS_SHOWN + 1)
    return assistant.listed("documents", found)


async def read_own_document(assistant: OpenAssistant, document_id: OwnId = "") -> ToolOutput:
    """The text of the document."""
    documents = assistant.services.documents
    document = await assistant.meant("document", document_id, documents.get)
    found, row = await documents.text(document.id), assistant.rows([document])
    said = {"text": found.text, "beside": found.beside}
    if await asyncio.to_thread(names_one_of, said, assistant.memory.others):
        return {"document": row, "withheld": _WITHHELD}
    shown = {"document": row, "text": found.text[: own_things.DOCUMENT_TEXT_LIMIT_CHARS]}
    if shown["text"] != found.text:
        length = len(found.text)
        shown["cut"] = (
            f"the first {own_things.DOCUMENT_TEXT_LIMIT_CHARS:,} of {length:,} characters"
        )
    return shown


async def delete_document(assistant: OpenAssistant, document_id: OwnId = "") -> ToolOutput:
    """Asks the user to confirm that the document they mean is deleted."""
    documents = assistant.services.documents
    meant = await assistant.all_meant("document", document_id, documents.get)
    return assistant.ask_first("delete_document", meant)


DOCUMENTS = OwnTools((search_documents, read_own_document), asks=(delete_document,))


# Tools over the user's own contacts; deleting only asks.

_FIELD_WORDS = ("phone number", "phone", "number", "e-mail", "email", "mail", "address")


async def search_contacts(
    assistant: OpenAssistant,
    words: Words = Field(default="", description="In name, address or organization."),
) -> ToolOutput:
    """The user's own contacts."""
    contacts, limit = assistant.services.contacts, ROWS_SHOWN + 1
    found = await contacts.search(words, limit=limit)
    if not found and words.endswith("s"):  # "annas number"
        found = await contacts.search(words.removesuffix("s"), limit=limit)
    return assistant.listed("contacts", found)


async def add_contact(
    assistant: OpenAssistant,
    name: Title,
    email: Words = "",
    phone: Phone = "",
    organization: Words = "",
) -> ToolOutput:
    """Adds a contact of the user's."""
    said = {"name": name, "email": email, "phone": phone, "organization": organization}
    new = own_things.Contact(**{field: " ".join(one.split()) for field, one in said.items()})
    made = await assistant.services.contacts.add(new, current_effect())
    await assistant.undoable("add_contact", None, made)
    return {"added": await assistant.show_made(made)}


async def change_contact(
    assistant: OpenAssistant,
    contact_id: OwnId = "",
    name: Title | None = None,
    email: Words | None = None,
    phone: Phone | None = None,
    organization: Words | None = None,
) -> ToolOutput:
    """Changes the contact that the user means."""
    contacts = assistant.services.contacts
    new = [one for one in (name, email, phone, organization) if one]
    contact = await assistant.meant(
        "contact", contact_id, contacts.get, without=[*new, *_FIELD_WORDS]
    )
    change = own_things.ContactChange(
        name=name, email=email, phone=phone, organization=organization
    )
    changed = await contacts.change(contact.id, change)
    await assistant.undoable("change_contact", contact, changed)
    return {"changed": assistant.rows([changed])}


async def delete_contact(assistant: OpenAssistant, contact_id: OwnId = "") -> ToolOutput:
    """Asks the user to confirm that the contact they mean is deleted."""
    meant = await assistant.all_meant("contact", contact_id, assistant.services.contacts.get)
    return assistant.ask_first("delete_contact", meant)


CONTACTS = OwnTools(
    (search_contacts,), changes=(add_contact, change_contact), asks=(delete_contact,)
)
