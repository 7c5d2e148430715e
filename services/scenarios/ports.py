"""What scenarios need from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from data_models.blob_store import Blob


class Shelf(Protocol):
    """Named bytes with conditional writes; every `data_models.blob_store.BlobStore` is one."""

    async def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        ...

    async def create(self, name: str, data: bytes) -> str:
        """See `BlobStore.create`."""
        ...

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """See `BlobStore.replace`."""
        ...


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as the index knows it; perhaps a little late.

    Attributes:
        mark: The version that a deployment marked it for; 0 if none.
    """

    session_id: str
    scenario_id: str
    version: int
    step_hash: str
    channel: str
    created_at: datetime
    mark: int = 0


class SessionIndex(Protocol):
    """Finds the sessions of a scenario, eventually consistent."""

    async def put(self, row: SessionRow) -> None:
        """Insert or replace a row, its mark included."""
        ...

    async def page(
        self, scenario_id: str, *, after: str, limit: int, below_version: int
    ) -> Sequence[SessionRow]:
        """Return the next rows after the id `after`, in id order, of versions below a number."""
        ...

    async def mark(self, session_ids: Sequence[str], version: int) -> None:
        """Mark the sessions for `version`; marking again changes nothing."""
        ...

    async def marked(self, session_id: str) -> int:
        """Return the version the session is marked for, or 0."""
        ...
