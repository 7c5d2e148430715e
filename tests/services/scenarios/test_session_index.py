"""The session index of one machine, in memory and in a file (5.5)."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from data_models.errors import StoreUnavailableError
from data_models.storage.local_blob_store import LocalBlobStore
from services.scenarios.migration.session_index import SessionIndex, SessionRow
from services.stores import INDEX_FILE, SESSIONS
from tests.given import present
from tests.services.scenarios import worlds
from tests.services.scenarios.clinic import BOOKING, Clinic, Visitor
from tests.services.scenarios.worlds import MemoryIndex


@pytest.fixture(params=["memory", "file"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionIndex]:
    is_file = request.param == "file"
    opened = MemoryIndex(tmp_path / "index" / "sessions.sqlite") if is_file else MemoryIndex()
    yield opened
    await opened.close()


def row(session_id: str, scenario: str = "intake", version: int = 1) -> SessionRow:
    return worlds.row(session_id, scenario, version)


async def test_pages_go_on_in_order_and_hold_only_what_was_asked(index: SessionIndex) -> None:
    for name in ("d", "b", "a", "c"):
        await index.put([row(name)])
    await index.put([row("e", version=2)])
    await index.put([row("f", scenario="other")])
    first = await index.page("intake", limit=2, below_version=2)
    second = await index.page("intake", after=first.cursor, limit=2, below_version=2)
    rows = [*first.rows, *second.rows]
    if second.cursor:
        rows += (await index.page("intake", after=second.cursor, limit=2, below_version=2)).rows
    assert [one.session_id for one in rows] == ["d", "b", "a", "c"]
    assert rows[0] == row("d")
    assert "context" not in first.cursor
    for cursor in ("s000001", "9" * 30):
        assert len((await index.page("intake", after=cursor, limit=9)).rows) == 5
    every = await index.page("intake", limit=9)
    assert ([one.session_id for one in every.rows], every.cursor) == (["d", "b", "a", "c", "e"], "")


async def marks(index: SessionIndex) -> list[int]:
    return [one.mark for one in (await index.page("intake", limit=9)).rows]


async def test_marking_twice_is_marking_once_and_a_put_unmarks(index: SessionIndex) -> None:
    await index.put([row("a")])
    await index.mark([row("a")], 2)
    await index.mark([row("a")], 2)
    assert await marks(index) == [2]
    await index.put([row("a", version=2)])
    assert await marks(index) == [0]


async def test_the_file_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    before = MemoryIndex(path)
    await before.put([row("a")])
    await before.mark([row("a")], 3)
    await before.close()
    after = MemoryIndex(path)
    assert await marks(after) == [3]
    await after.close()


async def test_a_file_that_is_no_database_is_unavailable_and_never_empty(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    path.write_bytes(b"no database at all" * 100)
    index = MemoryIndex(path)
    with pytest.raises(StoreUnavailableError):
        await index.page("intake", limit=1)
    await index.close()


async def test_a_file_of_an_earlier_version_is_emptied_and_said_so(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    with closing(sqlite3.connect(path)) as earlier:
        earlier.executescript("CREATE TABLE sessions (id TEXT); PRAGMA user_version = 2;")
    index = MemoryIndex(path)
    with capture_logs() as logs:
        assert (await index.page("intake", limit=1)).rows == []
    assert [one["event"] for one in logs] == ["tags_emptied"]
    await index.close()


async def test_rows_come_and_go_with_the_documents_of_a_folder(tmp_path: Path) -> None:
    clinic = Clinic(tmp_path)
    await clinic.open([Visitor("a", "slot"), Visitor("b", "slot")])
    index = MemoryIndex(tmp_path / INDEX_FILE)
    store = LocalBlobStore(root=tmp_path / SESSIONS, tags=MemoryIndex(tmp_path / INDEX_FILE).local)
    [(name, session, context)] = clinic.contexts([Visitor("a", "slot")])
    blob = present(await store.read(name))
    context.scenario = session.model_copy(update={"step": None})
    await store.replace(name, context.model_dump_json().encode(), etag=blob.etag)
    (left,) = (await index.page(BOOKING, limit=9)).rows
    assert left.session_id == "session-b"
    await store.delete(left.place)
    assert (await index.page(BOOKING, limit=9)).rows == []
    await store.close()
    await index.close()


async def test_a_document_is_written_where_its_tags_cannot_be(tmp_path: Path) -> None:
    (tmp_path / INDEX_FILE).write_bytes(b"no database at all" * 100)
    await Clinic(tmp_path).open([Visitor("a", "slot")])
    store = LocalBlobStore(root=tmp_path / SESSIONS)
    [(name, _, _)] = Clinic(tmp_path).contexts([Visitor("a", "slot")])
    assert await store.read(name) is not None
    await store.close()
