"""Remembers blobs, whole conversations at a time, within a bound."""

from collections import OrderedDict

from data_models.blob_store import Blob

_ROW_BYTES = 300


class BlobCache:
    """The blobs of the conversations that were used last, bounded in bytes; knows absence too.

    A conversation's documents are forgotten together, never one alone: whoever finds the
    conversation document here may then trust what is here of its other documents.
    """

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._folders: OrderedDict[str, dict[str, Blob | None]] = OrderedDict()
        self._bytes = 0

    @property
    def size_bytes(self) -> int:
        """What is kept, each blob with 300 bytes for its row."""
        return self._bytes

    def __contains__(self, name: str) -> bool:
        return name in self._folders.get(_folder(name), {})

    def get(self, name: str) -> Blob | None:
        """Return a blob that is in here, or None if it is known to be absent."""
        folder = _folder(name)
        self._folders.move_to_end(folder)
        return self._folders[folder][name]

    def mark(self, name: str) -> object:
        """Return what stands for now: `put` is told it by whoever has waited for the store."""
        return self._folders.setdefault(_folder(name), {})

    def put(self, name: str, blob: Blob | None, *, since: object = None) -> None:
        """Remember `blob`, or its absence, in the place of what was remembered.

        Args:
            name: Its name.
            blob: What the store holds.
            since: The mark of when it was asked. If the conversation was forgotten later, the
                answer is as old as what was forgotten, and is not remembered.
        """
        if since is not None and self._folders.get(_folder(name)) is not since:
            return
        self.drop(name)
        folder = _folder(name)
        self._folders.setdefault(folder, {})[name] = blob
        self._folders.move_to_end(folder)
        self._bytes += _size(blob)
        while self._bytes > self._limit_bytes and len(self._folders) > 1:
            self.drop_folder(next(iter(self._folders)))

    def drop(self, name: str) -> None:
        """Forget one blob."""
        rows = self._folders.get(_folder(name), {})
        if name in rows:
            self._bytes -= _size(rows.pop(name))

    def drop_folder(self, folder: str) -> None:
        """Forget everything of one conversation."""
        rows = self._folders.pop(folder, {})
        self._bytes -= sum(_size(blob) for blob in rows.values())


def _folder(name: str) -> str:
    return name.partition("/")[0]


def _size(blob: Blob | None) -> int:
    return _ROW_BYTES + (len(blob.data) if blob is not None else 0)
