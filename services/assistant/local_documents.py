"""Documents as files of a folder of their owner's."""

import asyncio
import mimetypes
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from urllib.parse import quote, unquote

from data_models.blob_names import is_blob_name
from data_models.blob_store import BlobInfo, BlobStore
from data_models.errors import AssistantItemGoneError, BlobExistsError
from services.assistant.document_text import check_readable, text_of
from services.assistant.documents import DocumentText, PersonalDocument
from services.assistant.local_samples import LocalSamples
from services.assistant.words import fits

_FOLDER = "documents/"
_BEGUN = "documents_begun"


class LocalDocumentFolder:
    """A `DocumentFolder` over the blobs below `folder`; an id is the blob's last segment."""

    def __init__(self, *, store: BlobStore, folder: str, samples: LocalSamples) -> None:
        self._store = store
        self._folder = folder
        self._samples = samples

    async def search(
        self,
        words: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int,
    ) -> Sequence[PersonalDocument]:
        """See `DocumentFolder.search`: by name, not by text."""
        found = [
            row
            for row in await self._all()
            if fits(words, row.name)
            and (since is None or row.modified >= since)
            and (until is None or row.modified < until)
        ]
        return sorted(found, key=lambda row: row.modified, reverse=True)[:limit]

    async def get(self, document_id: str) -> PersonalDocument | None:
        """See `DocumentFolder.get`."""
        return next((row for row in await self._all() if row.id == document_id), None)

    async def text(self, document_id: str) -> DocumentText:
        """See `DocumentFolder.text`."""
        found = await self.get(document_id)
        if found is None:
            raise AssistantItemGoneError("the document is no longer there")
        check_readable(found)
        blob = await self._store.read(self._name(document_id))
        if blob is None:
            raise AssistantItemGoneError("the document is no longer there")
        return await text_of(found, blob.data)

    async def delete(self, document_id: str) -> bool:
        """See `DocumentFolder.delete`."""
        if await self.get(document_id) is None:
            return False
        await self._store.delete(self._name(document_id))
        return True

    async def _all(self) -> list[PersonalDocument]:
        await self._begin()
        return [_document(row) async for row in self._store.list(self._folder + _FOLDER)]

    async def _begin(self) -> None:
        """Give a new user the samples, once: one that is deleted does not come back."""
        if await self._store.read(self._folder + _BEGUN) is not None:
            return
        for name, data in await asyncio.to_thread(self._samples.documents):
            with suppress(BlobExistsError):
                await self._store.create(self._name(quote(name, safe="")), data)
        with suppress(BlobExistsError):
            await self._store.create(self._folder + _BEGUN, b"1")

    def _name(self, document_id: str) -> str:
        name = f"{self._folder}{_FOLDER}{document_id}"
        if "/" in document_id or not is_blob_name(name):
            raise AssistantItemGoneError("the document is no longer there")
        return name


def _document(row: BlobInfo) -> PersonalDocument:
    document_id = row.name.rpartition("/")[2]
    name = unquote(document_id)
    return PersonalDocument(
        id=document_id,
        name=name,
        modified=row.modified_at,
        size_bytes=row.size_bytes,
        media_type=mimetypes.guess_type(name)[0] or "",
    )
