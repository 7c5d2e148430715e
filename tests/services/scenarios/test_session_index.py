"""The session index of one machine, in memory and in a file (5.5)."""

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from data_models.chat_context import ChatContext
from data_models.clock import RandomIds
from data_models.errors import StoreUnavailableError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.storage.azure_blob_store import AzureBlobStore, AzureBlobTags
from data_models.storage.blob_store import TagChange, TagPage
from data_models.storage.local_blob_store import LocalBlobStore
from services.scenarios.migration import session_index
from services.scenarios.migration.session_index import SessionIndex, SessionRow
from services.stores import INDEX_FILE, SESSIONS
from tests.given import present
from tests.peers import running_azurite
from tests.services.scenarios import worlds
from tests.services.scenarios.clinic import BEGUN, BOOKING, Clinic, Visitor, crowd
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


CONTAINER = "chat-sessions"


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An Azurite of our own: it ends a page of found blobs early where others lie between."""
    with running_azurite(tmp_path_factory.mktemp("azurite")) as connection_string:
        yield connection_string


class RecordedTags:
    """`BlobTags` that only remembers what it was asked; what the service checks, it does not."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sent: list[TagChange] = []

    async def find(self, where: str, *, after: str, limit: int) -> TagPage:
        self.asked.append(where)
        return TagPage([], "")

    async def set(self, changes: Sequence[TagChange]) -> None:
        self.sent += changes

    async def is_whole(self) -> bool:
        return True

    async def set_whole(self) -> None:
        return

    async def close(self) -> None:
        return


@pytest.fixture
def clinic(tmp_path: object) -> Clinic:
    return Clinic(data=None)  # type: ignore[arg-type]


def document(clinic: Clinic, visitor: Visitor) -> tuple[str, bytes]:
    [(name, _, context)] = clinic.contexts([visitor])
    return name, context.model_dump_json().encode()


def test_a_context_document_carries_its_session_and_nothing_of_the_patient(clinic: Clinic) -> None:
    name, data = document(clinic, Visitor("a", "slot", age=34))
    tags = session_index.session_tags(name, data)
    assert tags["scenario"] == BOOKING
    assert tags["version"] == "0000000001"
    assert (tags["session"], tags["mark"], tags["review"]) == ("session-a", "0000000000", "-")
    assert len(tags) <= 10
    assert not any("34" in value for key, value in tags.items() if key not in ("step", "created"))


@pytest.mark.parametrize(
    "name",
    ["c/conversation.json", "c/archive/t/c/t_patient_4_context.json", "c/patient_4_turns/1-2.json"],
)
def test_nothing_else_is_tagged(clinic: Clinic, name: str) -> None:
    assert session_index.session_tags(name, document(clinic, Visitor("a", "slot"))[1]) == {}


def test_a_document_without_a_session_or_with_damage_is_written_without_tags() -> None:
    name = ConversationLayout.of("c").context(PatientId("patient_4"))
    empty = ChatContext(conversation_id="c", patient_id=PatientId("patient_4"))
    assert session_index.session_tags(name, empty.model_dump_json().encode()) == {}
    for damaged in (b'{"scenario":{', b'{"scenario":{"version":"x"}}', b'["scenario":{]'):
        assert session_index.session_tags(name, damaged) == {}


def test_what_the_service_does_not_take_is_hashed() -> None:
    row = SessionRow("s", BOOKING, 1, "h", "kanal 'ä'", BEGUN)
    assert "'" not in session_index.tags_of_row(row)["channel"]


def test_a_session_that_was_left_is_found_while_none_is_open(clinic: Clinic) -> None:
    [(name, session, context)] = clinic.contexts([Visitor("a", "slot")])
    context.scenario, context.left_scenarios = None, [session]
    row = session_index.row_in(context.model_dump_json().encode(), place=name)
    assert row is not None
    assert row.session_id == "session-a"


async def test_a_mark_is_set_only_while_the_session_is_where_the_page_saw_it() -> None:
    tags = RecordedTags()
    row = SessionRow("s1", BOOKING, 1, "h", "web", BEGUN, place="c/patient_4_context.json")
    await SessionIndex(tags=tags).mark([row], 2)
    [change] = tags.sent
    assert (change.name, change.tags["mark"]) == (row.place, "0000000002")
    assert change.only_if == {"scenario": BOOKING, "session": "s1", "version": "0000000001"}


async def test_every_tag_is_asked_for_because_only_those_come_back() -> None:
    tags = RecordedTags()
    await SessionIndex(tags=tags).page(BOOKING, limit=5, below_version=3, flagged=True)
    row = session_index.tags_of_row(SessionRow("s", BOOKING, 1, "h", "web", BEGUN))
    assert all(f'"{name}"' in tags.asked[0] for name in row)
    assert "\"version\"<'0000000003'" in tags.asked[0]


@pytest.fixture
async def blobs(
    azurite: str, patient_storage: None
) -> AsyncIterator[tuple[AzureBlobStore, SessionIndex]]:
    store = AzureBlobStore(
        azurite, container=CONTAINER, ids=RandomIds(), tags_of=session_index.session_tags
    )
    index = SessionIndex(tags=AzureBlobTags(azurite, container=CONTAINER))
    yield store, index
    await index.close()
    await store.close()


@pytest.mark.slow
async def test_on_azurite_documents_are_found_marked_and_lose_the_mark_when_written(
    blobs: tuple[AzureBlobStore, SessionIndex], clinic: Clinic
) -> None:
    store, index = blobs
    etags = {}
    for visitor in crowd(60):
        name, data = document(clinic, visitor)
        etags[name] = await store.create(name, data)
    seen: list[SessionRow] = []
    after = ""
    while True:
        page = await index.page(BOOKING, after=after, limit=25, below_version=2)
        await index.mark(page.rows, 2)
        seen += page.rows
        after = page.cursor
        if not after:
            break
    assert len({row.session_id for row in seen}) == len(seen) == 60
    tallies = await index.tally(BOOKING)
    assert {(tally.version, tally.mark) for tally in tallies} == {(1, 2)}
    assert sum(tally.number for tally in tallies) == 60
    assert sum(tally.number for tally in tallies if tally.review) == 2
    flagged = await index.page(BOOKING, limit=60, flagged=True)
    assert {row.review for row in flagged.rows} == {"undecidable"}

    first = seen[0]
    again = await store.read(first.place)
    assert again is not None
    assert again.etag == etags[first.place], "a mark must not disturb a turn's conditional write"
    await store.replace(first.place, again.data, etag=again.etag)
    marks = {one.session_id: one.mark for one in (await index.page(BOOKING, limit=60)).rows}
    assert (marks[first.session_id], marks[seen[1].session_id]) == (0, 2)
