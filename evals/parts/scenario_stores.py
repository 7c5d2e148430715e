"""A blobs and an index in memory, for what-if cases and tests."""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from data_models.blob_store import Blob, BlobInfo
from data_models.errors import BlobChangedError, BlobExistsError
from services.scenarios.migration.ports import SessionPage, SessionRow, Tally, tallied

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class MemoryBlobs:
    """A `BlobStore` that lives as long as its process."""

    def __init__(self) -> None:
        self._blobs: dict[str, Blob] = {}
        self._versions = count(1)

    async def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        return self._blobs.get(name)

    async def create(self, name: str, data: bytes) -> str:
        """See `BlobStore.create`."""
        if name in self._blobs:
            raise BlobExistsError
        return self._put(name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """See `BlobStore.replace`."""
        if name not in self._blobs or self._blobs[name].etag != etag:
            raise BlobChangedError
        return self._put(name, data)

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """See `BlobStore.list`."""
        for name in sorted(self._blobs):
            if name.startswith(prefix):
                blob = self._blobs[name]
                yield BlobInfo(name, blob.etag, len(blob.data), _NO_TIME)

    async def delete(self, name: str) -> None:
        """See `BlobStore.delete`."""
        self._blobs.pop(name, None)

    async def folders(self) -> AsyncIterator[str]:
        """See `BlobStore.folders`."""
        for folder in sorted({name.split("/")[0] for name in self._blobs if "/" in name}):
            yield folder

    async def copy(self, source: str, target: str) -> None:
        """See `BlobStore.copy`."""
        if source not in self._blobs:
            raise BlobChangedError
        await self.create(target, self._blobs[source].data)

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        """See `BlobStore.append`."""
        held = self._blobs[name].data if name in self._blobs else b""
        if len(held) != position:
            raise BlobChangedError
        self._put(name, held + data)
        return len(held) + len(data)

    async def check(self) -> None:
        """See `BlobStore.check`."""

    async def close(self) -> None:
        """See `BlobStore.close`."""

    def _put(self, name: str, data: bytes) -> str:
        blob = Blob(data, str(next(self._versions)))
        self._blobs[name] = blob
        return blob.etag


class MemorySessionIndex:
    """A `SessionIndex` that lives as long as its process."""

    def __init__(self) -> None:
        self._rows: dict[str, SessionRow] = {}
        self._order: list[str] = []

    async def put(self, row: SessionRow) -> None:
        """See `SessionIndex.put`."""
        if row.session_id not in self._rows:
            insort(self._order, row.session_id)
        self._rows[row.session_id] = row

    async def put_many(self, rows: Iterable[SessionRow]) -> None:
        """See `SessionIndex.put_many`."""
        for row in rows:
            await self.put(row)

    async def drop(self, session_id: str) -> None:
        """See `SessionIndex.drop`."""
        if self._rows.pop(session_id, None) is not None:
            self._order.remove(session_id)

    async def page(
        self,
        scenario_id: str,
        *,
        after: str = "",
        limit: int,
        below_version: int | None = None,
        flagged: bool = False,
    ) -> SessionPage:
        """See `SessionIndex.page`."""
        rows: list[SessionRow] = []
        for session_id in self._order[bisect_right(self._order, after) :]:
            row = self._rows[session_id]
            is_old = below_version is None or row.version < below_version
            if row.scenario_id == scenario_id and is_old and (row.review or not flagged):
                rows.append(row)
            if len(rows) == limit:
                return SessionPage(rows, session_id)
        return SessionPage(rows, "")

    async def tally(self, scenario_id: str) -> Sequence[Tally]:
        """See `SessionIndex.tally`."""
        rows = (row for row in self._rows.values() if row.scenario_id == scenario_id)
        return tallied(Counter(row.alike for row in rows))

    async def mark(self, rows: Sequence[SessionRow], version: int) -> None:
        """See `SessionIndex.mark`."""
        for row in rows:
            known = self._rows.get(row.session_id)
            if known is not None and known.version == row.version:
                self._rows[row.session_id] = replace(known, mark=version)

    async def marked_version(self, session_id: str) -> int:
        """Return the version the session is marked for, or 0."""
        row = self._rows.get(session_id)
        return row.mark if row else 0

    async def close(self) -> None:
        """See `SessionIndex.close`."""
