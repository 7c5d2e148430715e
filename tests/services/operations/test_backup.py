"""A backup made while people talk is whole, restores byte for byte and notices any change."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from data_models.clock import RandomIds
from data_models.errors import BackupError
from data_models.storage.azure_blob_store import AzureBlobStore
from data_models.storage.blob_store import BlobStore
from services.conversations.maintenance_lease import MaintenanceLease
from services.operations.backup import Backup, Restore
from services.operations.backup_files import (
    ROWS,
    SUMMARY,
    BackupFiles,
    open_backup,
    read_rows,
)
from services.stores import AUDIT, SESSIONS, USERS
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.faults import FaultyBlobStore, Kill, SimulatedKill
from tests.services.world import World


def stores_of(world: World) -> dict[str, BlobStore]:
    return {SESSIONS: world.sessions, USERS: world.users, AUDIT: world.audit_store}


def backup_of(world: World) -> Backup:
    maintenance_lease = MaintenanceLease(claimant=world.claimant, ids=world.ids)
    return Backup(
        containers=stores_of(world),
        conversations=SESSIONS,
        maintenance_lease=maintenance_lease,
        clock=world.clock,
    )


def contents(stores: dict[str, BlobStore]) -> dict[str, dict[str, bytes]]:
    found = {}
    for name, store in stores.items():
        assert isinstance(store, MemoryBlobStore)
        found[name] = dict(store.contents)
    return found


def empty() -> dict[str, BlobStore]:
    return {name: MemoryBlobStore() for name in (SESSIONS, USERS, AUDIT)}


@pytest.fixture
async def world() -> World:
    world = World()
    for number in range(3):
        await world.say("start a tumor board for patient_4", chat=f"chat_{number}")
        await world.say("switch to patient_15", chat=f"chat_{number}")
    await world.tell("clear patient context", chat="chat_0")
    return world


def in_folder(folder: Path) -> BackupFiles:
    return open_backup(str(folder), ids=RandomIds())


def in_container(store: BlobStore) -> BackupFiles:
    return BackupFiles(store=store, place="the container", prefix="2026-11-26/")


@pytest.fixture(params=["folder", "container"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> BackupFiles:
    """Where the backup lies."""
    if request.param == "folder":
        return in_folder(tmp_path / "b")
    return in_container(MemoryBlobStore())


@pytest.mark.slow
async def test_what_is_restored_is_what_was_stored(world: World, files: BackupFiles) -> None:
    before = contents(stores_of(world))
    summary = await backup_of(world).make(files)
    fresh = empty()
    restored = await Restore(containers=fresh).run(files)
    assert contents(fresh) == before
    assert restored == summary
    assert summary.blobs == sum(len(blobs) for blobs in before.values())


@pytest.mark.slow
async def test_a_backup_in_azure_is_restored_to_azure_and_grows_on(
    world: World, azurite: str, patient_storage: None
) -> None:
    kept = AzureBlobStore(azurite, container=f"backups-{uuid4().hex[:8]}", ids=world.ids)
    files = in_container(kept)
    summary = await backup_of(world).make(files)
    names = {name: f"{name}-{uuid4().hex[:8]}" for name in (SESSIONS, USERS, AUDIT)}
    fresh = {
        name: AzureBlobStore(azurite, container=own, ids=world.ids) for name, own in names.items()
    }
    try:
        assert await Restore(containers=fresh).run(files) == summary
        rows = [row.name async for row in fresh[AUDIT].list("trail/")]
        grown = await fresh[AUDIT].read(rows[0])
        assert grown is not None
        await fresh[AUDIT].append(rows[0], b"{}", position=len(grown.data))
    finally:
        for store in (kept, *fresh.values()):
            await store.close()


@pytest.mark.slow
async def test_an_installation_in_which_nothing_was_said_is_backed_up_to_azure(
    world: World, azurite: str, patient_storage: None
) -> None:
    name = f"backups-{uuid4().hex[:8]}"
    kept = AzureBlobStore(azurite, container=name, ids=world.ids)
    files = in_container(kept)
    try:
        made = await replace(backup_of(world), containers=empty()).make(files)
        assert (made.blobs, await Restore(containers=empty()).verify(files)) == (0, made)
    finally:
        await kept.close()


@pytest.mark.slow
async def test_a_restored_conversation_goes_on(world: World, tmp_path: Path) -> None:
    await backup_of(world).make(in_folder(tmp_path / "b"))
    fresh = empty()
    await Restore(containers=fresh).run(in_folder(tmp_path / "b"))
    anew = World(sessions=fresh[SESSIONS], users=fresh[USERS], audit_store=fresh[AUDIT])
    answer = await anew.say("and the stage?", chat="chat_1")
    assert answer.texts == ["Heard: and the stage?"]
    assert [turn.user_message for turn in anew.team.requests[0].history] == ["switch to patient_15"]


@pytest.mark.slow
async def test_a_conversation_that_talks_all_the_time_is_copied_between_two_turns(
    world: World, tmp_path: Path
) -> None:
    async def talk() -> None:
        for number in range(60):
            await world.say(f"message {number}", chat="chat_1")

    talking = asyncio.create_task(talk())
    await backup_of(world).make(in_folder(tmp_path / "b"))
    copied = {
        row.name: (tmp_path / "b" / row.container / row.name).read_bytes()
        for row in await read_rows(in_folder(tmp_path / "b"))
        if row.container == SESSIONS
    }
    await talking
    evidence = Evidence(copied, "chat_1")
    assert all(found.turn.turn_status == "COMPLETED" for found in evidence.turns())
    conversation = json.loads(copied["chat_1/conversation.json"])
    assert len(conversation["answered"]) == len(evidence.turns())


@pytest.mark.slow
@pytest.mark.parametrize("spoilt", ["a file", "a row", "the summary", "the list"])
async def test_a_backup_that_was_changed_is_refused_before_anything_is_written(
    world: World, tmp_path: Path, spoilt: str
) -> None:
    folder = tmp_path / "b"
    await backup_of(world).make(in_folder(folder))
    match spoilt:
        case "a file":
            (folder / SESSIONS / "chat_1" / "conversation.json").write_bytes(b"{}")
        case "a row":
            lines = (folder / ROWS).read_bytes().splitlines(keepends=True)
            (folder / ROWS).write_bytes(b"".join(lines[1:]))
        case "the summary":
            (folder / SUMMARY).unlink()
        case _:
            (folder / ROWS).unlink()
    fresh = empty()
    with pytest.raises(BackupError):
        await Restore(containers=fresh).run(in_folder(folder))
    assert contents(fresh) == {SESSIONS: {}, USERS: {}, AUDIT: {}}


async def test_a_container_that_is_not_empty_is_refused(world: World, tmp_path: Path) -> None:
    await backup_of(world).make(in_folder(tmp_path / "b"))
    with pytest.raises(BackupError, match="not empty"):
        await Restore(containers=stores_of(world)).run(in_folder(tmp_path / "b"))


async def test_a_backup_is_not_written_over_something_else(world: World, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(BackupError, match="not empty"):
        await backup_of(world).make(in_folder(tmp_path))
    container = in_container(MemoryBlobStore())
    await backup_of(world).make(container)
    with pytest.raises(BackupError, match="name a new one, or --dated"):
        await backup_of(world).make(container)


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        "https://a.blob.core.windows.net/backups",
        "https://a.blob.core.windows.net/b/c?sig=x",
        "http://a.blob.core.windows.net/backups/2026-11-26",
        "s3://backups/2026-11-26",
    ],
)
def test_an_address_of_no_backup_is_refused_unsigned(world: World, target: str) -> None:
    with pytest.raises(BackupError, match="names no backup") as refused:
        open_backup(target, ids=world.ids)
    assert "sig" not in str(refused.value).replace("signature", "")


async def test_an_address_names_the_container_and_the_backup(world: World) -> None:
    files = open_backup("https://a.blob.core.windows.net/backups/2026-11-26", ids=world.ids)
    assert files.folder is None
    assert files.place == "https://a.blob.core.windows.net/backups/2026-11-26"
    await files.close()


@pytest.mark.slow
async def test_an_interrupted_restore_goes_on(world: World, tmp_path: Path) -> None:
    before = contents(stores_of(world))
    await backup_of(world).make(in_folder(tmp_path / "b"))
    for dies_at in range(1, 12, 3):
        fresh = empty()
        dying = {**fresh, SESSIONS: FaultyBlobStore(fresh[SESSIONS], {dies_at: Kill()})}
        with pytest.raises(SimulatedKill):
            await Restore(containers=dying).run(in_folder(tmp_path / "b"))
        await Restore(containers=fresh).run(in_folder(tmp_path / "b"), resume=True)
        assert contents(fresh) == before


async def test_resuming_into_other_data_is_noticed(world: World, tmp_path: Path) -> None:
    await backup_of(world).make(in_folder(tmp_path / "b"))
    fresh = empty()
    await fresh[SESSIONS].create("chat_1/conversation.json", b"{}")
    with pytest.raises(BackupError, match="not as in the backup"):
        await Restore(containers=fresh).run(in_folder(tmp_path / "b"), resume=True)


async def test_a_journal_is_not_backed_up(world: World, tmp_path: Path) -> None:
    await world.sessions.append("chat_1/watched/run_0/one-0.jsonl", b"x", position=0)
    await backup_of(world).make(in_folder(tmp_path / "b"))
    assert [
        row.name for row in await read_rows(in_folder(tmp_path / "b")) if "watched" in row.name
    ] == []
