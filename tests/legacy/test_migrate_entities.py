"""A folder of many legacy sessions, moved, interrupted, checked and moved back."""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from data_models.clock import RandomIds, SystemClock
from data_models.entities.entities import Entities
from data_models.errors import StoreUnavailableError
from data_models.storage.blob_store import Blob
from data_models.storage.local_blob_store import LocalBlobStore
from legacy import migrate_entities, validate_entities
from legacy.entity_mover import BACKUP_SUFFIX, Mover
from services.conversations.maintenance_lease import caretaker_for
from services.entities.circumstances import AgentNames
from services.stores import ContextDocuments
from settings import Settings
from tests.amounts import amount
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.entities.world import BOOKING, SCHEDULER

TEAM = AgentNames.of([BOOKING, SCHEDULER], legacy={"appointment_manager": BOOKING})
SESSIONS, BROKEN, EMPTY = amount(by_day=200, by_night=1_000), 7, 20


def legacy_document(number: int, random: Random) -> bytes:
    if number < BROKEN:
        return b'{"continuation_context": {"entities": {"a": '
    keys = ["doctor_preference", "doctor_name", "Time Preference", "available_slots", "room",
            "appointment_id", "9 lives!", "note_to_self", "date_preference"]  # fmt: skip
    chosen = random.sample(keys, random.randint(1, len(keys)))
    entities = {key: random.choice(["x", None, 3, ["3pm"], {"b": 1}]) for key in chosen}
    owner = random.choice(["appointment_manager", BOOKING, "registration", None])
    document: dict[str, Any] = {"conversation_id": f"c{number}", "patient_id": "p1", "extra": "é"}
    if number >= BROKEN + EMPTY:
        document["continuation_context"] = {"entities": entities, "agent": owner, "waits": "time"}
    return json.dumps(document, indent=number % 3).encode()


def fill(root: Path, sessions: int = SESSIONS) -> Path:
    random = Random(4)
    for number in range(sessions):
        folder = root / "chat-sessions" / f"c{number}"
        folder.mkdir(parents=True)
        (folder / "patient_p1_context.json").write_bytes(legacy_document(number, random))
    return root


def digests(root: Path) -> dict[str, str]:
    files = sorted(root.rglob("*_context.json"))
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def backups(root: Path) -> list[Path]:
    return list(root.rglob(f"*{BACKUP_SUFFIX}"))


def mover(root: Path, store: Any = None) -> Mover:
    opened = store or LocalBlobStore(root=root / "chat-sessions")
    lease = caretaker_for(
        Settings(), sessions=opened, users=MemoryBlobStore(), clock=SystemClock(), ids=RandomIds()
    )
    documents = ContextDocuments(store=opened, lease=lease, principal_id="migration")
    return Mover(documents=documents, team=TEAM, clock=FixedClock())


class DyingStore(LocalBlobStore):
    """Goes away after so many writes, as a process that is killed."""

    def __init__(self, *, root: Path, writes: int) -> None:
        super().__init__(root=root)
        self.left = writes

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return await super().replace(name, data, etag=etag)


class GrowingStore(LocalBlobStore):
    """One document gets another entity between its backup and its migration."""

    grown = False

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        if not self.grown:
            self.grown = True
            blob = await self.read(name)
            assert blob is not None
            document = json.loads(blob.data)
            document["continuation_context"]["entities"]["late_preference"] = "kept"
            await super().replace(name, json.dumps(document).encode(), etag=blob.etag)
        return await super().replace(name, data, etag=etag)


@pytest.mark.large
@pytest.mark.slow
async def test_many_sessions_move_are_checked_and_move_back(tmp_path: Path) -> None:
    before = digests(fill(tmp_path))
    dry = await mover(tmp_path).move(dry_run=True)
    assert digests(tmp_path) == before
    dying = mover(tmp_path, DyingStore(root=tmp_path / "chat-sessions", writes=60))
    with pytest.raises(KeyboardInterrupt):
        await dying.move()
    report = await mover(tmp_path).move()
    assert (dry.total, dry.migrated, dry.skipped, dry.failed) == (
        SESSIONS,
        SESSIONS - BROKEN - EMPTY,
        EMPTY,
        BROKEN,
    )
    assert report.migrated == dry.migrated - 60
    assert (report.skipped, report.failed) == (EMPTY + 60, BROKEN)
    checked = await mover(tmp_path).validate()
    assert checked["total"] == checked["equal"] == SESSIONS - BROKEN - EMPTY
    again = await mover(tmp_path).move()
    assert (again.migrated, again.failed) == (0, BROKEN)
    back = await mover(tmp_path).roll_back()
    assert (back.migrated, back.failed) == (SESSIONS - BROKEN - EMPTY, 0)
    assert digests(tmp_path) == before
    assert backups(tmp_path) == []


async def test_a_session_that_grows_during_the_run_loses_nothing(tmp_path: Path) -> None:
    fill(tmp_path, BROKEN + EMPTY + 1)
    root = tmp_path / "chat-sessions"
    report = await mover(tmp_path, GrowingStore(root=root)).move()
    assert (report.migrated, report.failed) == (1, BROKEN)
    document = json.loads((root / f"c{BROKEN + EMPTY}" / "patient_p1_context.json").read_bytes())
    entities = Entities.model_validate(document["entities"])
    assert entities.conversation.get_all()["late_preference"] == "kept"
    assert (await mover(tmp_path).validate())["differences"] == {}
    await mover(tmp_path).roll_back()
    restored = json.loads((root / f"c{BROKEN + EMPTY}" / "patient_p1_context.json").read_bytes())
    assert "late_preference" in restored["continuation_context"]["entities"]


async def test_what_was_not_about_entities_stays_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path, BROKEN + EMPTY + 1)
    await mover(tmp_path).move()
    file = tmp_path / "chat-sessions" / f"c{BROKEN + EMPTY}" / "patient_p1_context.json"
    document = json.loads(file.read_bytes())
    assert document["extra"] == "é"
    assert document["continuation_context"]["waits"] == "time"
    assert "entities" not in document["continuation_context"]


async def test_an_unreachable_store_fails_its_session_only(tmp_path: Path) -> None:
    class Flaky(LocalBlobStore):
        async def read(self, name: str) -> Blob | None:
            if name.startswith(f"c{BROKEN + EMPTY}/"):
                raise StoreUnavailableError("away")
            return await super().read(name)

    fill(tmp_path, BROKEN + EMPTY + 3)
    report = await mover(tmp_path, Flaky(root=tmp_path / "chat-sessions")).move()
    assert (report.migrated, report.failed) == (2, BROKEN + 1)
    assert {row["code"] for row in report.errors} == {"corrupt_document", "store_unavailable"}


@pytest.mark.slow
def test_the_commands_say_what_they_did_and_fail_where_a_session_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    before = digests(fill(tmp_path, BROKEN + EMPTY + 5))
    assert migrate_entities.main(["--dry-run"]) == 1
    assert "migrated        5" in capsys.readouterr().out
    assert migrate_entities.main(["--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"total", "migrated", "skipped", "failed", "errors"}
    assert validate_entities.main([]) == 0
    assert json.loads(capsys.readouterr().out)["equal"] == 5
    moved = digests(tmp_path)
    assert migrate_entities.main(["--rollback", "--dry-run"]) == 0
    assert digests(tmp_path) == moved
    assert migrate_entities.main(["--rollback", "--patient", "p1"]) == 0
    assert digests(tmp_path) == before
    assert migrate_entities.main(["--patient", "nobody"]) == 0
