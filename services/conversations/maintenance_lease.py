"""Holds a conversation for work that is no turn: corrections of people, moves, deletions.

DESIGN: every writer holds the claim, tools for people included. A turn that comes meanwhile is
queued and answered after; work that meets a running turn waits for its end.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import AwareDatetime, BaseModel

from data_models import errors
from data_models.chat_context import ChatContext
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.conversations.claim import Claim
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.conversation_accessor import ConversationAccessor, OwnerIndex
from data_models.conversations.incoming_message import IncomingMessage, Sender
from data_models.documents import Documents
from data_models.identifiers import ConversationLayout, PatientId, storage_folder
from data_models.patient_context_models import PatientContextRegistryAccessor
from data_models.storage.blob_store import BlobStore
from data_models.values import read_value
from services.basis import Replica
from services.conversations.claimant import Claimant
from services.conversations.earlier_turns import Takeover
from settings import Settings

_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class HeldDocument:
    """A patient's document, or the session's, while its conversation is held."""

    document: ChatContext
    claim: Claim
    contexts: ChatContextAccessor
    etag: str | None

    async def write(self, document: ChatContext | None = None) -> None:
        """Store the document as it was changed, or another in its place; once.

        Raises:
            ClaimLostError: somebody took the conversation over; nothing was stored.
        """
        await self.claim.hold()
        try:
            await self.contexts.write(document or self.document, etag=self.etag)
        except (errors.BlobChangedError, errors.BlobExistsError) as error:
            raise errors.ClaimLostError("the document was taken over") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceLease:
    """Claims conversations as turns do. Holds nothing of any conversation.

    Attributes:
        wait_seconds: How long a running turn is waited for.
    """

    claimant: Claimant
    ids: IdSource
    wait_seconds: float = 10.0

    @asynccontextmanager
    async def holding(self, conversation_id: str, *, principal_id: str) -> AsyncIterator[Claim]:
        """Hold the conversation; call `hold()` of the claim before each write of a document.

        Names the active patient: whoever works on another's document calls `name_patient` first.

        Raises:
            NotFoundError: there is no such conversation.
            ConversationBusyError: its turns took longer than `wait_seconds`.
            ClaimLostError: we stood still so long that somebody took us for dead.
        """
        claim = await self._take_claim(conversation_id, principal_id)
        try:
            async with claim.renewing():
                yield claim
        finally:
            with suppress(errors.ClaimLostError):
                # No successor: who queued a message meanwhile waits for the claim and takes it.
                await claim.release(None)

    @asynccontextmanager
    async def holding_document(
        self,
        contexts: ChatContextAccessor,
        conversation_id: str,
        patient_id: PatientId | None,
        *,
        principal_id: str,
    ) -> AsyncIterator[HeldDocument]:
        """Hold the conversation and read a patient's document as it is then; see `holding`.

        Raises:
            CorruptDocumentError: it cannot be read.
        """
        async with self.holding(conversation_id, principal_id=principal_id) as claim:
            await claim.name_patient(patient_id)
            stored = await contexts.read(conversation_id, patient_id, epoch=claim.epoch)
            yield HeldDocument(stored.document, claim, contexts, stored.etag)

    async def _take_claim(self, conversation_id: str, principal_id: str) -> Claim:
        message = IncomingMessage(  # nobody sent it and nobody is answered
            conversation_id=conversation_id,
            channel="web",
            channel_id="upkeep",
            owner=principal_id,
            sender=Sender(principal_id=principal_id),
            message_id=self.ids.new_id("upkeep"),
            text="",
            received_at=self.claimant.clock.now(),
        )
        give_up_at = self.claimant.clock.monotonic() + self.wait_seconds
        run_id = self.ids.new_id("upkeep")
        while True:
            claim = await self.claimant.claim_for_upkeep(conversation_id, message, run_id)
            if claim is not None:
                return claim
            if self.claimant.clock.monotonic() >= give_up_at:
                raise errors.ConversationBusyError("a turn runs in this conversation")
            await asyncio.sleep(_POLL_SECONDS)


async def conversation_of(store: BlobStore, folder: str) -> str | None:
    """Return the id of the conversation whose folder this is; None before its first message.

    Raises:
        CorruptDocumentError: its conversation document cannot be read, or is another's.
    """
    found = await _glance(store, folder)
    if found is not None and storage_folder(found.conversation_id) != folder:
        raise errors.CorruptDocumentError("Conversation belongs to another folder")
    return None if found is None else found.conversation_id


async def is_held(store: BlobStore, folder: str, *, now: datetime) -> bool:
    """Whether somebody may be writing in the conversation whose folder this is.

    Raises:
        CorruptDocumentError: its conversation document cannot be read.
    """
    found = await _glance(store, folder)
    running = None if found is None else found.running_turn
    return running is not None and running.expires_at > now


class _Lease(BaseModel):
    expires_at: AwareDatetime


class _Glance(BaseModel):
    conversation_id: str
    running_turn: _Lease | None = None


async def _glance(store: BlobStore, folder: str) -> _Glance | None:
    blob = await store.read(ConversationLayout(folder).conversation)
    return None if blob is None else read_value(blob.data, _Glance)


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
