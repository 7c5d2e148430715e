"""Looks for one record in the trail; for what must be on it exactly once."""

from datetime import datetime

from data_models.blob_store import BlobStore
from services.audit.place import ROOT


class AuditSearch:
    """Reads the trail of all replicas. Slow: for the time after a crash, not for every turn."""

    def __init__(self, *, store: BlobStore) -> None:
        self._store = store

    async def holds(self, action: str, *, since: datetime) -> bool:
        """Whether a record with `action` was written on the day of `since` or later.

        Raises:
            StoreUnavailableError: the trail cannot be read, so nobody knows.
        """
        wanted, first_day = f'"{action}"'.encode(), since.strftime("%Y-%m-%d")
        async for row in self._store.list(ROOT):
            if row.name.removeprefix(ROOT)[: len(first_day)] < first_day:
                continue
            blob = await self._store.read(row.name)
            if blob is not None and wanted in blob.data:
                return True
        return False
