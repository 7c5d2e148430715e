"""Puts conversations with a past into the stores: through the accessors, as turns leave them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import RandomIds, SystemClock
from data_models.conversations.conversation import Conversation
from data_models.conversations.conversation_accessor import ConversationAccessor, OwnerIndex
from data_models.documents import Documents
from data_models.identifiers import PatientId
from data_models.patient_context_models import (
    PatientContext,
    PatientContextRegistryAccessor,
    Registry,
)
from services.access.authenticators import DEV_PRINCIPAL_ID
from services.conversations.clearing import run_in_parallel
from services.memory_blocks.remembering import conclude, greet
from services.memory_blocks.rotation import make_room
from services.stores import open_stores
from settings import Settings

BEGAN = datetime(2026, 1, 5, 8, tzinfo=UTC)
FIRST = PatientId("patient_4")
_QUESTION_CHARS = 120
_ANSWER_CHARS = 680
_TALK = "The scan of that day shows a stable lesion in the right upper lobe, 31 mm. "
_AGENT = "Orchestrator"


@dataclass(frozen=True)
class Place:
    """Where the state of a server is: local files, or Azurite by its connection string."""

    name: str
    data_dir: Path
    connection_string: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The server's variables."""
        found = {"DATA_DIR": str(self.data_dir)}
        if self.connection_string is not None:
            found["AZURE_STORAGE_CONNECTION_STRING"] = self.connection_string
        return found

    @property
    def settings(self) -> Settings:
        """The same as settings of this process."""
        return Settings.model_validate(
            {
                "DATA_DIR": self.data_dir,
                "AZURE_STORAGE_CONNECTION_STRING": self.connection_string,
                "APP_BLOB_STORAGE_ENDPOINT": None,
            }
        )


class Seeder:
    """Writes conversations that nobody else has touched yet, so that no claim is needed."""

    def __init__(self, *, documents: Documents, owners: OwnerIndex) -> None:
        self._conversations = ConversationAccessor(documents=documents)
        self._registries = PatientContextRegistryAccessor(documents=documents)
        self._contexts = ChatContextAccessor(documents=documents)
        self._owners = owners

    async def conversation(
        self, conversation_id: str, *, messages: int = 2, patients: int = 1
    ) -> None:
        """Store a conversation about `patients`, with `messages` about the active one."""
        ids = [FIRST, *(PatientId(f"patient_{1000 + n}") for n in range(1, patients))]
        await self._owners.add(DEV_PRINCIPAL_ID, conversation_id)
        await self._write_history(conversation_id, FIRST, messages)
        others = [self._write_history(conversation_id, each, 2) for each in ids[1:]]
        await run_in_parallel(others)
        await self._registries.write(_registry(conversation_id, ids), etag=None)
        row = Conversation(
            conversation_id=conversation_id,
            owner=DEV_PRINCIPAL_ID,
            channel="web",
            created_at=BEGAN,
            updated_at=BEGAN,
        )
        await self._conversations.write(row, etag=None)

    async def _write_history(
        self, conversation_id: str, patient_id: PatientId, messages: int
    ) -> None:
        context = ChatContext(conversation_id=conversation_id, patient_id=patient_id)
        for number in range(1, messages // 2 + 1):
            turn = _turn(number)
            context.chat_history.append(turn)
            context.next_turn_id = number + 1
            greet(context, turn, user_id=DEV_PRINCIPAL_ID)
            conclude(context, turn)
            await make_room(self._contexts, context)
        await self._contexts.write(context, etag=None)


@asynccontextmanager
async def seeding(place: Place) -> AsyncIterator[Seeder]:
    """Open the stores of `place`."""
    ids = RandomIds()
    stores = open_stores(place.settings, ids=ids)
    try:
        documents = Documents(store=stores.sessions, clock=SystemClock(), ids=ids)
        yield Seeder(documents=documents, owners=OwnerIndex(store=stores.users))
    finally:
        await stores.close()


def _registry(conversation_id: str, ids: Sequence[PatientId]) -> Registry:
    rows = {
        patient_id: PatientContext(
            patient_id=patient_id,
            conversation_id=conversation_id,
            created_at=BEGAN,
            updated_at=BEGAN,
        )
        for patient_id in ids
    }
    return Registry(
        conversation_id=conversation_id, active_patient_id=ids[0], patient_registry=rows
    )


def _turn(number: int) -> Turn:
    at = BEGAN + timedelta(minutes=number)
    answer = AgentMessage(
        message_id=f"msg_seed_{number}",
        agent=_AGENT,
        text=_text(number, _ANSWER_CHARS),
        timestamp=at,
    )
    return Turn(
        turn_id=number,
        run_id=f"run_seed_{number}",
        timestamp=at,
        user="dev",
        user_message=_text(number, _QUESTION_CHARS),
        agent_responses=[answer],
        turn_status="COMPLETED",
    )


def _text(number: int, chars: int) -> str:
    return (f"Visit {number}. " + _TALK * (chars // len(_TALK) + 1))[:chars]
