"""One file of one principal: read whole, and changed by conditional writes."""

import re
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from pathlib import Path
from typing import TypeAlias, TypeVar

from data_models.blob_changes import put_blob
from data_models.blob_store import Blob, BlobStore
from data_models.errors import AssistantUnavailableError

TRIES = 8

Result = TypeVar("Result")
Change: TypeAlias = Callable[[bytes | None], Awaitable[tuple[bytes, Result]]]
Beginning: TypeAlias = Callable[[], bytes | None]


class LocalFile:
    """A blob that several processes may change: every write names the version it was made from.

    Where nothing is stored yet, `begins_as` says what a new user finds; the first change stores it.
    """

    def __init__(self, *, store: BlobStore, name: str, begins_as: Beginning) -> None:
        self._store = store
        self._name = name
        self._begins_as = begins_as

    async def read(self) -> bytes | None:
        """Return what is stored, or what it begins as."""
        return self._data(await self._store.read(self._name))

    async def change(self, change: Change[Result]) -> Result:
        """Store what `change` makes of the file; repeated if somebody else was faster.

        Raises:
            AssistantUnavailableError: others changed it all the time; nothing was changed.
        """
        for _ in range(TRIES):
            blob = await self._store.read(self._name)
            before = self._data(blob)
            after, result = await change(before)
            if after == before or await put_blob(self._store, self._name, after, replaces=blob):
                return result
        raise AssistantUnavailableError("others are changing the same file; try again")

    def _data(self, blob: Blob | None) -> bytes | None:
        return self._begins_as() if blob is None else blob.data


# What a new user finds: copies of the sample files, with days counted from today.

_DAY = re.compile(rb"\{today([+-]\d{1,3})?\}")


class LocalSamples:
    """Reads files of `folder` (None: there are none).

    `{today}`, `{today-3}` and `{today+1}` in a file stand for ISO dates, so that there is
    always something for yesterday and tomorrow.
    """

    def __init__(self, *, folder: Path | None) -> None:
        self._folder = folder

    def file(self, name: str, *, today: date) -> bytes | None:
        """Return a sample, or None if there is none of that name."""
        path = None if self._folder is None else self._folder / name
        if path is None or not path.is_file():
            return None
        return _DAY.sub(lambda found: _day(found[1], today), path.read_bytes())

    def documents(self) -> list[tuple[str, bytes]]:
        """Return names and contents of the sample documents."""
        folder = None if self._folder is None else self._folder / "documents"
        if folder is None or not folder.is_dir():
            return []
        return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]


def _day(offset: bytes | None, today: date) -> bytes:
    return (today + timedelta(days=int(offset or b"0"))).isoformat().encode()
