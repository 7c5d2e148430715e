"""Reads and writes the registry of a conversation: the source of truth on its patients."""

from collections import OrderedDict

from data_models.documents import Documents, Stored, is_left_over
from data_models.errors import CorruptDocumentError, CorruptRegistryError
from data_models.layout import ConversationLayout
from data_models.patient_context_models import Registry

KEPT_ROWS = 5_000


class PatientContextRegistryAccessor:
    """`patient_context_registry.json`."""

    def __init__(self, *, documents: Documents, kept_rows: int = KEPT_ROWS) -> None:
        self._documents = documents
        self._parsed = _ParsedRegistries(limit_rows=kept_rows)

    async def read(
        self, conversation_id: str, *, epoch: int, fresh: bool = False
    ) -> Stored[Registry]:
        """Return the registry, or an empty one with no ETag if there is none in this epoch.

        Raises:
            CorruptRegistryError: it exists but cannot be read; every turn is refused until
                somebody restores it.
        """
        name = ConversationLayout.of(conversation_id).registry
        stored = await self._read(name, conversation_id, fresh=fresh)
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

    async def _read(
        self, name: str, conversation_id: str, *, fresh: bool
    ) -> Stored[Registry] | None:
        """Read the registry; each version is parsed once, because a turn reads it twice."""
        if not fresh:
            kept = self._parsed.get(name, await self._documents.recall_etag(name))
            if kept is not None:
                return kept
        try:
            stored = await self._documents.read(
                name, Registry, conversation_id=conversation_id, fresh=fresh
            )
        except CorruptDocumentError as error:
            raise CorruptRegistryError(str(error)) from error
        if stored is not None:
            self._parsed.keep(name, stored)
        return stored


class _ParsedRegistries:
    """The registries read last, bounded in rows; what is given out is a copy to change.

    Rows are shared between copies: whoever changes one replaces it (`roster.with_active`).
    """

    def __init__(self, *, limit_rows: int) -> None:
        self._limit_rows = limit_rows
        self._kept: OrderedDict[str, Stored[Registry]] = OrderedDict()
        self._rows = 0

    def get(self, name: str, etag: str | None) -> Stored[Registry] | None:
        """Return the registry if that very version is kept."""
        found = self._kept.get(name)
        if found is None or found.etag != etag:
            return None
        self._kept.move_to_end(name)
        return _copied(found)

    def keep(self, name: str, stored: Stored[Registry]) -> None:
        """Keep a copy, in the place of another version."""
        self._drop(name)
        self._kept[name] = _copied(stored)
        self._rows += _rows(stored)
        while self._rows > self._limit_rows:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        dropped = self._kept.pop(name, None)
        self._rows -= 0 if dropped is None else _rows(dropped)


def _copied(stored: Stored[Registry]) -> Stored[Registry]:
    registry = stored.document
    roster = dict(registry.patient_registry)
    return Stored(registry.model_copy(update={"patient_registry": roster}), stored.etag)


def _rows(stored: Stored[Registry]) -> int:
    return 1 + len(stored.document.patient_registry)
