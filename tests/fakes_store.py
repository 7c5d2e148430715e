"""A store in memory, for speed; it passes the same contract as the real ones."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count

from data_models.errors import BlobChangedError, BlobExistsError
from data_models.storage.blob_store import Blob, BlobInfo, checked_blob_name, checked_blob_prefix
from data_models.storage.local_blob_tags import LocalBlobTags

_START = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Stored:
    blob: Blob
    modified_at: datetime


class MemoryBlobStore:
    """A `BlobStore` that lives as long as the test."""

    def __init__(self, *, tags: LocalBlobTags | None = None) -> None:
        self._blobs: dict[str, _Stored] = {}
        self._versions = count(1)
        self.tags = tags

    @property
    def contents(self) -> dict[str, bytes]:
        """Every blob's bytes by name, in name order."""
        return {name: self._blobs[name].blob.data for name in sorted(self._blobs)}

    async def read(self, name: str) -> Blob | None:
        stored = self._blobs.get(checked_blob_name(name))
        return None if stored is None else stored.blob

    async def create(self, name: str, data: bytes) -> str:
        if checked_blob_name(name) in self._blobs:
            raise BlobExistsError
        return self._put(name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        stored = self._blobs.get(checked_blob_name(name))
        if stored is None or stored.blob.etag != etag:
            raise BlobChangedError
        return self._put(name, data)

    async def delete(self, name: str) -> None:
        self._blobs.pop(checked_blob_name(name), None)
        if self.tags is not None:
            self.tags.note(name, None)

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        checked_blob_prefix(prefix)
        for name in sorted(self._blobs):
            if name.startswith(prefix) and name in self._blobs:
                stored = self._blobs[name]
                size = len(stored.blob.data)
                yield BlobInfo(name, stored.blob.etag, size, stored.modified_at)

    async def folders(self) -> AsyncIterator[str]:
        for folder in sorted({name.partition("/")[0] for name in self._blobs if "/" in name}):
            yield folder

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        stored = self._blobs.get(checked_blob_name(name))
        before = b"" if stored is None else stored.blob.data
        if len(before) != position:
            raise BlobChangedError
        self._put(name, before + data)
        return position + len(data)

    async def check(self) -> None:
        """Memory always answers."""

    async def close(self) -> None:
        """There is nothing to release."""

    def _put(self, name: str, data: bytes) -> str:
        version = next(self._versions)
        blob = Blob(data, f'"{version}"')
        self._blobs[name] = _Stored(blob, _START + timedelta(seconds=version))
        if self.tags is not None:
            self.tags.note(name, data)
        return blob.etag
