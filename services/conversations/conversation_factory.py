"""Who claims conversations as the settings ask: for turns, and for work that is none."""

from datetime import timedelta

from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.documents import Documents
from data_models.patient_context_registry_accessor import PatientContextRegistryAccessor
from data_models.storage.blob_store import BlobStore
from services.basis import Replica
from services.conversations.claimant import Claimant
from services.conversations.maintenance_lease import MaintenanceLease
from services.conversations.owner_index import OwnerIndex
from services.conversations.takeover import Takeover
from settings import Settings


def claimant_for(
    settings: Settings,
    *,
    conversations: ConversationAccessor,
    registries: PatientContextRegistryAccessor,
    contexts: ChatContextAccessor,
    owners: OwnerIndex,
    replica: Replica,
    clock: Clock,
) -> Claimant:
    """Return who claims conversations, with the lease and the queue that the settings name."""
    return Claimant(
        conversations=conversations,
        registries=registries,
        takeover=Takeover(contexts=contexts, registries=registries),
        owners=owners,
        replica=replica,
        clock=clock,
        times=claim_times_for(settings),
        queue_depth=settings.queue_depth,
        # Where a queue, or a round's list, promises that a message is answered, nothing buries it.
        is_promised=lambda message: (
            message.is_of_rounds or (settings.turn_queue is not None and message.is_delivered)
        ),
    )


def claim_times_for(settings: Settings) -> ClaimTimes:
    """Return how long what a replica claims is its own."""
    return ClaimTimes(
        lease=timedelta(seconds=settings.claim_seconds),
        renew_every=timedelta(seconds=settings.claim_renew_seconds),
        grace=timedelta(seconds=settings.claim_grace_seconds),
    )


def caretaker_for(
    settings: Settings, *, sessions: BlobStore, users: BlobStore, clock: Clock, ids: IdSource
) -> MaintenanceLease:
    """Return who holds conversations for a command that runs beside the servers."""
    documents = Documents(store=sessions, clock=clock, ids=ids)
    claimant = claimant_for(
        settings,
        conversations=ConversationAccessor(documents=documents),
        registries=PatientContextRegistryAccessor(documents=documents),
        contexts=ChatContextAccessor(documents=documents),
        owners=OwnerIndex(store=users),
        replica=Replica(),
        clock=clock,
    )
    return MaintenanceLease(claimant=claimant, ids=ids)
