"""The back end without a server: files of our own, in the store that conversations are in."""

from datetime import tzinfo

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.identifiers import hashed
from services.assistant.back_end import AssistantServices
from services.assistant.contacts import Contact
from services.assistant.local_contacts import LocalAddressBook
from services.assistant.local_documents import LocalDocumentFolder
from services.assistant.local_file import LocalFile
from services.assistant.local_mail import LocalMailbox
from services.assistant.local_rows import LocalRows, Row
from services.assistant.local_samples import LocalSamples
from services.assistant.local_tasks import LocalTaskList
from services.assistant.mail import Email
from services.assistant.tasks import Task

FOLDER = "assistant"


class LocalAssistant:
    """An `AssistantBackEnd`: `assistant/{hash of the principal}/calendar.ics` and its siblings."""

    def __init__(self, *, store: BlobStore, samples: LocalSamples, clock: Clock) -> None:
        self._store = store
        self._samples = samples
        self._clock = clock

    def of(self, principal_id: str, *, zone: tzinfo) -> AssistantServices:
        """See `AssistantBackEnd.of`."""
        # icalendar takes a sixth of the server's imports; the start loads it beside the port.
        from services.assistant.local_calendar import LocalCalendar

        folder = f"{FOLDER}/{hashed('assistant', principal_id)}/"
        calendar = self._file(folder, "calendar.ics", zone)
        mail = self._rows(folder, "mail.json", zone, Email)
        return AssistantServices(
            calendar=LocalCalendar(file=calendar, zone=zone, clock=self._clock),
            mail=LocalMailbox(
                rows=mail, store=self._store, outbox=f"{folder}outbox/", clock=self._clock
            ),
            contacts=LocalAddressBook(rows=self._rows(folder, "contacts.json", zone, Contact)),
            tasks=LocalTaskList(rows=self._rows(folder, "tasks.json", zone, Task)),
            documents=LocalDocumentFolder(store=self._store, folder=folder, samples=self._samples),
        )

    def _rows(self, folder: str, name: str, zone: tzinfo, kind: type[Row]) -> LocalRows[Row]:
        return LocalRows(file=self._file(folder, name, zone), kind=kind)

    def _file(self, folder: str, name: str, zone: tzinfo) -> LocalFile:
        today = self._clock.now().astimezone(zone).date()
        return LocalFile(
            store=self._store,
            name=folder + name,
            begins_as=lambda: self._samples.file(name, today=today),
        )
