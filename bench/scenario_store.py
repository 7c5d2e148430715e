"""Stored sessions for `bench.scenarios`: on local files, or on Azure Blob Storage or Azurite."""

import asyncio
import resource
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client import CollectorRegistry

from data_models.blob_store import BlobStore
from data_models.chat_context import ChatContext
from data_models.clock import RandomIds, SystemClock
from data_models.documents import Documents
from data_models.identifiers import PatientId
from data_models.layout import ConversationLayout
from data_models.local_blob_store import LocalBlobStore
from data_models.scenario_session import ScenarioSession, StepVisit
from services.audit.trail import NoAudit
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.migration_config import DeploymentConfig, MigrationConfig
from services.scenarios.migration.ports import SessionIndex, SessionRow, row_of
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.migration.sqlite_index import SqliteSessionIndex
from services.scenarios.migration.tag_index import TagSessionIndex, session_tags
from services.scenarios.operators.operator_factory import Operators, operators_for
from services.scenarios.scenario_factory import ScenarioStores

SAMPLES = Path(__file__).parent.parent / "tests" / "services" / "scenarios"
FIRST = (SAMPLES / "appointment_booking.yaml").read_text("utf-8")
SECOND = (SAMPLES / "appointment_booking_v2.yaml").read_text("utf-8")
BOOKING = "appointment-booking"
BEGUN = datetime(2026, 1, 5, tzinfo=UTC)
WRITTEN_AT_ONCE = 32


@dataclass
class Store:
    """Where the bench's sessions are, and the operators' half over them."""

    documents: BlobStore
    blobs: BlobStore
    index: SessionIndex

    def __post_init__(self) -> None:
        config = MigrationConfig(deployment=DeploymentConfig(require_approval=False))
        stores = ScenarioStores(self.blobs, ScenarioStore(blobs=self.blobs), self.index, config)
        self.operators: Operators = operators_for(
            stores,
            documents=Documents(store=self.documents, clock=SystemClock(), ids=RandomIds()),
            audit=NoAudit(),
            registry=CollectorRegistry(),
            clock=SystemClock(),
            ids=RandomIds(),
            works=False,
        )

    async def fill(self, sessions: int) -> None:
        """Publish the first version, store the sessions, and plan the second version."""
        graph = await self.operators.service.publish(FIRST, operator="ann")
        for start in range(0, sessions, WRITTEN_AT_ONCE):
            numbers = range(start, min(sessions, start + WRITTEN_AT_ONCE))
            rows = await asyncio.gather(*(self._stored(graph, number) for number in numbers))
            for row in rows:
                if row is not None:
                    await self.index.put(row)
        await self.operators.service.propose(SECOND, operator="ann")

    async def tried(self) -> tuple[int, int]:
        """Dry-run the plan; return how many sessions it met and the highest memory."""
        seen, highest, after = 0, 0, ""
        while True:
            page = await self.operators.service.dry_run(
                BOOKING, after=after, limit=1_000, operator="ann"
            )
            seen += sum(row.effect not in ("gone", "unreadable") for row in page.rows)
            highest = max(highest, _resident_bytes())
            after = page.cursor
            if not after:
                return seen, highest

    async def deployed(self) -> tuple[int, int]:
        """Deploy the plan; return how many sessions were marked and the memory after it."""
        await self.operators.service.deploy(BOOKING, operator="bob")
        await self.operators.deployer.advance(BOOKING)
        tallies = await self.index.tally(BOOKING)
        return sum(one.number for one in tallies if one.mark == 2), _resident_bytes()

    async def close(self) -> None:
        """Release files and connections."""
        await self.index.close()
        await self.blobs.close()
        await self.documents.close()

    async def _stored(self, graph: Graph, number: int) -> SessionRow | None:
        patient, conversation = PatientId("patient_4"), f"bench-{number:07}"
        place = ConversationLayout.of(conversation).context(patient)
        steps = ["welcome", "service", "day", "slot", "contact"][: 1 + number % 5]
        session = ScenarioSession(
            session_id=f"s{number:07}",
            scenario_id=BOOKING,
            version=1,
            checksum=graph.checksum,
            step=steps[-1],
            step_history=[StepVisit(step_id=step, visited_at=BEGUN) for step in steps],
            created_at=BEGUN,
            updated_at=BEGUN,
        )
        context = ChatContext(conversation_id=conversation, patient_id=patient, scenario=session)
        await self.documents.create(place, context.model_dump_json().encode())
        return row_of(session, place=place)


class LocalStore(Store):
    """On local files and SQLite."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            documents=LocalBlobStore(root=folder / "chat-sessions"),
            blobs=LocalBlobStore(root=folder / "scenarios"),
            index=SqliteSessionIndex(path=folder / "sessions.sqlite"),
        )


def azure_store(connection: str) -> Callable[[Path], Store]:
    """Return what opens a store by connection string, in fresh containers."""
    from data_models.azure_blob_store import AzureBlobStore
    from data_models.azure_blob_tags import AzureBlobTags

    def opened(_: Path) -> Store:
        ids = RandomIds()
        suffix = f"{datetime.now(UTC):%Y%m%d%H%M%S}"
        name = f"bench-sessions-{suffix}"
        return Store(
            documents=AzureBlobStore.from_connection_string(
                connection, container=name, ids=ids, tags_of=session_tags
            ),
            blobs=AzureBlobStore.from_connection_string(
                connection, container=f"bench-scenarios-{suffix}", ids=ids
            ),
            index=TagSessionIndex(
                tags=AzureBlobTags.from_connection_string(connection, container=name)
            ),
        )

    return opened


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text("utf-8").split()[1]
    return int(pages) * resource.getpagesize()
