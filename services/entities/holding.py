"""Keeps turns out of a conversation while a command rewrites its documents (DESIGN: the claim)."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from data_models.blob_store import BlobStore
from data_models.identifiers import PatientId, storable_patient_id
from services.conversations.caretaker import Caretaker, conversation_of

_PRINCIPAL = "entities-migration"
_PREFIX, _SUFFIX = "patient_", "_context.json"


class Hold(Protocol):
    """The right to write a document, as long as it lasts."""

    async def hold(self) -> None:
        """Return if the document may be written now.

        Raises:
            ClaimLostError: we stood still so long that somebody took the conversation over.
        """
        ...


class Holding(Protocol):
    """Who gives that right."""

    def of(self, name: str) -> AbstractAsyncContextManager[Hold]:
        """Hold the conversation of the context document `name`.

        Raises:
            ConversationBusyError: its turns took too long.
        """
        ...


class Unclaimed:
    """For a conversation that has no claim: no turn of this server has ever run in it."""

    async def hold(self) -> None:
        """See `Hold.hold`; conditional writes are what keeps a first turn apart."""

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[Hold]:
        """See `Holding.of`."""
        yield self


class Claimed:
    """Claims conversations as turns do."""

    def __init__(self, *, store: BlobStore, caretaker: Caretaker) -> None:
        self._store = store
        self._caretaker = caretaker

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[Hold]:
        """See `Holding.of`."""
        folder, _, inner = name.rpartition("/")
        conversation_id = await conversation_of(self._store, folder)
        if conversation_id is None:
            yield Unclaimed()
            return
        async with self._caretaker.holding(conversation_id, principal_id=_PRINCIPAL) as claim:
            # Whoever takes over rewrites this very document, so that our write would fail.
            await claim.name_patient(_patient_of(inner))
            yield claim


def _patient_of(inner: str) -> PatientId | None:
    if not inner.startswith(_PREFIX):
        return None
    return storable_patient_id(inner.removeprefix(_PREFIX).removesuffix(_SUFFIX))
