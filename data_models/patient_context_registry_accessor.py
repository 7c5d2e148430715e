"""Reads and writes the registry of a conversation: the source of truth on its patients."""

from data_models.documents import Documents, Stored, is_left_over
from data_models.layout import ConversationLayout
from data_models.patient_context_models import Registry


class PatientContextRegistryAccessor:
    """`patient_context_registry.json`."""

    def __init__(self, *, documents: Documents) -> None:
        self._documents = documents

    async def read(
        self, conversation_id: str, *, epoch: int, fresh: bool = False
    ) -> Stored[Registry]:
        """Return the registry, or an empty one with no ETag if there is none in this epoch.

        Raises:
            CorruptDocumentError: it exists but cannot be read; every turn is refused until
                somebody restores it.
        """
        name = ConversationLayout.of(conversation_id).registry
        stored = await self._documents.read(
            name, Registry, conversation_id=conversation_id, fresh=fresh
        )
        empty = Registry(conversation_id=conversation_id, epoch=epoch)
        if stored is None:
            return Stored(empty, None)
        return Stored(empty, stored.etag) if is_left_over(stored.document, epoch) else stored

    async def etag_of(self, conversation_id: str) -> str | None:
        """Return the version of the registry that is stored now; None if there is none."""
        return await self._documents.etag_of(ConversationLayout.of(conversation_id).registry)

    async def write(self, registry: Registry, *, etag: str | None) -> str:
        """Create or replace the registry; see `Documents.write` for errors."""
        name = ConversationLayout.of(registry.conversation_id).registry
        return await self._documents.write(name, registry, etag=etag)
