"""What only files can do wrong: links, folders in the way, full disks, killed processes."""

import asyncio
import errno
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from data_models.errors import StoreUnavailableError, StoreUnwritableError
from data_models.storage import local_files
from data_models.storage.blob_store import Blob
from data_models.storage.local_blob_store import LocalBlobStore, LocalFolder
from tests.data_models.store_process import LOG, NAME, NEW, increment

OLD = b"old"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def root(data: Path) -> Path:
    return data / "chat-sessions"


def process(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.data_models.store_process", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def every_operation_fails(store: LocalBlobStore, name: str) -> None:
    """Down is not absent: neither None, nor "exists", nor "changed" may be the answer."""
    for attempt in (
        store.read(name),
        store.create(name, b"1"),
        store.replace(name, b"1", etag="x"),
        store.append(name, b"1", position=0),
    ):
        with pytest.raises(StoreUnavailableError) as caught:
            await attempt
        assert "conv1" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


async def test_of_a_disk_that_cannot_be_written_to_what_is_there_is_read(
    local: LocalBlobStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    etag = await local.create(NAME, OLD)

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(local_files, "write_new_file", refuse)
    later = LocalBlobStore(root=root)
    assert await later.read(NAME) == Blob(OLD, etag)
    assert [row.name async for row in later.list("conv1/")] == [NAME]
    for attempt in (later.replace(NAME, NEW, etag=etag), later.check()):
        with pytest.raises(StoreUnwritableError):
            await attempt
    monkeypatch.undo()
    await later.replace(NAME, NEW, etag=etag)
    await later.close()


async def test_only_the_owner_may_read_files_and_folders(local: LocalBlobStore, root: Path) -> None:
    await local.create(NAME, OLD)
    await local.append(LOG, b"one\n", position=0)
    modes = {
        stat.S_IMODE(path.lstat().st_mode) for path in root.parent.rglob("*") if path.is_file()
    }
    folders = [root.parent, *(path for path in root.parent.rglob("*") if path.is_dir())]
    assert modes == {0o600}
    assert {stat.S_IMODE(path.lstat().st_mode) for path in folders} == {0o700}


async def test_a_link_in_place_of_a_blob_is_not_followed(
    local: LocalBlobStore, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_bytes(b"secret")
    await local.create("conv1/other.json", OLD)
    (root / NAME).symlink_to(outside)
    await every_operation_fails(local, NAME)
    with pytest.raises(StoreUnavailableError):
        [row async for row in local.list("conv1/")]
    assert outside.read_bytes() == b"secret"


async def test_a_broken_link_is_not_an_absent_blob(local: LocalBlobStore, root: Path) -> None:
    await local.create("conv1/other.json", OLD)
    (root / NAME).symlink_to(root / "nowhere")
    await every_operation_fails(local, NAME)
    assert not (root / "nowhere").exists()


async def test_a_linked_folder_is_not_followed(
    local: LocalBlobStore, root: Path, tmp_path: Path
) -> None:
    await local.check()
    (tmp_path / "outside").mkdir()
    (root / "conv1").symlink_to(tmp_path / "outside")
    await every_operation_fails(local, NAME)
    with pytest.raises(StoreUnavailableError):
        [row async for row in local.list("conv1/")]
    assert list((tmp_path / "outside").iterdir()) == []


async def test_a_folder_for_a_blob_is_not_an_absent_blob(local: LocalBlobStore, root: Path) -> None:
    await local.check()
    (root / NAME).mkdir(parents=True)
    await every_operation_fails(local, NAME)
    with pytest.raises(StoreUnavailableError):
        await local.delete(NAME)


async def test_a_file_for_a_folder_is_not_an_absent_blob(local: LocalBlobStore, root: Path) -> None:
    await local.check()
    (root / "conv1").write_bytes(b"")
    await every_operation_fails(local, NAME)


async def test_a_lost_disk_is_not_an_empty_store(local: LocalBlobStore, root: Path) -> None:
    await local.create(NAME, OLD)
    lost = root.with_name("unmounted")
    await asyncio.to_thread(root.rename, lost)
    await every_operation_fails(local, NAME)
    for attempt in (local.delete(NAME), local.check(), anext(aiter(local.list("conv1/")))):
        with pytest.raises(StoreUnavailableError):
            await attempt
    assert not await asyncio.to_thread(root.exists)


async def test_a_root_that_cannot_be_made_is_a_store_that_is_down(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = LocalBlobStore(root=tmp_path / "file" / "chat-sessions")
    with pytest.raises(StoreUnavailableError, match=r"ENOTDIR|EEXIST"):
        await store.read(NAME)
    await store.close()


async def test_a_listing_leaves_out_what_is_no_blob(local: LocalBlobStore, root: Path) -> None:
    await local.create(NAME, OLD)
    for stray in (".DS_Store", ".x.tmp", "scheduler top.ini"):
        (root / "conv1" / stray).write_bytes(b"1")
    assert [row.name async for row in local.list("conv1/")] == [NAME]


async def test_old_temporary_files_go_when_a_store_is_opened_and_young_ones_stay(
    data: Path, root: Path
) -> None:
    (data / ".temp").mkdir(parents=True)
    for name, age_seconds in (("old.tmp", 7_200), ("young.tmp", 60)):
        path = data / ".temp" / name
        path.write_bytes(b"half")
        present = path.stat().st_mtime
        os.utime(path, (present - age_seconds, present - age_seconds))
    store = LocalBlobStore(root=root)
    await store.check()
    assert [path.name for path in (data / ".temp").iterdir()] == ["young.tmp"]
    await store.close()


async def test_two_stores_on_a_folder_lose_no_increment(local: LocalBlobStore, root: Path) -> None:
    other = LocalBlobStore(root=root)
    await local.create(NAME, b"0")
    await asyncio.gather(*(increment(store, times=10) for store in (local, other) * 3))
    blob = await other.read(NAME)
    assert blob is not None
    assert blob.data == b"60"
    await other.close()


@pytest.mark.slow
async def test_two_processes_lose_no_increment(local: LocalBlobStore, root: Path) -> None:
    await local.create(NAME, b"0")
    both = [process("increment-local", root, "150") for _ in range(2)]
    ends = [(await asyncio.to_thread(one.communicate), one.returncode) for one in both]
    assert [code for _, code in ends] == [0, 0], ends
    blob = await local.read(NAME)
    assert blob is not None
    assert blob.data == b"300"


@pytest.mark.slow
async def test_a_process_killed_at_any_file_operation_leaves_before_or_after(
    tmp_path: Path,
) -> None:
    outcomes = []
    for step in range(1, 80):
        killed = await killed_at(step, tmp_path / str(step) / "chat-sessions")
        outcomes.append(killed)
        if not killed:
            break
    # Each of the four writes has several operations; the last run came through.
    assert len(outcomes) > 12
    assert outcomes[-1] is False


async def killed_at(step: int, root: Path) -> bool:
    """Kill a process at its `step`-th file operation and look; tell whether it got that far."""
    store = LocalBlobStore(root=root)
    await store.create(NAME, OLD)
    await store.create("conv1/old.json", OLD)
    await store.append(LOG, b"one\n", position=0)
    child = process("die", root, str(step))
    _, errors = await asyncio.to_thread(child.communicate)
    assert child.returncode in {0, -signal.SIGKILL}, errors
    found = {
        row.name: await store.read(row.name) for row in [row async for row in store.list("conv1/")]
    }
    blobs = {name: blob.data for name, blob in found.items() if blob is not None}
    assert blobs[NAME] in {OLD, NEW}
    assert blobs.get("conv1/inbox/1.json", NEW) == NEW
    assert blobs.keys() <= {NAME, "conv1/inbox/1.json", "conv1/old.json"}
    log = await store.read(LOG)
    assert log is not None
    assert log.data in {b"one\n", b"one\ntwo\n"}
    # No lock outlives its process: the next writer goes on at once.
    blob = found[NAME]
    assert blob is not None
    await store.replace(NAME, b"next", etag=blob.etag)
    await store.close()
    return child.returncode != 0


@pytest.mark.slow
async def test_a_full_disk_leaves_everything_as_it_was(local: LocalBlobStore, root: Path) -> None:
    await local.create(NAME, OLD)
    await local.append(LOG, b"one\n", position=0)
    output, errors = await asyncio.to_thread(process("fill", root).communicate)
    assert output.splitlines() == ["the local file store failed: EFBIG"] * 4, errors
    kept = [await local.read(name) for name in (NAME, LOG)]
    assert [blob.data for blob in kept if blob is not None] == [OLD, b"one\n"]
    assert await local.read("conv1/other.json") is None
    assert list((root.parent / ".temp").iterdir()) == []


@pytest.mark.slow
async def test_a_process_that_stands_still_with_a_lock_does_not_hang_the_others(
    local: LocalBlobStore, root: Path
) -> None:
    await local.create(NAME, OLD)
    holder = process("hold", root.parent / ".locks", NAME)
    assert holder.stdout is not None
    assert await asyncio.to_thread(holder.stdout.readline) == "holding\n"
    try:
        async with asyncio.timeout(40):
            with pytest.raises(StoreUnavailableError):
                await local.create(NAME, NEW)
        blob = await local.read(NAME)
        assert blob is not None  # readers need no lock
    finally:
        holder.kill()
        holder.communicate()
    await local.replace(NAME, NEW, etag=blob.etag)


def below(folder: Path) -> list[str]:
    """Everything in a folder, at whatever depth."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


async def test_a_folder_goes_with_its_last_blob_alone(local: LocalBlobStore, root: Path) -> None:
    await local.create("conv1/inbox/0.json", OLD)
    await local.create("conv1/other.json", OLD)
    await local.delete("conv1/inbox/0.json")
    assert below(root) == ["conv1", "conv1/other.json"]
    await local.delete("conv1/other.json")
    assert below(root) == []
    await local.delete("conv1/other.json")
    assert await local.create("conv1/other.json", OLD)


@pytest.mark.slow
def test_a_folder_that_empties_and_fills_at_once_loses_nothing(root: Path) -> None:
    def fill_and_empty(name: str) -> None:
        folder = LocalFolder(root=root)
        folder.open()
        for _ in range(150):
            folder.create(f"conv1/inbox/{name}.json", OLD)
            assert folder.read(f"conv1/inbox/{name}.json") is not None
            folder.append(f"conv1/inbox/{name}.jsonl", b"line", 0)
            assert f"conv1/inbox/{name}.json" in folder.names("conv1/")
            folder.delete(f"conv1/inbox/{name}.jsonl")
            folder.delete(f"conv1/inbox/{name}.json")

    with ThreadPoolExecutor() as threads:
        assert list(threads.map(fill_and_empty, "ab")) == [None, None]
    assert below(root) == []
