"""What the Assistant works on: five services, of whoever asks."""

from dataclasses import dataclass
from datetime import tzinfo
from typing import Protocol

from data_models.errors import AssistantError
from services.assistant.calendar import Calendar
from services.assistant.contacts import AddressBook
from services.assistant.documents import DocumentFolder
from services.assistant.mail import Mailbox
from services.assistant.tasks import TaskList


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantServices:
    """One person's services, all of one back end."""

    calendar: Calendar
    mail: Mailbox
    contacts: AddressBook
    tasks: TaskList
    documents: DocumentFolder


class AssistantBackEnd(Protocol):
    """Everybody's services, each only for its owner."""

    def of(self, principal_id: str, *, zone: tzinfo) -> AssistantServices:
        """Return the services of one principal; opens nothing yet.

        Args:
            zone: The user's, for whole days and for times that a source gives without one.

        Raises:
            AssistantRefusedError: this principal has none here.
        """
        ...


class NoAssistant:
    """Stands in where no back end is set up."""

    def of(self, principal_id: str, *, zone: tzinfo) -> AssistantServices:
        """See `AssistantBackEnd.of`."""
        raise AssistantError("no calendar, mail, contacts, tasks or documents are set up")
