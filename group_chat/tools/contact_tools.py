"""Tools over the user's own contacts; deleting only asks."""

from pydantic import Field

from data_models.values import ClosedValue
from group_chat.tools.personal import ROWS_SHOWN, PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.assistant.contacts import ContactChange, NewContact

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
        *tools_of(own.search_contacts, own.delete_contact),
        *tools_of(own.add_contact, own.change_contact, changes=True),
    )
