"""What every store promises; see `data_models.storage.blob_store`."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, timedelta

import pytest

from data_models.errors import BlobChangedError, BlobExistsError, InvalidIdentifierError
from data_models.identifiers import storage_folder
from data_models.storage.blob_store import BlobStore
from tests.data_models.store_process import NAME, increment
from tests.given import present

UNSAFE_NAMES = [
    "",
    ".",
    "..",
    "/a",
    "a/",
    "a//b",
    "a/./b",
    "a/../b",
    "../a",
    ".hidden",
    "a/.temp",
    "a/b.",
    "a\\b",
    "C:a",
    "a\nb",
    "a\x00b",
    "a\x7f",
    "a b",
    "ä",
    "x" * 256,
    "/".join(["x" * 200] * 6),
]


OPERATIONS: list[Callable[[BlobStore, str], Awaitable[object]]] = [
    lambda store, name: store.read(name),
    lambda store, name: store.create(name, b"1"),
    lambda store, name: store.replace(name, b"1", etag="x"),
    lambda store, name: store.delete(name),
    lambda store, name: store.append(name, b"1", position=0),
]


async def is_refused(attempt: Awaitable[object]) -> bool:
    try:
        await attempt
    except InvalidIdentifierError:
        return True
    return False


async def names(store: BlobStore, prefix: str) -> list[str]:
    return [row.name async for row in store.list(prefix)]


async def contents(store: BlobStore, name: str) -> bytes | None:
    blob = await store.read(name)
    return None if blob is None else blob.data


async def test_a_blob_never_written_is_none(store: BlobStore) -> None:
    assert await store.read(NAME) is None


async def test_what_was_created_is_read_back_with_its_etag(store: BlobStore) -> None:
    etag = await store.create(NAME, b'{"text": "\xc3\xa4"}')
    blob = present(await store.read(NAME))
    assert (blob.data, blob.etag) == (b'{"text": "\xc3\xa4"}', etag)


async def test_bytes_come_back_as_they_were(store: BlobStore) -> None:
    samples = [b"", bytes(range(256)), "Müller 🩺 \u2028".encode(), b"x" * 300_000]
    for number, data in enumerate(samples):
        await store.create(f"conv1/{number}", data)
    assert [await contents(store, f"conv1/{number}") for number in range(4)] == samples


async def test_a_second_create_is_refused_and_changes_nothing(store: BlobStore) -> None:
    await store.create(NAME, b"first")
    with pytest.raises(BlobExistsError):
        await store.create(NAME, b"second")
    assert await contents(store, NAME) == b"first"


async def test_a_replace_of_the_version_read_gives_a_new_etag(store: BlobStore) -> None:
    first = await store.create(NAME, b"1")
    second = await store.replace(NAME, b"2", etag=first)
    blob = present(await store.read(NAME))
    assert first != second == blob.etag
    assert blob.data == b"2"


async def test_a_replace_of_an_older_version_is_refused(store: BlobStore) -> None:
    first = await store.create(NAME, b"1")
    await store.replace(NAME, b"2", etag=first)
    with pytest.raises(BlobChangedError):
        await store.replace(NAME, b"3", etag=first)
    assert await contents(store, NAME) == b"2"


async def test_a_replace_of_an_absent_blob_is_refused_and_creates_nothing(store: BlobStore) -> None:
    etag = await store.create(NAME, b"1")
    with pytest.raises(BlobChangedError):
        await store.replace("conv1/other.json", b"2", etag=etag)
    assert await store.read("conv1/other.json") is None


async def test_an_etag_that_never_was_is_refused(store: BlobStore) -> None:
    await store.create(NAME, b"1")
    for etag in ("", "garbage", "*", '"0x0"'):
        with pytest.raises(BlobChangedError):
            await store.replace(NAME, b"2", etag=etag)
    assert await contents(store, NAME) == b"1"


async def test_a_deleted_blob_is_none_and_may_be_deleted_again(store: BlobStore) -> None:
    await store.create(NAME, b"1")
    await store.delete(NAME)
    await store.delete(NAME)
    assert await store.read(NAME) is None
    await store.create(NAME, b"2")
    assert await contents(store, NAME) == b"2"


async def test_a_listing_is_in_name_order_and_stays_within_its_prefix(store: BlobStore) -> None:
    written = ["conv1/b.json", "conv1/a/2.json", "conv1/a-b.json", "conv1/a.json", "conv1/A.json"]
    for name in [*written, "conv10/x.json", "conv2/y.json"]:
        await store.create(name, b"1")
    assert await names(store, "conv1/") == sorted(written)
    assert await names(store, "conv1/a/") == ["conv1/a/2.json"]
    assert await names(store, "conv3/") == []


async def test_folders_are_the_first_segments_of_all_names(store: BlobStore) -> None:
    for name in ["conv10/x.json", "conv1/a/b/1.json", "conv1/z.json", "alone", "~1/x.json"]:
        await store.create(name, b"1")
    assert [each async for each in store.folders()] == ["conv1", "conv10", "~1"]
    await store.delete("conv10/x.json")
    assert [each async for each in store.folders()] == ["conv1", "~1"]


@pytest.mark.slow
async def test_folders_are_all_found_however_many_there_are(store: BlobStore) -> None:
    expected = [f"conv{number:04}" for number in range(150)]
    await asyncio.gather(*(store.create(f"{each}/x", b"1") for each in expected))
    assert [each async for each in store.folders()] == expected


async def test_a_row_of_a_listing_tells_what_a_read_tells(store: BlobStore) -> None:
    await store.create("conv1/a", b"0")
    etag = await store.create(NAME, b"12345")
    row = [row async for row in store.list("conv1/")][1]
    assert (row.name, row.etag, row.size_bytes) == (NAME, etag, 5)
    assert row.modified_at.utcoffset() == timedelta(0)
    assert row.modified_at.tzinfo is UTC or row.modified_at.tzname() == "UTC"


@pytest.mark.slow
async def test_a_listing_is_whole_however_long_it_is(store: BlobStore) -> None:
    expected = [f"conv1/inbox/{number:04}.json" for number in range(150)]
    await asyncio.gather(*(store.create(name, b"1") for name in expected))
    assert await names(store, "conv1/inbox/") == expected


async def test_a_prefix_that_could_reach_a_neighbour_is_refused(store: BlobStore) -> None:
    prefixes = ["", "/", "conv1", "../", "conv1//", ".temp/"]
    assert [prefix for prefix in prefixes if not await is_refused(names(store, prefix))] == []


async def test_an_unsafe_name_is_refused_by_every_operation(store: BlobStore) -> None:
    for operate in OPERATIONS:
        taken = [name for name in UNSAFE_NAMES if not await is_refused(operate(store, name))]
        assert taken == []


async def test_every_conversation_has_a_folder_that_stores(store: BlobStore) -> None:
    conversations = ["19:abc@thread.tacv2", "a/b", "..", "x" * 2_000, "🩺 é", "CON", "a\nb", "~"]
    for folder in map(storage_folder, conversations):
        name = f"{folder}/archive/20300102T030405-2/{folder}/20300102T030405-2_archived.json"
        await store.create(name, b"1")
        assert await names(store, f"{folder}/") == [name]


async def test_appends_stand_one_after_another(store: BlobStore) -> None:
    position = await store.append("audit/day", b"one\n", position=0)
    position = await store.append("audit/day", b"two\n", position=position)
    assert position == 8
    assert await contents(store, "audit/day") == b"one\ntwo\n"


async def test_an_append_at_another_position_is_refused(store: BlobStore) -> None:
    await store.append("audit/day", b"one\n", position=0)
    for position in (0, 3, 5):
        with pytest.raises(BlobChangedError):
            await store.append("audit/day", b"two\n", position=position)
    assert await contents(store, "audit/day") == b"one\n"


async def test_an_append_to_an_absent_blob_is_refused_and_creates_nothing(store: BlobStore) -> None:
    with pytest.raises(BlobChangedError):
        await store.append("audit/day", b"two\n", position=4)
    assert await store.read("audit/day") is None


async def test_of_many_creates_exactly_one_wins(store: BlobStore) -> None:
    async def create(number: int) -> bytes | None:
        try:
            await store.create(NAME, str(number).encode())
        except BlobExistsError:
            return None
        return str(number).encode()

    winners = [won for won in await asyncio.gather(*map(create, range(20))) if won is not None]
    assert winners == [await contents(store, NAME)]


async def test_of_many_appends_at_one_position_exactly_one_wins(store: BlobStore) -> None:
    async def append(number: int) -> bytes | None:
        try:
            await store.append("audit/day", f"{number:02}\n".encode(), position=0)
        except BlobChangedError:
            return None
        return f"{number:02}\n".encode()

    winners = [won for won in await asyncio.gather(*map(append, range(20))) if won is not None]
    assert winners == [await contents(store, "audit/day")]


@pytest.mark.slow
async def test_no_increment_is_lost_between_tasks(store: BlobStore) -> None:
    await store.create(NAME, b"0")
    await asyncio.gather(*(increment(store, times=5) for _ in range(8)))
    assert await contents(store, NAME) == b"40"


async def test_the_store_says_that_it_answers(store: BlobStore) -> None:
    await store.check()
