"""Documents: verified writes, a bounded cache, and damage that is never taken for emptiness."""

import asyncio
import traceback
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models import errors
from data_models import values as shapes
from data_models.documents import BlobCache, Documents, parse_document
from data_models.storage.blob_store import Blob
from data_models.values import Document, Newest
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Delay, Down, Fault, FaultyBlobStore, LostAnswer
from tests.given import present

NAME = "c/note.json"


class Note(Document):
    text: str = ""


class NewNote(Document):
    SCHEMA_VERSION: ClassVar[int] = 3

    words: list[str]


def documents(store: MemoryBlobStore | FaultyBlobStore, *, limit: int = 10_000) -> Documents:
    return Documents(store=store, clock=FixedClock(), ids=CountingIds(), cache_limit_bytes=limit)


def faulty(inner: MemoryBlobStore, *plan: Fault | None) -> FaultyBlobStore:
    return FaultyBlobStore(
        inner, {number: fault for number, fault in enumerate(plan, 1) if fault is not None}
    )


@pytest.fixture
def store() -> MemoryBlobStore:
    return MemoryBlobStore()


async def read(found: Documents, *, fresh: bool = False) -> str | None:
    stored = await found.read(NAME, Note, conversation_id="c", fresh=fresh)
    return None if stored is None else stored.document.text


def note(text: str) -> Note:
    return Note(conversation_id="c", text=text)


async def test_what_was_written_is_read_back(store: MemoryBlobStore) -> None:
    etag = await documents(store).write(NAME, note("first"), etag=None)
    await documents(store).write(NAME, note("second"), etag=etag)
    assert await read(documents(store)) == "second"


async def test_a_stale_version_is_refused(store: MemoryBlobStore) -> None:
    mine = documents(store)
    etag = await mine.write(NAME, note("first"), etag=None)
    await documents(store).write(NAME, note("theirs"), etag=etag)
    with pytest.raises(errors.BlobChangedError):
        await mine.write(NAME, note("mine"), etag=etag)
    with pytest.raises(errors.BlobExistsError):
        await mine.write(NAME, note("mine"), etag=None)
    assert await read(mine) == "theirs"


async def test_a_lost_answer_is_a_success_when_the_words_are_there(store: MemoryBlobStore) -> None:
    etag = await documents(faulty(store, LostAnswer())).write(NAME, note("first"), etag=None)
    await documents(faulty(store, LostAnswer())).write(NAME, note("second"), etag=etag)
    assert await read(documents(store)) == "second"


async def test_a_write_that_did_not_happen_is_an_error(store: MemoryBlobStore) -> None:
    found = documents(faulty(store, Down()))
    with pytest.raises(errors.StoreUnavailableError):
        await found.write(NAME, note("first"), etag=None)
    assert await read(found) is None


async def test_a_cancelled_write_is_over_before_anything_happens(store: MemoryBlobStore) -> None:
    found = documents(faulty(store, None, Delay(0.05)))
    etag = await found.write(NAME, note("first"), etag=None)
    writing = asyncio.create_task(found.write(NAME, note("second"), etag=etag))
    await asyncio.sleep(0.01)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await read(found) == "second"
    assert b"second" in store.contents[NAME]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"conversation_id": "c", "text": 5}',
        b'{"text": "no owner"}',
        b'{"conversation_id": "another", "text": "secret"}',
        b"\xff\xfe",
        b"[" * 5_000,
        b'{"conversation_id": "c", "text": "cut o',
    ],
)
async def test_damage_is_refused_kept_in_place_and_copied_once(
    store: MemoryBlobStore, damage: bytes
) -> None:
    await store.create(NAME, damage)
    found = documents(store)
    for _ in range(3):
        with pytest.raises(errors.CorruptDocumentError) as caught:
            await read(found)
        shown = "".join(traceback.format_exception(caught.value))
        assert "secret" not in shown
        assert "cut o" not in shown
    assert store.contents == {NAME: damage, f"{NAME}.corrupt-20300102T030405": damage}


async def test_damage_is_reported_each_time_it_is_met(store: MemoryBlobStore) -> None:
    await store.create(NAME, b"{broken")
    told: list[tuple[str, str]] = []
    found = Documents(
        store=store,
        clock=FixedClock(),
        ids=CountingIds(),
        on_corrupt=lambda conversation_id, kind: told.append((conversation_id, kind)),
    )
    for _ in range(2):
        with pytest.raises(errors.CorruptDocumentError):
            await read(found)
    assert told == [("c", "Note")] * 2


async def test_each_damage_is_kept_even_of_the_same_size_and_second(store: MemoryBlobStore) -> None:
    etag = await store.create(NAME, b"{broken 1")
    with pytest.raises(errors.CorruptDocumentError):
        await read(documents(store))
    await store.replace(NAME, b"{broken 2", etag=etag)
    with pytest.raises(errors.CorruptDocumentError):
        await read(documents(store))
    copies = [data for name, data in store.contents.items() if ".corrupt-" in name]
    assert sorted(copies) == [b"{broken 1", b"{broken 2"]


async def test_a_restored_document_is_seen_without_a_restart(store: MemoryBlobStore) -> None:
    etag = await store.create(NAME, b"{")
    found = documents(store)
    with pytest.raises(errors.CorruptDocumentError):
        await read(found)
    await store.replace(NAME, note("restored").model_dump_json().encode(), etag=etag)
    assert await read(found) == "restored"


async def test_a_store_that_is_down_is_not_an_absent_document(store: MemoryBlobStore) -> None:
    found = documents(faulty(store, Down()))
    with pytest.raises(errors.StoreUnavailableError):
        await read(found)
    assert await read(found) is None


async def test_what_a_newer_server_added_survives_our_rewrite(store: MemoryBlobStore) -> None:
    newer = b'{"schema_version": 9, "min_reader": 1, "conversation_id": "c", "colour": "red"}'
    await store.create(NAME, newer)
    found = documents(store)
    stored = present(await found.read(NAME, Note, conversation_id="c"))
    await found.write(NAME, stored.document, etag=stored.etag)
    assert b'"colour":"red"' in store.contents[NAME]
    assert b'"schema_version":9' in store.contents[NAME]


async def test_what_needs_a_newer_reader_is_refused_and_no_damage(store: MemoryBlobStore) -> None:
    data = b'{"schema_version": 9, "min_reader": 3, "conversation_id": "c", "text": "t"}'
    await store.create(NAME, data)
    with pytest.raises(errors.DocumentTooNewError):
        await read(documents(store))
    assert store.contents == {NAME: data}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that has come from version 1 to 3."""

    def to_2(json: shapes.Json) -> shapes.Json:
        return {**json, "sentence": json["text"]}

    def to_3(json: shapes.Json) -> shapes.Json:
        return {**json, "words": str(json["sentence"]).split()}

    monkeypatch.setattr(shapes, "STEPS", {"NewNote": {1: to_2, 2: to_3}})


@pytest.mark.usefixtures("steps")
async def test_an_old_document_is_upgraded_and_its_old_form_kept(store: MemoryBlobStore) -> None:
    old = b'{"conversation_id": "c", "text": "two words"}'
    await store.create(NAME, old)
    found = documents(store)
    stored = present(await found.read(NAME, NewNote, conversation_id="c"))
    assert (stored.document.words, stored.document.schema_version) == (["two", "words"], 3)
    await found.write(NAME, stored.document, etag=stored.etag)
    backups = [data for name, data in store.contents.items() if name.startswith(f"{NAME}.v1-")]
    assert backups == [old]


def test_a_version_without_a_way_up_is_refused() -> None:
    data = b'{"conversation_id": "c", "schema_version": 1, "text": "t"}'
    with pytest.raises(errors.CorruptDocumentError):
        parse_document(data, NewNote, conversation_id="c")


async def test_reading_again_costs_nothing_and_fresh_asks_the_store(store: MemoryBlobStore) -> None:
    watched = FaultyBlobStore(store)
    found = documents(watched)
    etag = await found.write(NAME, note("first"), etag=None)
    for _ in range(3):
        assert await read(found) == "first"
    assert len(watched.operations) == 1
    await documents(store).write(NAME, note("theirs"), etag=etag)
    assert await read(found, fresh=True) == "theirs"


async def test_a_fresh_read_does_not_change_what_is_remembered(store: MemoryBlobStore) -> None:
    found = documents(store)
    etag = await found.write(NAME, note("first"), etag=None)
    await documents(store).write(NAME, note("theirs"), etag=etag)
    await read(found, fresh=True)
    assert await read(found) == "first"
    found.forget("c")
    assert await read(found) == "theirs"


async def test_a_read_under_way_does_not_undo_a_write(store: MemoryBlobStore) -> None:
    etag = await documents(store).write(NAME, note("first"), etag=None)

    class SlowReads(FaultyBlobStore):
        async def read(self, name: str) -> Blob | None:
            blob = await super().read(name)
            await asyncio.sleep(0.02)
            return blob

    found = documents(SlowReads(store))
    reading = asyncio.create_task(read(found))
    await asyncio.sleep(0.005)
    await found.write(NAME, note("second"), etag=etag)
    assert await reading == "first"
    assert await read(found) == "second"


async def test_what_was_under_way_when_the_conversation_was_forgotten_is_not_remembered(
    store: MemoryBlobStore,
) -> None:
    class Slow(FaultyBlobStore):
        async def read(self, name: str) -> Blob | None:
            blob = await super().read(name)
            await asyncio.sleep(0.02)
            return blob

        async def replace(self, name: str, data: bytes, *, etag: str) -> str:
            new_etag = await super().replace(name, data, etag=etag)
            await asyncio.sleep(0.02)
            return new_etag

    found = documents(Slow(store))
    etag = await documents(store).write(NAME, note("first"), etag=None)
    for under_way in (read(found), found.write(NAME, note("second"), etag=etag)):
        task: asyncio.Task[Any] = asyncio.create_task(under_way)
        await asyncio.sleep(0.005)
        found.forget("c")
        await task
        assert not found.is_remembered(NAME)


async def test_each_read_is_a_document_of_its_own(store: MemoryBlobStore) -> None:
    found = documents(store)
    await found.write(NAME, note("first"), etag=None)
    stored = present(await found.read(NAME, Note, conversation_id="c"))
    stored.document.text = "changed and never saved"
    assert await read(found) == "first"


@given(
    steps=st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 900)), max_size=60
    )
)
@pytest.mark.slow
def test_the_cache_is_bounded_and_forgets_whole_conversations(
    steps: list[tuple[str, str, int]],
) -> None:
    cache, written = BlobCache(limit_bytes=4_000), dict[str, set[str]]()
    for folder, name, size in steps:
        cache.put(f"{folder}/{name}", Blob(b"x" * size, "1"))
        written.setdefault(folder, set()).add(name)
        for other, names in written.items():
            left = {each for each in names if f"{other}/{each}" in cache}
            assert left in (names, set())
            if not left:
                names.clear()
        kept = [f"{other}/{each}" for other, names in written.items() for each in names]
        sizes = [len(blob.data) + 300 for blob in map(cache.get, kept) if blob is not None]
        assert cache.size_bytes == sum(sizes)
        folders = {each.partition("/")[0] for each in kept}
        assert cache.size_bytes <= 4_000 or len(folders) == 1
        assert f"{folder}/{name}" in cache


def test_absence_is_remembered_too() -> None:
    cache = BlobCache(limit_bytes=4_000)
    cache.put("c/absent", None)
    assert "c/absent" in cache
    assert cache.get("c/absent") is None
    cache.drop("c/absent")
    assert "c/absent" not in cache
    assert cache.size_bytes == 0


def test_what_was_put_longest_ago_goes_first() -> None:
    kept = Newest[str, int](limit=2)
    for name, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        kept[name] = value
    assert dict(kept) == {"a": 3, "c": 4}


def test_putting_one_again_takes_no_place() -> None:
    kept = Newest[str, int](limit=2)
    for name, value in (("a", 1), ("b", 2), ("b", 3)):
        kept[name] = value
    assert list(kept) == ["a", "b"]
