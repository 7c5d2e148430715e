"""The journal of one run: append blobs of its conversation, gone soon after the run.

One replica writes it and any may read it. A part is appended to until it is full, so that a reader
who comes back every moment reads little twice.
"""

from collections.abc import Sequence

from data_models.blob_store import BlobStore
from data_models.layout import ConversationLayout
from data_models.turn_events import TurnEvent
from services.run_journal.event_lines import events_in, lines_of

PART_BYTES = 32_768
"""A part that is as long takes no more."""


class JournalNames:
    """The names of one run's parts; a run that another replica begins anew has others."""

    def __init__(self, *, conversation_id: str, run_id: str, replica: str) -> None:
        self._layout = ConversationLayout.of(conversation_id)
        self._run_id = run_id
        self._replica = replica

    @property
    def prefix(self) -> str:
        """The folder of all journals of the conversation."""
        return self._layout.watched_prefix

    def part(self, number: int) -> str:
        """The name of a part, from 0."""
        return self._layout.journal(self._run_id, self._replica, number)


class JournalWriter:
    """Writes down one run.

    Attributes:
        seq: So many events are written.
    """

    def __init__(self, *, store: BlobStore, names: JournalNames) -> None:
        self._store = store
        self._names = names
        self._part = 0
        self._position = 0
        self.seq = 0

    async def add(self, events: Sequence[TurnEvent]) -> None:
        """Append the events that follow; after `StoreUnavailableError` they may be tried again.

        Raises:
            StoreUnavailableError: they are not known to be written.
            BlobChangedError: somebody else is at this journal; it ends here.
        """
        name = self._names.part(self._part)
        self._position = await self._store.append(name, lines_of(events), position=self._position)
        self.seq += len(events)
        if self._position >= PART_BYTES:
            self._part, self._position = self._part + 1, 0

    async def sweep(self) -> None:
        """Delete what dead replicas left of earlier runs of the conversation."""
        async for row in self._store.list(self._names.prefix):
            await self._store.delete(row.name)

    async def delete(self) -> None:
        """Delete the journal."""
        for number in range(self._part + 1):
            await self._store.delete(self._names.part(number))


class JournalReader:
    """Reads what another replica writes down of one run."""

    def __init__(self, *, store: BlobStore, names: JournalNames) -> None:
        self._store = store
        self._names = names
        self._part = 0
        self._position = 0

    async def news(self) -> list[TurnEvent]:
        """Return the events that were written since; none if there is no journal.

        Raises:
            CorruptDocumentError: a newer server wrote what this one does not know.
        """
        found: list[TurnEvent] = []
        while (blob := await self._store.read(self._names.part(self._part))) is not None:
            whole = blob.data.rfind(b"\n") + 1
            found += events_in(blob.data[self._position : whole])
            self._position = whole
            if whole < PART_BYTES:
                break
            self._part, self._position = self._part + 1, 0
        return found
