"""What the Assistant works on: five services of whoever asks, and for whom it made an item.

Items lie in the user's own calendar, mail, contacts and tasks and are nobody else's; what was made
while one chart was open is shown in another patient's turn only as being about another patient.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from data_models.errors import AssistantError
from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.tool_memory import EntityType
from services.assistant import own_things


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantServices:
    """One person's services, all of one back end."""

    calendar: own_things.Calendar
    mail: own_things.Mailbox
    contacts: own_things.AddressBook
    tasks: own_things.TaskList
    documents: own_things.DocumentFolder

    def things(self, kind: EntityType) -> own_things.OwnThings[Any]:
        """Return what has the items of a kind that can be deleted: of all kinds but mail."""
        calendar, contacts, tasks = self.calendar, self.contacts, self.tasks
        kept: Mapping[EntityType, own_things.OwnThings[Any]] = {
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


KEPT_ITEMS = 5_000
_FILE = "made_for.json"
_FOLDER = "assistant"
_ROWS = TypeAdapter(dict[str, tuple[str, str]])


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item was made, by one-way names."""

    patient: str
    conversation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFor:
    """Notes and tells where items were made. Holds nothing of anybody."""

    store: BlobStore

    async def note(
        self, item_id: str, *, principal_id: str, patient_id: PatientId, conversation_id: str
    ) -> None:
        """Remember that an item of `principal_id` was made for a patient; the newest 5,000 stay.

        Raises:
            StoreError: they could not be stored.
        """
        row = (hashed("made_for", patient_id), hashed("made_for", conversation_id))

        def noted(before: bytes | None) -> bytes:
            rows = {**_rows(before)}
            rows.pop(item_id, None)
            rows[item_id] = row
            kept = dict(list(rows.items())[-KEPT_ITEMS:])
            return _ROWS.dump_json(kept)

        await change_blob(self.store, _name(principal_id), noted, what="where items were made")

    async def origins(self, principal_id: str) -> Mapping[str, Origin]:
        """Return where items of `principal_id` were made, by their ids.

        Raises:
            AssistantError: the notes cannot be read: nobody can tell what is about whom.
            StoreError: the store cannot be used.
        """
        blob = await self.store.read(_name(principal_id))
        rows = _rows(None if blob is None else blob.data)
        return {item: Origin(*row) for item, row in rows.items()}


def _name(principal_id: str) -> str:
    return f"{_FOLDER}/{hashed('assistant', principal_id)}/{_FILE}"


def is_for_another(origin: Origin | None, patient_id: PatientId | None) -> bool:
    """Whether an item was made while another chart than that of `patient_id` was open."""
    if origin is None:
        return False
    return patient_id is None or origin.patient != hashed("made_for", patient_id)


def _rows(data: bytes | None) -> Mapping[str, tuple[str, str]]:
    try:
        return {} if data is None else _ROWS.validate_json(data)
    except ValidationError:
        raise AssistantError("the notes of what was made for whom cannot be read") from None
