"""Index tags of blobs, said without naming a product."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TaggedBlob:
    """A blob and those of its tags that the question named."""

    name: str
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TagPage:
    """Some blobs, and where the service goes on; empty on the last page."""

    blobs: list[TaggedBlob]
    cursor: str


class BlobTags(Protocol):
    """The tags of one container; the service's index of them is seconds behind the blobs."""

    async def find(self, where: str, *, after: str, limit: int) -> TagPage:
        """Return blobs whose tags fulfil `where`, in the service's order."""
        ...

    async def set(self, name: str, tags: Mapping[str, str], *, only_if: str | None = None) -> bool:
        """Replace all tags of a blob; its content and ETag stay.

        Args:
            name: Which blob.
            tags: At most ten.
            only_if: A condition on the tags it has now.

        Returns:
            False if the blob is gone or its tags do not fulfil `only_if`.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
