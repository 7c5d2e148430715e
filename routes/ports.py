"""What the transports need from the services, said in their own words.

`TurnScheduler`, `services.runs.hub` and `services.views.conversation_reader` fit these as they are.
"""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Protocol

from pydantic import BaseModel

from data_models.chart_view import ChartView
from data_models.chat_context import Artifact, Turn
from data_models.incoming_message import IncomingMessage
from data_models.patient_identity import PatientIdentity
from data_models.turn_events import TurnEvent
from services.memory_edits.operations import Operation
from services.memory_edits.view import MemoryView
from services.records.views.source import SourceText
from services.views.patient_directory import Demographics
from services.views.patient_finder import FoundPatients


class Run(Protocol):
    """One run of a turn: an ordered, replayable list of events."""

    @property
    def run_id(self) -> str:
        """Name of the run in logs, events and the audit trail."""
        ...

    @property
    def conversation_id(self) -> str:
        """The conversation it belongs to."""
        ...

    @property
    def message(self) -> IncomingMessage:
        """What was asked."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether the last event has happened."""
        ...

    def events(self, *, after: int = 0) -> AsyncIterator[tuple[int, TurnEvent]]:
        """Yield (place, event) from place `after + 1` on, until the run is over."""
        ...


class Scheduler(Protocol):
    """Takes messages of every channel, one turn at a time per conversation."""

    async def submit(self, message: IncomingMessage) -> Run:
        """Return when the message is durable; the turn goes on whether or not anybody watches.

        Raises:
            RoundsError: it was refused, or could not be made durable.
        """
        ...

    async def watch(self, conversation_id: str, run_id: str, *, owner: str) -> Run | None:
        """Return a run that waits or goes on anywhere, or ended here at most five minutes ago.

        Only if it is the owner's.

        Raises:
            StoreError: it does not run here, and nobody can tell just now whether elsewhere.
        """
        ...

    async def stop(self, conversation_id: str, *, owner: str, run_id: str | None = None) -> bool:
        """Cancel the running turn; False if none runs."""
        ...


class HistoryPage(Protocol):
    """A page of turns, oldest first."""

    @property
    def turns(self) -> Sequence[Turn]:
        """Whole turns."""
        ...

    @property
    def patient_id(self) -> str | None:
        """Whose they are; None for nobody's."""
        ...

    @property
    def patient(self) -> PatientIdentity | None:
        """Who the patient is, as noted when their chart was opened."""
        ...

    @property
    def views(self) -> Mapping[str, ChartView]:
        """Rows that were shown with their messages, by view; those that can be read."""
        ...

    @property
    def next_before(self) -> int | None:
        """What to ask for next to read on into the past; None at the beginning."""
        ...


class Reader(Protocol):
    """Reads conversations. Everything raises `NotFoundError` for absent, malformed or not yours."""

    async def create(self, *, owner: str) -> str:
        """Issue a conversation id."""
        ...

    async def list_of(self, *, owner: str) -> Sequence[BaseModel]:
        """Return a summary of each of the owner's conversations."""
        ...

    async def access(self, conversation_id: str, *, owner: str, unclaimed_ok: bool = False) -> None:
        """Return if `owner` may use the conversation: the one door."""
        ...

    async def view(self, conversation_id: str, *, owner: str) -> BaseModel:
        """Return the conversation's shared state, running turn and patients."""
        ...

    async def progress(self, conversation_id: str, *, owner: str) -> BaseModel:
        """Return which run goes on and which ended last, nothing of a patient."""
        ...

    async def messages(
        self,
        conversation_id: str,
        *,
        owner: str,
        patient_id: str | None,
        before: int | None = None,
        limit: int = 50,
    ) -> HistoryPage:
        """Return turns of one patient; None: the active one; `session`: of none."""
        ...

    async def artifact(
        self, conversation_id: str, *, owner: str, patient_id: str, artifact_id: str
    ) -> tuple[Artifact, bytes]:
        """Return a file that an agent made for the patient."""
        ...


class PatientDirectory(Protocol):
    """Tells who a patient of a conversation is, and leaves an audit record."""

    def demographics(
        self, conversation_id: str, *, owner: str, patient_id: str
    ) -> Awaitable[Demographics]:
        """Return who `patient_id` is.

        Raises:
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
            RecordsError: the records have no answer.
        """
        ...


class PatientFinder(Protocol):
    """Looks for patients, names nobody whose chart is closed, and leaves an audit record."""

    async def find(self, text: str, *, owner: str) -> FoundPatients:
        """Return whom `text` finds; everybody where it says nothing.

        Raises:
            BadFrameError: too long.
            RecordsError: the directory has no answer.
        """
        ...


class PatientChart(Protocol):
    """Shows charts of the patients of a conversation, and leaves an audit record."""

    async def part(
        self, conversation_id: str, *, owner: str, patient_id: str, part: str, name: str = ""
    ) -> ChartView:
        """Return a part of the chart, or with `name` the values of one result over time.

        Raises:
            BadFrameError: there is no such part.
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
            RecordsError: the records have no answer.
        """
        ...


class MemoryService(Protocol):
    """Shows what is remembered of a patient, and lets people change it."""

    async def show(self, conversation_id: str, *, owner: str, patient_id: str | None) -> MemoryView:
        """Return the memory of a patient; None: the active one; `session`: of none.

        Raises:
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
        """
        ...

    async def change(
        self,
        conversation_id: str,
        *,
        owner: str,
        patient_id: str | None,
        operations: Sequence[Operation],
        revision: str,
    ) -> MemoryView:
        """Apply all of `operations` or none.

        Raises:
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
            MemoryChangedError: the memory is not as it was at `revision`.
        """
        ...


class Restoring(Protocol):
    """Undoes the last clear of a conversation."""

    async def restore(self, conversation_id: str, *, owner: str) -> int:
        """Return how many documents are back.

        Raises:
            NotFoundError: no such conversation, or not the owner's.
            NothingToUndoError: no clear of the owner's in the last 24 hours.
        """
        ...


class PatientSources(Protocol):
    """Opens sources of the patients of a conversation, and leaves an audit record."""

    def source(
        self, conversation_id: str, *, owner: str, patient_id: str, ref: str
    ) -> Awaitable[SourceText]:
        """Return what stands behind a source id.

        Raises:
            NotFoundError: also where the patient's record holds no such source.
            RecordsError: the records have no answer.
        """
        ...
