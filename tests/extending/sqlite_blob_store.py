"""A storage on SQLite: one file, whose place is chosen in `services/stores.py`."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from data_models.errors import BlobChangedError, BlobExistsError, StoreUnavailableError
from data_models.storage.blob_store import Blob, BlobInfo, checked_blob_name, checked_blob_prefix


class SqliteBlobStore:
    """A `BlobStore` in a table; SQLite's transactions make each write conditional."""

    def __init__(self, *, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS blobs"
            " (name TEXT PRIMARY KEY, data BLOB, etag TEXT, modified TEXT)"
        )

    async def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        with self._transaction() as rows:
            row = rows.execute(
                "SELECT data, etag FROM blobs WHERE name = ?", (checked_blob_name(name),)
            ).fetchone()
        return None if row is None else Blob(data=row[0], etag=row[1])

    async def create(self, name: str, data: bytes) -> str:
        """See `BlobStore.create`."""
        with self._transaction() as rows:
            if self._exists(rows, name):
                raise BlobExistsError
            return self._put(rows, name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """See `BlobStore.replace`."""
        with self._transaction() as rows:
            row = rows.execute(
                "SELECT etag FROM blobs WHERE name = ?", (checked_blob_name(name),)
            ).fetchone()
            if row is None or row[0] != etag:
                raise BlobChangedError
            return self._put(rows, name, data)

    async def delete(self, name: str) -> None:
        """See `BlobStore.delete`."""
        with self._transaction() as rows:
            rows.execute("DELETE FROM blobs WHERE name = ?", (checked_blob_name(name),))

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """See `BlobStore.list`."""
        checked_blob_prefix(prefix)
        with self._transaction() as rows:
            found = rows.execute(
                "SELECT name, etag, length(data), modified FROM blobs"
                " WHERE substr(name, 1, ?) = ? ORDER BY name",
                (len(prefix), prefix),
            ).fetchall()
        for name, etag, size, modified in found:
            yield BlobInfo(name, etag, size, datetime.fromisoformat(modified))

    async def folders(self) -> AsyncIterator[str]:
        """See `BlobStore.folders`."""
        with self._transaction() as rows:
            found = rows.execute(
                "SELECT DISTINCT substr(name, 1, instr(name, '/') - 1) AS folder FROM blobs"
                " WHERE instr(name, '/') > 0 ORDER BY folder"
            ).fetchall()
        for (folder,) in found:
            yield folder

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        """See `BlobStore.append`."""
        with self._transaction() as rows:
            row = rows.execute(
                "SELECT data FROM blobs WHERE name = ?", (checked_blob_name(name),)
            ).fetchone()
            before = b"" if row is None else row[0]
            if len(before) != position:
                raise BlobChangedError
            self._put(rows, name, before + data)
            return len(before) + len(data)

    async def check(self) -> None:
        """See `BlobStore.check`."""
        with self._transaction() as rows:
            rows.execute("SELECT 1").fetchone()

    async def close(self) -> None:
        """See `BlobStore.close`."""
        self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                yield self._database
        except sqlite3.Error as error:
            raise StoreUnavailableError from error

    @staticmethod
    def _exists(rows: sqlite3.Connection, name: str) -> bool:
        found = rows.execute("SELECT 1 FROM blobs WHERE name = ?", (checked_blob_name(name),))
        return found.fetchone() is not None

    @staticmethod
    def _put(rows: sqlite3.Connection, name: str, data: bytes) -> str:
        etag = uuid4().hex
        rows.execute(
            "INSERT OR REPLACE INTO blobs (name, data, etag, modified) VALUES (?, ?, ?, ?)",
            (name, data, etag, datetime.now(UTC).isoformat()),
        )
        return etag
