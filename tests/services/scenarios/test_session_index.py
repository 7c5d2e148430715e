"""The session index of one machine, in memory and in a file (5.5)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from data_models.errors import StoreUnavailableError
from services.scenarios.migration.indexes.sqlite_index import IN_MEMORY, SqliteSessionIndex
from services.scenarios.migration.ports import SessionIndex, SessionRow
from tests.services.scenarios.worlds import NOW


@pytest.fixture(params=["memory", "file"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionIndex]:
    path = IN_MEMORY if request.param == "memory" else tmp_path / "index" / "sessions.sqlite"
    opened = SqliteSessionIndex(path=path)
    yield opened
    await opened.close()


def row(session_id: str, scenario: str = "intake", version: int = 1) -> SessionRow:
    return SessionRow(session_id, scenario, version, "hash", "web", NOW)


async def test_pages_go_on_in_order_and_hold_only_what_was_asked(index: SessionIndex) -> None:
    for name in ("d", "b", "a", "c"):
        await index.put(row(name))
    await index.put(row("e", version=2))
    await index.put(row("f", scenario="other"))
    first = await index.page("intake", limit=2, below_version=2)
    second = await index.page("intake", after=first.cursor, limit=2, below_version=2)
    rows = [*first.rows, *second.rows]
    if second.cursor:
        rows += (await index.page("intake", after=second.cursor, limit=2, below_version=2)).rows
    assert [one.session_id for one in rows] == ["a", "b", "c", "d"]
    assert rows[0] == row("a")
    every = await index.page("intake", limit=9)
    assert ([one.session_id for one in every.rows], every.cursor) == (["a", "b", "c", "d", "e"], "")


async def marks(index: SessionIndex) -> list[int]:
    return [one.mark for one in (await index.page("intake", limit=9)).rows]


async def test_marking_twice_is_marking_once_and_a_put_unmarks(index: SessionIndex) -> None:
    await index.put(row("a"))
    await index.mark([row("a")], 2)
    await index.mark([row("a")], 2)
    assert await marks(index) == [2]
    await index.put(row("a", version=2))
    assert await marks(index) == [0]


async def test_the_file_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    before = SqliteSessionIndex(path=path)
    await before.put(row("a"))
    await before.mark([row("a")], 3)
    await before.close()
    after = SqliteSessionIndex(path=path)
    assert await marks(after) == [3]
    await after.close()


async def test_a_file_that_is_no_database_is_unavailable_and_never_empty(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    path.write_bytes(b"no database at all" * 100)
    index = SqliteSessionIndex(path=path)
    with pytest.raises(StoreUnavailableError):
        await index.page("intake", limit=1)
    await index.close()
