"""The session index beside local files: one small SQLite file, rebuilt from the documents."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from data_models.errors import StoreUnavailableError
from services.scenarios.migration.ports import SessionPage, SessionRow, Tally

T = TypeVar("T")
IN_MEMORY = Path(":memory:")
"""In the place of a file: an index that lives as long as its process."""
BATCH = 1_000
SHAPE = 2
"""Of the table. A file of another shape is emptied: it is only an index, rebuilt by a command."""
# The columns are the fields of `SessionRow`, in their order.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    session_id TEXT PRIMARY KEY,
    scenario_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    step_hash TEXT NOT NULL,
    channel TEXT NOT NULL,
    created_at TEXT NOT NULL,
    mark INTEGER NOT NULL,
    place TEXT NOT NULL,
    review TEXT NOT NULL,
    pinned INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_scenario ON sessions (scenario_id, session_id);
CREATE INDEX IF NOT EXISTS flagged ON sessions (scenario_id, session_id) WHERE review <> '';
"""
_PUT = "INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?)"
_PAGE = (
    "SELECT * FROM sessions WHERE scenario_id = ? AND session_id > ? AND version < ?"
    " ORDER BY session_id LIMIT ?"
)
_FLAGGED = _PAGE.replace(" ORDER", " AND review <> '' ORDER")
_TALLY = (
    "SELECT version, step_hash, mark, review, pinned, COUNT(*) FROM sessions"
    " WHERE scenario_id = ? GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5"
)
_MARK = "UPDATE sessions SET mark = ? WHERE session_id = ? AND version = ?"
_ANY_VERSION = 2**62
_CREATED_AT, _PINNED = 5, 9


class SqliteSessionIndex:
    """A `SessionIndex` in a file; several processes may share it.

    All work is done on one thread of its own, so the event loop never waits for the disk. The
    file is opened when it is first needed.
    """

    def __init__(self, *, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session-index")
        self._connection: sqlite3.Connection | None = None

    async def put(self, row: SessionRow) -> None:
        await self.put_many([row])

    async def put_many(self, rows: Iterable[SessionRow]) -> None:
        left = iter(rows)
        while batch := [_values(row) for row in islice(left, BATCH)]:
            await self._many(_PUT, batch)

    async def drop(self, session_id: str) -> None:
        await self._many("DELETE FROM sessions WHERE session_id = ?", [(session_id,)])

    async def page(
        self,
        scenario_id: str,
        *,
        after: str = "",
        limit: int,
        below_version: int | None = None,
        flagged: bool = False,
    ) -> SessionPage:
        version = _ANY_VERSION if below_version is None else below_version
        found = await self._rows(
            _FLAGGED if flagged else _PAGE, (scenario_id, after, version, limit)
        )
        rows = [_row(values) for values in found]
        return SessionPage(rows, rows[-1].session_id if len(rows) == limit else "")

    async def tally(self, scenario_id: str) -> Sequence[Tally]:
        found = await self._rows(_TALLY, (scenario_id,))
        return [
            Tally(version, step, mark, review, bool(pinned), number)
            for version, step, mark, review, pinned, number in found
        ]

    async def mark(self, rows: Sequence[SessionRow], version: int) -> None:
        await self._many(_MARK, [(version, row.session_id, row.version) for row in rows])

    async def close(self) -> None:
        """See `SessionIndex.close`; what was awaited is on disk."""
        if self._connection is not None:
            await self._do(self._connection.close)
        self._thread.shutdown()

    @property
    def _db(self) -> sqlite3.Connection:
        """Only for work on the thread."""
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                connection = sqlite3.connect(self._path, timeout=5)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                if connection.execute("PRAGMA user_version").fetchone()[0] != SHAPE:
                    connection.executescript("DROP TABLE IF EXISTS sessions;")
                connection.executescript(f"{_SCHEMA} PRAGMA user_version = {SHAPE};")
            except sqlite3.Error as error:
                raise StoreUnavailableError("the session index cannot be opened") from error
            self._connection = connection
        return self._connection

    async def _rows(self, statement: str, values: Sequence[object]) -> list[Any]:
        return await self._do(lambda: self._db.execute(statement, values).fetchall())

    async def _many(self, statement: str, values: Sequence[Sequence[object]]) -> None:
        def write() -> None:
            with self._db:
                self._db.executemany(statement, values)

        await self._do(write)

    async def _do(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, work)
        except sqlite3.Error as error:
            raise StoreUnavailableError("the session index does not answer") from error


def _values(row: SessionRow) -> tuple[object, ...]:
    return tuple(one.isoformat() if isinstance(one, datetime) else one for one in astuple(row))


def _row(values: Sequence[Any]) -> SessionRow:
    fields = [*values]
    fields[_CREATED_AT] = datetime.fromisoformat(fields[_CREATED_AT])
    fields[_PINNED] = bool(fields[_PINNED])
    return SessionRow(*fields)
