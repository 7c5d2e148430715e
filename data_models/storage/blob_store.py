"""What Rounds needs of a storage: named blobs, their tags, and a queue of notes."""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias, TypeVar

from data_models import errors

NAME_LIMIT_CHARS = 1_024
SEGMENT_LIMIT_CHARS = 255
# No leading dot (hidden files, `.` and `..`), no trailing dot (Windows and Azure drop it), no
# colon, backslash, blank or control character: one of those makes a whole container unlistable.
_SEGMENT = r"[A-Za-z0-9_~%-](?:[A-Za-z0-9._~%-]*[A-Za-z0-9_~%-])?"
_NAME = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*")


def is_blob_name(name: str) -> bool:
    """Tell whether `name` is a legal blob name."""
    if len(name) > NAME_LIMIT_CHARS or not _NAME.fullmatch(name):
        return False
    return max(map(len, name.split("/"))) <= SEGMENT_LIMIT_CHARS


def checked_blob_name(name: str) -> str:
    """Return `name` if it is a legal blob name.

    Raises:
        InvalidIdentifierError: over 1,024 characters, a segment over 255, or one that is empty,
            begins or ends with a dot or holds anything but ASCII letters, digits and `._~%-`.
    """
    if not is_blob_name(name):
        raise errors.InvalidIdentifierError(
            kind="blob name", expected="safe ASCII segments of 1 to 255 characters, 1,024 in all"
        )
    return name


def checked_blob_prefix(prefix: str) -> str:
    """Return `prefix` if it is a legal blob name and a final `/` (`conv1/` is not `conv10/`).

    Raises:
        InvalidIdentifierError: anything else.
    """
    if not (prefix.endswith("/") and is_blob_name(prefix[:-1])):
        raise errors.InvalidIdentifierError(
            kind="blob prefix", expected="a blob name and a final slash"
        )
    return prefix


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


TRIES = 100
Made = TypeVar("Made", bound=bytes | None)


async def change_blob(
    store: BlobStore, name: str, change: Callable[[bytes | None], Made], *, what: str
) -> Made:
    """Store what `change` makes of a blob, and return that.

    Args:
        store: Where it lies.
        name: Which blob.
        change: Pure, given what is stored (None: nothing) and called again when somebody else was
            faster; where it returns None, all is left as it is.
        what: What others then change, for the error.

    Raises:
        StoreUnavailableError: others changed it all the time, or the store does not answer.
    """
    for _ in range(TRIES):
        blob = await store.read(name)
        data = change(None if blob is None else blob.data)
        if data is None or await put_blob(store, name, data, replaces=blob):
            return data
    raise errors.StoreUnavailableError(f"{what} is changed all the time")


async def put_blob(
    store: BlobStore, name: str, data: bytes, *, replaces: Blob | None = None
) -> bool:
    """Write in the place of what was read (None: nothing); False if somebody else was faster."""
    try:
        if replaces is None:
            await store.create(name, data)
        elif replaces.data != data:
            await store.replace(name, data, etag=replaces.etag)
    except (errors.BlobExistsError, errors.BlobChangedError):
        return False
    return True


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


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A note in the queue, as whoever holds it knows it.

    Attributes:
        receipt: Proves that the note is still ours; another holder's makes ours worthless.
        taken: How often somebody took it, this time included; 0 for who has put it there.
    """

    item_id: str
    receipt: str
    body: str
    taken: int = 0


class WorkQueue(Protocol):
    """A queue whose notes come back unless somebody removes them.

    Every method raises `StoreUnavailableError` when the queue cannot be reached.
    """

    async def put(self, body: str, *, hidden_seconds: int) -> WorkItem:
        """Add a note that nobody else sees for a while (0 to 7 days).

        It may have 48,000 bytes: storage queues take 64 KiB, and text goes as Base64.
        """
        ...

    async def take(self, *, limit: int, hidden_seconds: int) -> Sequence[WorkItem]:
        """Take up to `limit` (at most 32) visible notes and hide them from all others."""
        ...

    async def hide(self, item: WorkItem, *, seconds: int) -> WorkItem | None:
        """Keep a note for longer and return it as it is known now; None if it is ours no more."""
        ...

    async def remove(self, item: WorkItem) -> bool:
        """Remove a note; False if it is ours no more."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
