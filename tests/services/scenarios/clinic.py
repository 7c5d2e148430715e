"""Stored sessions of the booking sample, as turns would have left them on local files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from data_models.chat_context import ChatContext
from data_models.conversations.conversation import Conversation
from data_models.identifiers import ConversationLayout, PatientId
from data_models.scenarios.scenario_session import (
    CompletedCheckpoint,
    PatientProfile,
    ProfileField,
    ReviewFlag,
    ScenarioSession,
    StepVisit,
)
from data_models.storage.local_blob_store import LocalBlobStore
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.scenario_store import ActivePointer, ScenarioStore
from services.scenarios.scenario_settings import CONTAINER
from services.stores import INDEX_FILE, SESSIONS
from tests.services.definitions import definition_in
from tests.services.scenarios.worlds import MemoryIndex
from tests.tables import tables_beside

SAMPLES = Path(__file__).parent
FIRST_FILE = SAMPLES / "appointment_booking.yaml"
FIRST = FIRST_FILE.read_text("utf-8")
SECOND = (SAMPLES / "appointment_booking_v2.yaml").read_text("utf-8")
BOOKING = "appointment-booking"
BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)
WAY: list[str] = tables_beside(Path(__file__))["way"]


@dataclass(frozen=True)
class Visitor:
    """A patient who booked as far as `step`."""

    name: str
    step: str
    age: int | None = None
    channel: str = "web"
    review: str = ""
    said: tuple[tuple[str, str], ...] = ()
    """Fields and what was said of them."""


@dataclass
class Clinic:
    """The local state of a server that has the first version deployed."""

    data: Path
    graph: Graph = field(default_factory=lambda: definition_in(FIRST_FILE))

    async def open(self, visitors: Sequence[Visitor]) -> None:
        """Deploy the first version and store the visitors' sessions."""
        blobs = LocalBlobStore(root=self.data / CONTAINER)
        store = ScenarioStore(blobs=blobs)
        await store.add_version(self.graph)
        pointer = ActivePointer(scenario_id=BOOKING, versions=(1,), checksum=self.graph.checksum)
        await store.save_active(pointer, etag=None)
        await blobs.close()
        await self.admit(visitors)

    async def admit(self, visitors: Sequence[Visitor]) -> None:
        """Store sessions, which tags them."""
        tags = MemoryIndex(self.data / INDEX_FILE).local
        documents = LocalBlobStore(root=self.data / SESSIONS, tags=tags)
        for name, _, context in self.contexts(visitors):
            await documents.create(name, context.model_dump_json().encode())
            await documents.create(*conversation_of(context))
        await documents.close()

    def contexts(
        self, visitors: Sequence[Visitor]
    ) -> Iterator[tuple[str, ScenarioSession, ChatContext]]:
        """Yield name, session and document of each."""
        for visitor in visitors:
            patient, conversation = PatientId("patient_4"), f"chat-{visitor.name}"
            session = self.session(visitor)
            lasts = ProfileField(value=visitor.age, expires_at=datetime(2100, 1, 1, tzinfo=UTC))
            known = {} if visitor.age is None else {"age": lasts}
            context = ChatContext(
                conversation_id=conversation,
                patient_id=patient,
                scenario=session,
                profile=PatientProfile(fields=known),
            )
            yield ConversationLayout.of(conversation).context(patient), session, context

    def session(self, visitor: Visitor) -> ScenarioSession:
        """Return the session of a visitor who went the straight way."""
        path = WAY[: WAY.index(visitor.step) + 1]
        paid = "payment" in path[:-1]
        flag = ReviewFlag(target_version=2, reason=visitor.review, flagged_at=BEGUN)
        return ScenarioSession(
            session_id=f"session-{visitor.name}",
            scenario_id=BOOKING,
            version=1,
            checksum=self.graph.checksum,
            step=visitor.step,
            step_history=[
                StepVisit(step_id=s, step_name=self.graph.steps[s].title, visited_at=BEGUN)
                for s in path
            ],
            completed_checkpoints=[_payment()] if paid else [],
            variables=dict(visitor.said),
            channel=visitor.channel,
            created_at=BEGUN,
            updated_at=BEGUN,
            review=flag if visitor.review else None,
        )


def conversation_of(context: ChatContext) -> tuple[str, bytes]:
    """Return name and bytes of the conversation document of a patient's context."""
    conversation = Conversation(
        conversation_id=context.conversation_id,
        owner="alice",
        channel="web",
        created_at=BEGUN,
        updated_at=BEGUN,
    )
    name = ConversationLayout.of(context.conversation_id).conversation
    return name, conversation.model_dump_json().encode()


def crowd(number: int) -> list[Visitor]:
    """Return so many visitors at all steps: of known age, unknown age, and some minors."""
    ages = (34, None, 12, 71, None)
    return [
        Visitor(
            name=f"{n:06}",
            step=WAY[n * 7 % len(WAY)],
            age=ages[n % len(ages)],
            channel=("web", "msteams")[n % 3 == 0],
            review="undecidable" if n % 41 == 5 else "",
        )
        for n in range(number)
    ]


def _payment() -> CompletedCheckpoint:
    return CompletedCheckpoint(
        step_id="payment", version=1, description="Payment Processed", completed_at=BEGUN
    )
