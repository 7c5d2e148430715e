"""What the Assistant works on: five services, of whoever asks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any, Protocol

from data_models.identifiers import PatientId
from data_models.tool_memory import EntityType
from services.assistant.calendar import Calendar, TaskList
from services.assistant.contacts import AddressBook
from services.assistant.documents import DocumentFolder
from services.assistant.mail import Mailbox
from services.assistant.own_things import OwnThings


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantServices:
    """One person's services, all of one back end."""

    calendar: Calendar
    mail: Mailbox
    contacts: AddressBook
    tasks: TaskList
    documents: DocumentFolder

    def things(self, kind: EntityType) -> OwnThings[Any]:
        """Return what has the items of a kind that can be deleted: of all kinds but mail."""
        calendar, contacts, tasks = self.calendar, self.contacts, self.tasks
        kept: Mapping[EntityType, OwnThings[Any]] = {
            "calendar_event": calendar, "contact": contacts, "task": tasks,
            "document": self.documents,
        }  # fmt: skip
        return kept[kind]


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


_FOUND_LIMIT = 5


async def own_contacts(
    back_end: AssistantBackEnd, user: str, _patient_id: PatientId | None, said: str
) -> Collection[str]:
    """Return the names of at most five contacts of the user's own that hold all words of `said`.

    Raises:
        AssistantError: they cannot be read.
    """
    if not said:
        return ()
    book = back_end.of(user, zone=UTC).contacts
    return [one.name for one in await book.search(said, limit=_FOUND_LIMIT)]
