"""Rows of one kind in one JSON file of one principal."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from data_models.effects import Effect
from data_models.errors import AssistantError, AssistantItemGoneError
from data_models.identifiers import hashed
from services.assistant.contacts import Contact
from services.assistant.local_file import LocalFile
from services.assistant.mail import Email
from services.assistant.tasks import Task

VERSION = 1
ROWS_LIMIT = 5_000


Row = TypeVar("Row", bound=Contact | Email | Task)
Result = TypeVar("Result")


def id_of(kind: str, effect: Effect) -> str:
    """Return the id of what an effect makes: made again, it is there already."""
    return f"{kind}_{hashed(kind, effect.key)}"


class LocalRows(Generic[Row]):
    """Reads and changes them; every change is one conditional write of the whole file."""

    def __init__(self, *, file: LocalFile, kind: type[Row]) -> None:
        self._file = file
        self._rows = TypeAdapter(list[kind])  # type: ignore[valid-type]

    async def all(self) -> list[Row]:
        """Return the rows in the order they were added."""
        return self._parsed(await self._file.read())

    async def get(self, row_id: str) -> Row | None:
        """Return one row."""
        return next((row for row in await self.all() if row.id == row_id), None)

    async def add(self, row: Row) -> Row:
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

    async def change(self, row_id: str, **values: Any) -> Row:
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

    async def remove(self, row_id: str) -> bool:
        """Remove a row; False if it was gone already."""

        def removed(rows: list[Row]) -> tuple[list[Row], bool]:
            left = [row for row in rows if row.id != row_id]
            return left, len(left) < len(rows)

        return await self._change(removed)

    async def _change(self, change: Callable[[list[Row]], tuple[list[Row], Result]]) -> Result:
        async def made(data: bytes | None) -> tuple[bytes, Result]:
            before = self._parsed(data)
            after, result = change(before)
            is_same = data is not None and after == before
            return (data if is_same and data is not None else self._written(after)), result

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
