"""What Rounds needs from storage, said without naming a product."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob's bytes and the version they were read at."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """One row of a listing."""

    name: str
    etag: str
    size_bytes: int
    modified_at: datetime


class BlobStore(Protocol):
    """One container of named blobs with conditional writes.

    Names are `/`-separated and already safe (`data_models.identifiers`). Every method raises
    `StoreUnavailableError` when the store cannot be reached or answers unexpectedly: a failure
    is never answered with "absent" or "empty", because the next write would put that
    emptiness in place of a patient's history. After `StoreUnavailableError` a write may or may
    not have happened; `data_models.documents` reads back and compares.
    """

    async def read(self, name: str) -> Blob | None:
        """Return the blob, or None if and only if the store says that it does not exist."""
        ...

    async def create(self, name: str, data: bytes) -> str:
        """Write a new blob and return its ETag.

        Raises:
            BlobExistsError: a blob of that name exists.
        """
        ...

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """Overwrite the version `etag` and return the new ETag.

        Raises:
            BlobChangedError: the blob is at another version, or does not exist.
        """
        ...

    async def delete(self, name: str) -> None:
        """Delete the blob; deleting an absent one is no error."""
        ...

    def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """Yield the blobs whose names begin with `prefix`, which ends with `/`, in name order."""
        ...

    def folders(self) -> AsyncIterator[str]:
        """Yield the first segments of all names that have more than one, each once, in order.

        For commands that visit every conversation; no turn asks for this.
        """
        ...

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        """Append `data` at byte `position` (0 creates the blob) and return the new length.

        `data` is not empty. A blob made by `append` is only appended to, read and deleted,
        never replaced, and takes 50,000 appends: whoever writes more begins another.

        Raises:
            BlobChangedError: the blob is not `position` bytes long; nothing was written.
        """
        ...

    async def check(self) -> None:
        """Return if the store answers; for readiness."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
