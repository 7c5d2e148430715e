"""Deletes journals that no server will delete any more: what wrote them died.

A takeover, a clear and the next journal of their conversation delete them too; but where nobody
speaks any more, they would stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.layout import ConversationLayout

LEFT_OVER_DAYS = 1
"""No turn is as long. Storage in the cloud deletes them by itself after it (`infra/`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOverJournals:
    """Works on the container of the conversations."""

    store: BlobStore
    clock: Clock

    async def sweep(self, folders: Iterable[str], *, dry_run: bool) -> int:
        """Look at every conversation; return how many parts were deleted, or would be.

        Raises:
            StoreUnavailableError: the container cannot be used; what was done stays done.
        """
        found = 0
        for folder in folders:
            for name in await self._left_in(ConversationLayout(folder)):
                found += 1
                if not dry_run:
                    await self.store.delete(name)
        return found

    async def _left_in(self, layout: ConversationLayout) -> list[str]:
        oldest = self.clock.now() - timedelta(days=LEFT_OVER_DAYS)
        rows = self.store.list(layout.watched_prefix)
        return [row.name async for row in rows if row.modified_at < oldest]
