"""Index tags of blobs in local files: one small SQLite file beside them."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import structlog

from data_models.errors import StoreUnavailableError
from data_models.storage.blob_store import TagChange, TaggedBlob, TagPage, TagsOf

IN_MEMORY = Path(":memory:")
"""In the place of a file: tags that live as long as their process."""
SHAPE = 3
"""Of the table. A file of another shape is emptied: it is only an index, and is filled again."""
_OWED = 1
"""The file's `application_id` until all blobs' tags are in it."""
_LONGEST = 19
_log = structlog.get_logger()


class LocalBlobTags:
    """`BlobTags` of one folder of blobs; several processes may share the file.

    The file is opened when it is first needed. SQLite reads conditions as the service does.
    """

    def __init__(self, *, path: Path, names: Sequence[str], tags_of: TagsOf) -> None:
        """Take the `names` of all tags; who looks for blobs names the first one."""
        self._path, self._names, self._tags_of = path, names, tags_of
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def note(self, name: str, data: bytes | None) -> None:
        """Note the tags of a blob that was just written, or deleted; see `LocalBlobStore`.

        The blob is stored in any case: tags that cannot be kept are late, as on the service.
        """
        tags = {} if data is None else self._tags_of(name, data)
        if not tags and not self._path.exists() and self._connection is None:
            return
        try:
            self._change([TagChange(name, tags)])
        except StoreUnavailableError as error:
            _log.warning("tags_late", code=error.code)

    async def find(self, where: str, *, after: str, limit: int) -> TagPage:
        return await asyncio.to_thread(self._find, where, after, limit)

    async def set(self, changes: Sequence[TagChange]) -> None:
        await asyncio.to_thread(self._change, changes)

    async def is_whole(self) -> bool:
        """See `BlobTags.is_whole`; a file that is not there has lost them."""
        if not self._path.exists():
            return False
        ((found,),) = await asyncio.to_thread(self._asked, "PRAGMA application_id")
        return bool(found != _OWED)

    async def set_whole(self) -> None:
        await asyncio.to_thread(self._asked, "PRAGMA application_id = 0")

    async def close(self) -> None:
        """See `BlobTags.close`; what was awaited is on disk."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _find(self, where: str, after: str, limit: int) -> TagPage:
        # A condition holds names and values that its writer made safe for the service. A cursor is
        # a number, for the names of blobs hold whose they are.
        statement = f"SELECT * FROM tags WHERE {where} AND id > ? ORDER BY id LIMIT ?"  # noqa: S608
        # What is no cursor of this file, as one of an earlier version, is as good as none.
        behind = int(after) if after.isdecimal() and len(after) < _LONGEST else 0
        rows = self._asked(statement, behind, limit)
        found = [
            TaggedBlob(name, dict(zip(self._names, tags, strict=True))) for _, name, *tags in rows
        ]
        return TagPage(found, str(rows[-1][0]) if len(rows) == limit else "")

    def _asked(self, statement: str, *values: int) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StoreUnavailableError("the index of tags does not answer") from error

    def _change(self, changes: Iterable[TagChange]) -> None:
        try:
            with self._lock, self._db as database:
                for (tags, only_if), alike in groupby(changes, _shape_of):
                    database.executemany(_statement(tags, only_if), map(_values_of, alike))
        except sqlite3.Error as error:
            raise StoreUnavailableError("the index of tags does not answer") from error

    @property
    def _db(self) -> sqlite3.Connection:
        """Only for who holds the lock."""
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            columns = ", ".join(f'"{one}" TEXT NOT NULL' for one in self._names)
            found = sqlite3.connect(self._path, timeout=5, check_same_thread=False)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = NORMAL")
            if found.execute("PRAGMA user_version").fetchone()[0] != SHAPE:
                if found.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    _log.warning("tags_emptied")
                found.executescript(
                    "DROP TABLE IF EXISTS tags; DROP TABLE IF EXISTS sessions;"
                    f"PRAGMA application_id = {_OWED};"
                )
            found.executescript(
                "CREATE TABLE IF NOT EXISTS tags"
                f" (id INTEGER PRIMARY KEY, blob TEXT NOT NULL UNIQUE, {columns});"
                f'CREATE INDEX IF NOT EXISTS by_first ON tags ("{self._names[0]}");'
                f"PRAGMA user_version = {SHAPE};"
            )
            self._connection = found
        return self._connection


def _shape_of(change: TagChange) -> tuple[list[str], list[str]]:
    """Return the names of the tags to set, and of those that a blob has to have and keeps."""
    return [name for name in change.tags if name not in change.only_if], [*change.only_if]


def _values_of(change: TagChange) -> list[str]:
    """Return what the statement of such a change takes."""
    new = [value for name, value in change.tags.items() if name not in change.only_if]
    return [*new, change.name, *change.only_if.values()]


def _statement(tags: Sequence[str], only_if: Sequence[str]) -> str:
    if not tags:
        return "DELETE FROM tags WHERE blob = ?"
    if only_if:
        new = ", ".join(f'"{name}" = ?' for name in tags)
        same = " AND ".join(f'"{name}" = ?' for name in only_if)
        return f"UPDATE tags SET {new} WHERE blob = ? AND {same}"  # noqa: S608
    names = ", ".join(f'"{name}"' for name in tags)
    new = ", ".join(f'"{name}" = excluded."{name}"' for name in tags)
    return (
        f"INSERT INTO tags ({names}, blob) VALUES ({'?, ' * len(tags)}?)"  # noqa: S608
        f" ON CONFLICT (blob) DO UPDATE SET {new}"
    )
