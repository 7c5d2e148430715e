"""A shelf and an index in memory, for what-if cases and tests."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from data_models.blob_store import Blob
from data_models.errors import BlobChangedError, BlobExistsError
from services.scenarios.ports import SessionRow


class MemoryShelf:
    """A `Shelf` that lives as long as its process."""

    def __init__(self) -> None:
        self._blobs: dict[str, Blob] = {}
        self._versions = count(1)

    async def read(self, name: str) -> Blob | None:
        """See `Shelf.read`."""
        return self._blobs.get(name)

    async def create(self, name: str, data: bytes) -> str:
        """See `Shelf.create`."""
        if name in self._blobs:
            raise BlobExistsError
        return self._put(name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """See `Shelf.replace`."""
        if name not in self._blobs or self._blobs[name].etag != etag:
            raise BlobChangedError
        return self._put(name, data)

    def remove(self, name: str) -> None:
        """Lose a blob, as a case may ask."""
        self._blobs.pop(name, None)

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

    async def page(
        self, scenario_id: str, *, after: str, limit: int, below_version: int
    ) -> Sequence[SessionRow]:
        """See `SessionIndex.page`."""
        rows: list[SessionRow] = []
        for session_id in self._order[bisect_right(self._order, after) :]:
            row = self._rows[session_id]
            if row.scenario_id == scenario_id and row.version < below_version:
                rows.append(row)
            if len(rows) == limit:
                break
        return rows

    async def mark(self, session_ids: Sequence[str], version: int) -> None:
        """See `SessionIndex.mark`."""
        for session_id in session_ids:
            self._rows[session_id] = replace(self._rows[session_id], mark=version)

    async def marked(self, session_id: str) -> int:
        """See `SessionIndex.marked`."""
        row = self._rows.get(session_id)
        return row.mark if row else 0
