"""Index tags of blobs, said without naming a product."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

TagsOf: TypeAlias = Callable[[str, bytes], Mapping[str, str]]
"""Makes the tags of a blob of its name and its bytes; none for one that is not found by tags."""


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


@dataclass(frozen=True, slots=True)
class TagChange:
    """All tags that a blob is to have; its content and ETag stay.

    Attributes:
        tags: At most ten.
        only_if: Those of `tags` that it has to have now; where it has not, all stay as they are.
    """

    name: str
    tags: Mapping[str, str]
    only_if: Mapping[str, str] = field(default_factory=dict)


class BlobTags(Protocol):
    """The tags of one container, which come with every write of a blob and go with the blob.

    Conditions are written as Azure Blob Storage takes them: `"version"<'3' AND "mark"='0'`. The
    service's index of them is seconds behind the blobs.
    """

    async def find(self, where: str, *, after: str, limit: int) -> TagPage:
        """Return blobs whose tags fulfil `where`, in the service's order."""
        ...

    async def set(self, changes: Sequence[TagChange]) -> None:
        """Replace all tags of blobs; one that is gone is left out."""
        ...

    async def is_whole(self) -> bool:
        """Whether every blob's tags are here; not while those of a lost file are looked for."""
        ...

    async def set_whole(self) -> None:
        """Note that they are."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
