"""Typed documents over a blob store: verified writes, a bounded cache, damage never empty."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from data_models.blob_store import Blob, BlobStore
from data_models.clock import Clock, IdSource
from data_models.document import Document
from data_models.errors import (
    BlobChangedError,
    BlobExistsError,
    CorruptDocumentError,
    DocumentTooNewError,
    StoreUnavailableError,
)
from data_models.layout import CORRUPT_MARK, timestamp
from data_models.upgrades import upgraded

DocumentT = TypeVar("DocumentT", bound=Document)
CACHE_LIMIT_BYTES = 24 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stored(Generic[DocumentT]):
    """A document and the version it was read at; `etag` None means never written."""

    document: DocumentT
    etag: str | None


class _Header(BaseModel):
    schema_version: int = 1
    min_reader: int = 1
    conversation_id: str


class Documents:
    """Reads and writes documents of one container.

    The cache holds bytes, not objects: every read parses anew, so a turn's draft is its own
    and a failed turn leaves nothing behind. It is only trusted under a claim: whoever claims a
    conversation with a stale ETag is refused, and calls `forget`.
    """

    def __init__(
        self,
        *,
        store: BlobStore,
        clock: Clock,
        ids: IdSource,
        cache_limit_bytes: int = CACHE_LIMIT_BYTES,
    ) -> None:
        self.store = store
        self._clock = clock
        self._ids = ids
        self._cache = _BlobCache(limit_bytes=cache_limit_bytes)

    async def read(
        self, name: str, model: type[DocumentT], *, conversation_id: str, fresh: bool = False
    ) -> Stored[DocumentT] | None:
        """Return the document, or None if it was never written.

        Args:
            name: Blob name.
            model: What it must be.
            conversation_id: Whose it must be.
            fresh: Ask the store even if the bytes are cached.

        Raises:
            CorruptDocumentError: it exists but cannot be read; it was copied aside.
            DocumentTooNewError: it needs a newer reader.
        """
        blob = await self._blob(name, fresh=fresh)
        if blob is None:
            return None
        try:
            document = parse_document(blob.data, model, conversation_id=conversation_id)
        except CorruptDocumentError:
            await self._copy_aside(name, blob)
            raise
        return Stored(document, blob.etag)

    async def write(self, name: str, document: Document, *, etag: str | None) -> str:
        """Create (`etag` None) or replace the document and return its new ETag.

        A write whose acknowledgement was lost is recognised by reading it back.

        Raises:
            BlobExistsError: somebody else created it.
            BlobChangedError: somebody else wrote it.
        """
        document.write_id = self._ids.new_id("w")
        data = document.model_dump_json().encode()
        try:
            if etag is None:
                new_etag = await self.store.create(name, data)
            else:
                new_etag = await self.store.replace(name, data, etag=etag)
        except (BlobExistsError, BlobChangedError, StoreUnavailableError):
            self._cache.drop(name)
            ours = await self._read_back(name, data)
            if ours is None:
                raise
            new_etag = ours
        self._cache.put(name, Blob(data, new_etag))
        return new_etag

    async def raw_etag(self, name: str) -> str | None:
        """Return the version of a blob without reading it as a document; None if absent."""
        blob = await self._blob(name, fresh=True)
        return None if blob is None else blob.etag

    async def raw(self, name: str) -> bytes | None:
        """Return the bytes of an immutable blob, cached; None if absent."""
        blob = await self._blob(name, fresh=False)
        return None if blob is None else blob.data

    async def delete(self, name: str) -> None:
        """Delete the document; deleting an absent one is no error."""
        self._cache.drop(name)
        await self.store.delete(name)

    def forget(self, prefix: str) -> None:
        """Drop every cached blob below `prefix`: another replica has written there."""
        self._cache.drop_prefix(prefix)

    async def _blob(self, name: str, *, fresh: bool) -> Blob | None:
        if not fresh and name in self._cache:
            return self._cache.get(name)
        blob = await self.store.read(name)
        self._cache.put(name, blob)
        return blob

    async def _read_back(self, name: str, data: bytes) -> str | None:
        blob = await self.store.read(name)
        return blob.etag if blob is not None and blob.data == data else None

    async def _copy_aside(self, name: str, blob: Blob) -> None:
        folder = name.rpartition("/")[0] + "/"
        async for row in self.store.list(folder):
            same_size = row.size_bytes == len(blob.data)
            if row.name.startswith(name + CORRUPT_MARK) and same_size:
                return
        try:
            await self.store.create(name + CORRUPT_MARK + timestamp(self._clock.now()), blob.data)
        except BlobExistsError:
            return  # another turn of the same second made the copy


def parse_document(data: bytes, model: type[DocumentT], *, conversation_id: str) -> DocumentT:
    """Return `data` as a `model` of this conversation, upgraded to today's shape.

    Raises:
        CorruptDocumentError: not JSON, not of the shape, or of another conversation.
        DocumentTooNewError: `min_reader` is above what this server reads.
    """
    try:
        header = _Header.model_validate_json(data)
        if header.min_reader > model.SCHEMA_VERSION:
            raise DocumentTooNewError(f"{model.__name__} needs reader {header.min_reader}")
        if header.schema_version < model.SCHEMA_VERSION:
            document = model.model_validate(upgraded(data, model, header.schema_version))
        else:
            document = model.model_validate_json(data)
    except ValidationError as error:
        # Not `from error`: pydantic puts the rejected text into its message.
        raise CorruptDocumentError(f"{model.__name__}: {error.error_count()} problems") from None
    if header.conversation_id != conversation_id:
        raise CorruptDocumentError(f"{model.__name__} belongs to another conversation")
    return document


class _BlobCache:
    """Least recently used blobs, bounded in bytes; remembers absence too."""

    _ROW_BYTES = 300

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._rows: OrderedDict[str, Blob | None] = OrderedDict()
        self._bytes = 0

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def get(self, name: str) -> Blob | None:
        self._rows.move_to_end(name)
        return self._rows[name]

    def put(self, name: str, blob: Blob | None) -> None:
        self.drop(name)
        self._rows[name] = blob
        self._bytes += self._size(blob)
        while self._bytes > self._limit_bytes and len(self._rows) > 1:
            self.drop(next(iter(self._rows)))

    def drop(self, name: str) -> None:
        if name in self._rows:
            self._bytes -= self._size(self._rows.pop(name))

    def drop_prefix(self, prefix: str) -> None:
        for name in [name for name in self._rows if name.startswith(prefix)]:
            self.drop(name)

    def _size(self, blob: Blob | None) -> int:
        return self._ROW_BYTES + (len(blob.data) if blob else 0)
