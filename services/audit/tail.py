"""The end of a chain, where the next records go."""

from dataclasses import dataclass

from data_models.blob_store import BlobStore
from data_models.errors import CorruptDocumentError
from services.audit.chain import Link, checked, first_link
from services.audit.place import Place

# An append blob takes 50,000 appends; a small part is also quick to read when it is resumed.
PART_LIMIT_RECORDS = 40_000
PART_LIMIT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Tail:
    """Where the next records of a chain go.

    Attributes:
        part: Number of the part that is written, from 1.
        position: Its length in bytes.
        records: How many records it holds, at least as many as it took appends.
        is_damaged: The part ends in something that is no record; nothing can follow it there.
    """

    place: Place
    part: int
    position: int
    records: int
    link: Link
    is_damaged: bool = False

    @property
    def name(self) -> str:
        """Name of the blob that is written."""
        return self.place.part(self.part)

    def advanced(self, *, size: int, link: Link) -> "Tail":
        """Return the tail after `size` bytes were appended, up to `link`."""
        records = self.records + link.number - self.link.number
        return Tail(self.place, self.part, self.position + size, records, link)

    def with_room(self) -> "Tail":
        """Return this tail, or the beginning of the next part if this one is full or damaged."""
        full = self.records >= PART_LIMIT_RECORDS or self.position >= PART_LIMIT_BYTES
        if not full and not self.is_damaged:
            return self
        return Tail(self.place, self.part + 1, 0, 0, self.link)


async def open_tail(store: BlobStore, place: Place) -> Tail:
    """Return the end of the chain at `place` as it is stored; one read if there is none yet.

    Raises:
        StoreUnavailableError: it cannot be read.
    """
    tail = Tail(place, 1, 0, 0, first_link(place.day, place.folder))
    number = 1
    while (blob := await store.read(place.part(number))) is not None:
        tail = _after(Tail(place, number, 0, 0, tail.link), blob.data)
        number += 1
    return tail


def _after(tail: Tail, data: bytes) -> Tail:
    for line in data.splitlines(keepends=True):
        try:
            link = checked(line.removesuffix(b"\n"), after=tail.link)
        except CorruptDocumentError:
            return Tail(tail.place, tail.part, len(data), tail.records, tail.link, is_damaged=True)
        tail = tail.advanced(size=len(line), link=link)
    # A last line without its end was not written whole.
    damaged = not data.endswith(b"\n") and data != b""
    return Tail(tail.place, tail.part, len(data), tail.records, tail.link, is_damaged=damaged)
