"""Typed documents over a blob store: verified writes, a bounded cache, damage never empty."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from data_models import errors
from data_models.clock import Clock, IdSource
from data_models.identifiers import BACKUP_MARK, CORRUPT_MARK, timestamp
from data_models.storage.blob_store import Blob, BlobStore
from data_models.values import Document, read_if_whole, upgraded

# Remembers blobs, whole conversations at a time, within a bound.

_ROW_BYTES = 300


class BlobCache:
    """The blobs of the conversations that were used last, bounded in bytes; knows absence too.

    A conversation's documents are forgotten together, never one alone: whoever finds the
    conversation document here may then trust what is here of its other documents.
    """

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._folders: OrderedDict[str, dict[str, Blob | None]] = OrderedDict()
        self.size_bytes = 0
        """What is kept, each blob with 300 bytes for its row."""

    def __contains__(self, name: str) -> bool:
        return name in self._folders.get(_folder(name), {})

    def get(self, name: str) -> Blob | None:
        """Return a blob that is in here, or None if it is known to be absent."""
        folder = _folder(name)
        self._folders.move_to_end(folder)
        return self._folders[folder][name]

    def mark(self, name: str) -> object:
        """Return what stands for now: `put` is told it by whoever has waited for the store."""
        return self._folders.setdefault(_folder(name), {})

    def put(self, name: str, blob: Blob | None, *, since: object = None) -> None:
        """Remember `blob`, or its absence, in the place of what was remembered.

        Args:
            name: Its name.
            blob: What the store holds.
            since: The mark of when it was asked. If the conversation was forgotten later, the
                answer is as old as what was forgotten, and is not remembered.
        """
        if since is not None and self._folders.get(_folder(name)) is not since:
            return
        self.drop(name)
        folder = _folder(name)
        self._folders.setdefault(folder, {})[name] = blob
        self._folders.move_to_end(folder)
        self.size_bytes += _size(blob)
        while self.size_bytes > self._limit_bytes and len(self._folders) > 1:
            self.drop_folder(next(iter(self._folders)))

    def drop(self, name: str) -> None:
        """Forget one blob."""
        rows = self._folders.get(_folder(name), {})
        if name in rows:
            self.size_bytes -= _size(rows.pop(name))

    def drop_folder(self, folder: str) -> None:
        """Forget everything of one conversation."""
        rows = self._folders.pop(folder, {})
        self.size_bytes -= sum(_size(blob) for blob in rows.values())


def _folder(name: str) -> str:
    return name.partition("/")[0]


def _size(blob: Blob | None) -> int:
    return _ROW_BYTES + (len(blob.data) if blob is not None else 0)


DocumentT = TypeVar("DocumentT", bound=Document)
Result = TypeVar("Result")
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


@dataclass(kw_only=True, eq=False)
class Documents:
    """Reads and writes documents of one container.

    The cache holds bytes, not objects: every read parses anew, so a turn's draft is its own
    and a failed turn leaves nothing behind. It is only trusted under a claim: whoever claims a
    conversation with a stale ETag is refused, and calls `forget`.
    """

    store: BlobStore
    clock: Clock
    ids: IdSource
    cache_limit_bytes: int = CACHE_LIMIT_BYTES
    on_corrupt: Callable[[str, str], None] = lambda _conversation_id, _kind: None

    def __post_init__(self) -> None:
        self._cache = BlobCache(limit_bytes=self.cache_limit_bytes)

    async def read(
        self, name: str, model: type[DocumentT], *, conversation_id: str, fresh: bool = False
    ) -> Stored[DocumentT] | None:
        """Return the document, or None if it was never written.

        Args:
            name: Blob name.
            model: What it must be.
            conversation_id: Whose it must be.
            fresh: Ask the store, and leave the cache as it is: what another replica wrote since
                must not stand beside older documents of the same conversation.

        Raises:
            CorruptDocumentError: it exists but cannot be read; it was copied aside.
            DocumentTooNewError: it needs a newer reader.
        """
        blob = await self.store.read(name) if fresh else await self._recall(name)
        if blob is None:
            return None
        try:
            document, version = parse_stored(blob.data, model, conversation_id=conversation_id)
        except errors.CorruptDocumentError:
            # It may be restored at any time, and is then to be seen.
            self._cache.drop(name)
            self.on_corrupt(conversation_id, model.__name__)
            await self._keep_copy(name + CORRUPT_MARK, blob.data)
            raise
        if version < model.SCHEMA_VERSION:
            await self._keep_copy(f"{name}{BACKUP_MARK}{version}-", blob.data)
        return Stored(document, blob.etag)

    async def write(
        self, name: str, document: Document, *, etag: str | None, is_kept: bool = True
    ) -> str:
        """Create (`etag` None) or replace the document and return its new ETag.

        A write whose acknowledgement was lost is recognised by reading it back. A cancelled one
        is waited for, so that it cannot land later than what comes after it.

        Args:
            name: Blob name.
            document: What to write.
            etag: The version that it replaces.
            is_kept: Whether the cache has it then. Not what no turn reads: it would push out
                the documents of other conversations.

        Raises:
            BlobExistsError: somebody else created it.
            BlobChangedError: somebody else wrote it.
        """
        document.write_id = self.ids.new_id("w")
        data = document.model_dump_json().encode()
        etag = await settle(self._write(name, data, etag))
        if not is_kept:
            self._cache.drop(name)
        return etag

    async def put(self, name: str, document: Document, *, is_kept: bool = True) -> None:
        """Write what this conversation's turns alone write: what a crash left gives way.

        Args:
            is_kept: As in `write`.
        """
        try:
            await self.write(name, document, etag=None, is_kept=is_kept)
        except errors.BlobExistsError:
            await self.write(name, document, etag=await self.etag_of(name), is_kept=is_kept)

    async def etag_of(self, name: str) -> str | None:
        """Return the version of a blob that is stored now; None if there is none."""
        blob = await self.store.read(name)
        return None if blob is None else blob.etag

    async def recall_etag(self, name: str) -> str | None:
        """Return the version that `read` gives when it is not asked for a fresh one."""
        blob = await self._recall(name)
        return None if blob is None else blob.etag

    def is_remembered(self, name: str) -> bool:
        """Whether `read` answers without the store, unless it is asked for a fresh document."""
        return name in self._cache

    async def raw(self, name: str) -> bytes | None:
        """Return the bytes of an immutable blob, cached; None if absent."""
        blob = await self._recall(name)
        return None if blob is None else blob.data

    async def delete(self, name: str) -> None:
        """Delete the document; deleting an absent one is no error."""
        self._cache.drop(name)
        await self.store.delete(name)
        self._cache.drop(name)  # somebody may have read it meanwhile

    def forget(self, folder: str) -> None:
        """Drop every cached blob of one conversation: another replica has written there."""
        self._cache.drop_folder(folder)

    async def _recall(self, name: str) -> Blob | None:
        if name in self._cache:
            return self._cache.get(name)
        asked = self._cache.mark(name)
        blob = await self.store.read(name)
        if name not in self._cache:  # else it was written while we read
            self._cache.put(name, blob, since=asked)
        return blob

    async def _write(self, name: str, data: bytes, etag: str | None) -> str:
        self._cache.drop(name)
        asked = self._cache.mark(name)
        try:
            if etag is None:
                new_etag = await self.store.create(name, data)
            else:
                new_etag = await self.store.replace(name, data, etag=etag)
        except (errors.BlobExistsError, errors.BlobChangedError, errors.StoreUnavailableError):
            self._cache.drop(name)
            blob = await self.store.read(name)
            if blob is None or blob.data != data:
                raise
            new_etag = blob.etag
        self._cache.put(name, Blob(data, new_etag), since=asked)
        return new_etag

    async def _keep_copy(self, stem: str, data: bytes) -> None:
        """Keep `data` under a name that begins with `stem`, once."""
        folder = stem.rpartition("/")[0] + "/"
        async for row in self.store.list(folder):
            if row.name.startswith(stem) and row.size_bytes == len(data):
                kept = await self.store.read(row.name)
                if kept is not None and kept.data == data:
                    return
        name = stem + timestamp(self.clock.now())
        try:
            await self.store.create(name, data)
        except errors.BlobExistsError:
            await self.store.create(f"{name}-{self.ids.new_id('copy')}", data)


def is_left_over(document: Document, epoch: int) -> bool:
    """Whether a clear has archived `document` and not deleted it yet: invisible, overwritten.

    Raises:
        ClaimLostError: the conversation was cleared since `epoch` was current.
    """
    if document.epoch > epoch:
        raise errors.ClaimLostError("the conversation was cleared meanwhile")
    return document.epoch < epoch


async def settle(work: Coroutine[None, None, Result]) -> Result:
    """Return what `work` returns; being cancelled meanwhile takes effect when it is over."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # nobody is left to hear it
        raise


def stored_version(data: bytes, model: type[Document]) -> int:
    """Return the `schema_version` of a stored document.

    Raises:
        CorruptDocumentError: not JSON, or not a document at all.
        DocumentTooNewError: `min_reader` is above what this server reads.
    """
    try:
        header = _Header.model_validate_json(data)
    except ValidationError as error:
        # Not `from error`: pydantic puts the rejected text into its message.
        raise errors.CorruptDocumentError(
            f"{model.__name__}: {error.error_count()} problems"
        ) from None
    if header.min_reader > model.SCHEMA_VERSION:
        raise errors.DocumentTooNewError(f"{model.__name__} needs reader {header.min_reader}")
    return header.schema_version


def parse_document(data: bytes, model: type[DocumentT], *, conversation_id: str) -> DocumentT:
    """Return `data` as a `model` of this conversation, upgraded to today's shape.

    Raises:
        CorruptDocumentError: not JSON, not of the shape, or of another conversation.
        DocumentTooNewError: `min_reader` is above what this server reads.
    """
    return parse_stored(data, model, conversation_id=conversation_id)[0]


def parse_stored(
    data: bytes, model: type[DocumentT], *, conversation_id: str
) -> tuple[DocumentT, int]:
    """Return the document and the `schema_version` it is stored in; see `parse_document`."""
    today = _of_today(data, model)
    if today is not None and today.conversation_id == conversation_id:
        return today, today.schema_version
    version = stored_version(data, model)
    try:
        if version < model.SCHEMA_VERSION:
            document = model.model_validate(upgraded(data, model, version))
        else:
            document = model.model_validate_json(data)
    except ValidationError as error:
        raise errors.CorruptDocumentError(
            f"{model.__name__}: {error.error_count()} problems"
        ) from None
    if document.conversation_id != conversation_id:
        raise errors.CorruptDocumentError(f"{model.__name__} belongs to another conversation")
    return document, version


def _of_today(data: bytes, model: type[DocumentT]) -> DocumentT | None:
    """Return what `data` says if it is of today's shape, as nearly all is; None to look closer."""
    if (document := read_if_whole(data, model)) is None:
        return None
    is_read_so = document.min_reader <= model.SCHEMA_VERSION <= document.schema_version
    return document if is_read_so else None
