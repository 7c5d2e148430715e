"""The session index beside local files: one small SQLite file, rebuilt from the documents."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

from data_models.errors import StoreUnavailableError
from services.scenarios.ports import SessionRow

T = TypeVar("T")
BATCH = 1_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    session_id TEXT PRIMARY KEY,
    scenario_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    step_hash TEXT NOT NULL,
    channel TEXT NOT NULL,
    created_at TEXT NOT NULL,
    mark INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_scenario ON sessions (scenario_id, session_id);
"""


class SqliteSessionIndex:
    """A `SessionIndex` in a file; several processes may share it.

    All work is done on one thread of its own, so the event loop never waits for the disk.
    """

    def __init__(self, *, path: Path) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session-index")
        self._db = self._thread.submit(_opened, path).result()

    async def put(self, row: SessionRow) -> None:
        """See `SessionIndex.put`."""
        await self.put_many([row])

    async def put_many(self, rows: Iterable[SessionRow]) -> None:
        """Insert or replace many rows, for rebuilding the index from the documents."""
        left = iter(rows)
        while batch := [_values(row) for row in islice(left, BATCH)]:
            await self._many("INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?,?)", batch)

    async def page(
        self, scenario_id: str, *, after: str, limit: int, below_version: int
    ) -> Sequence[SessionRow]:
        """See `SessionIndex.page`."""
        found = await self._do(
            lambda: self._db.execute(
                "SELECT * FROM sessions WHERE scenario_id = ? AND session_id > ? AND version < ?"
                " ORDER BY session_id LIMIT ?",
                (scenario_id, after, below_version, limit),
            ).fetchall()
        )
        return [_row(values) for values in found]

    async def mark(self, session_ids: Sequence[str], version: int) -> None:
        """See `SessionIndex.mark`."""
        marks = [(version, session_id) for session_id in session_ids]
        await self._many("UPDATE sessions SET mark = ? WHERE session_id = ?", marks)

    async def marked(self, session_id: str) -> int:
        """See `SessionIndex.marked`."""
        found = await self._do(
            lambda: self._db.execute(
                "SELECT mark FROM sessions WHERE session_id = ?", (session_id,)
            ).fetchone()
        )
        return int(found[0]) if found else 0

    def close(self) -> None:
        """Close the file; what was awaited is on disk."""
        self._thread.submit(self._db.close).result()
        self._thread.shutdown()

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


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(path, timeout=5)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
    except sqlite3.Error as error:
        raise StoreUnavailableError("the session index cannot be opened") from error
    return connection


def _values(row: SessionRow) -> tuple[object, ...]:
    return (
        row.session_id,
        row.scenario_id,
        row.version,
        row.step_hash,
        row.channel,
        row.created_at.isoformat(),
        row.mark,
    )


def _row(values: Sequence[str | int]) -> SessionRow:
    session_id, scenario_id, version, step_hash, channel, created_at, mark = values
    return SessionRow(
        session_id=str(session_id),
        scenario_id=str(scenario_id),
        version=int(version),
        step_hash=str(step_hash),
        channel=str(channel),
        created_at=datetime.fromisoformat(str(created_at)),
        mark=int(mark),
    )
