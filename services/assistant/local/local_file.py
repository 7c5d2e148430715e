"""One file of one principal: read whole, and changed by conditional writes."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from data_models.conversations.conversation import Effect
from data_models.errors import AssistantError, AssistantItemGoneError, AssistantUnavailableError
from data_models.identifiers import hashed
from data_models.storage.blob_store import Blob, BlobStore, put_blob
from services.assistant.own_things import Contact, Email, Task

TRIES = 8

Result = TypeVar("Result")
Change: TypeAlias = Callable[[bytes | None], tuple[bytes, Result]]
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
        """Store what `change` makes of the file, in a thread; again if somebody else was faster.

        Raises:
            AssistantUnavailableError: others changed it all the time; nothing was changed.
        """
        for _ in range(TRIES):
            blob = await self._store.read(self._name)
            before = self._data(blob)
            after, result = await asyncio.to_thread(change, before)
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


VERSION = 1
ROWS_LIMIT = 5_000


Row = TypeVar("Row", bound=Contact | Email | Task)


def id_of(kind: str, effect: Effect) -> str:
    """Return the id of what an effect makes: made again, it is there already."""
    return f"{kind}_{hashed(kind, effect.key)}"


class LocalRows(Generic[Row]):
    """Reads and changes them; every change is one conditional write of the whole file."""

    def __init__(self, *, file: LocalFile, rows: TypeAdapter[list[Row]]) -> None:
        self._file = file
        self._rows = rows

    async def all(self) -> list[Row]:
        """Return the rows in the order they were added."""
        return self._parsed(await self._file.read())

    async def get(self, row_id: str) -> Row | None:
        """Return one row."""
        return next((row for row in await self.all() if row.id == row_id), None)

    async def insert(self, row: Row) -> Row:
        """Add a row, or return the one that has its id already.

        Raises:
            AssistantError: there are too many.
        """

        def added(rows: list[Row]) -> tuple[list[Row], Row]:
            known = next((one for one in rows if one.id == row.id), None)
            if known is not None:
                return rows, known
            if len(rows) >= ROWS_LIMIT:
                raise AssistantError(f"there is room for {ROWS_LIMIT} only; delete some first")
            return [*rows, row], row

        return await self._change(added)

    async def update(self, row_id: str, **values: Any) -> Row:
        """Give a row other values.

        Raises:
            AssistantItemGoneError: it is gone.
        """

        def changed(rows: list[Row]) -> tuple[list[Row], Row]:
            place = next((at for at, row in enumerate(rows) if row.id == row_id), None)
            if place is None:
                raise AssistantItemGoneError("it is no longer there")
            new = replace(rows[place], **values)
            return [*rows[:place], new, *rows[place + 1 :]], new

        return await self._change(changed)

    async def delete(self, row_id: str) -> bool:
        """Remove a row; False if it was gone already."""

        def removed(rows: list[Row]) -> tuple[list[Row], bool]:
            left = [row for row in rows if row.id != row_id]
            return left, len(left) < len(rows)

        return await self._change(removed)

    async def _change(self, change: Callable[[list[Row]], tuple[list[Row], Result]]) -> Result:
        def made(data: bytes | None) -> tuple[bytes, Result]:
            before = self._parsed(data)
            after, result = change(before)
            return (self._written(after) if data is None or after != before else data), result

        return await self._file.change(made)

    def _parsed(self, data: bytes | None) -> list[Row]:
        if data is None:
            return []
        try:
            document = orjson.loads(data)
            if document["version"] > VERSION:
                raise AssistantError("a newer server wrote the file; ask the operator")
            return self._rows.validate_python(document["rows"])
        except (ValueError, TypeError, LookupError, ValidationError):
            pass
        # Outside the handler: a validation error quotes the file.
        raise AssistantError("the file cannot be read as it is; ask the operator")

    def _written(self, rows: list[Row]) -> bytes:
        dumped = self._rows.dump_python(rows, mode="json")
        return orjson.dumps({"version": VERSION, "rows": dumped}, option=orjson.OPT_INDENT_2)
