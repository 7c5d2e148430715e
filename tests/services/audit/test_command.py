"""The verifier as operators run it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from data_models.storage.local_blob_store import LocalBlobStore
from services.audit.__main__ import main
from services.audit.receipt import digest_of
from services.audit.trail import AuditEntry, AuditTrail
from tests.fakes import FixedClock
from tests.tables import with_cases


@pytest.fixture
def blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trail of two records on disk, where the settings look for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))

    async def write() -> None:
        store = LocalBlobStore(root=tmp_path / "data" / "audit-trail")
        trail = AuditTrail(store=store, replica="r", clock=FixedClock())
        for _ in range(2):
            await trail.record(AuditEntry(principal="p", conversation="c", actions=("turn",)))
        await store.close()

    asyncio.run(write())
    return tmp_path / "data/audit-trail/trail/2030-01-02/r/000001.jsonl"


def test_a_sound_trail_exits_with_zero(blob: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert blob.exists()
    assert main(["verify"]) == 0
    assert capsys.readouterr().out == "2 records in 1 chains: sound\n"


def test_a_changed_trail_names_the_first_broken_record(
    blob: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = blob.read_bytes().splitlines(keepends=True)
    blob.write_bytes(first + second.replace(b'"principal":"p"', b'"principal":"q"'))
    assert main(["verify", "--day", "2030-01-02"]) == 1
    assert "000001.jsonl record 2: was changed" in capsys.readouterr().out
    capsys.readouterr()
    assert main(["verify", "--day", "2030-01-03"]) == 0
    assert capsys.readouterr().out == "0 records in 0 chains: nothing to check\n"


def test_no_trail_at_all_is_not_called_sound(
    blob: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert blob.exists()
    elsewhere = Path("elsewhere")
    monkeypatch.setenv("DATA_DIR", str(elsewhere))
    assert main(["verify"]) == main(["verify", "--day", "2030-01-02"]) == 2
    assert "there is no folder elsewhere" in capsys.readouterr().err
    assert not elsewhere.exists()
    elsewhere.mkdir()
    assert main(["verify"]) == 2
    assert "No audit record" in capsys.readouterr().err


def test_a_trail_that_cannot_be_read_is_neither_sound_nor_broken(
    blob: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", "abc")
    assert main(["verify"]) == 2
    assert "PORT" in capsys.readouterr().err
    assert blob.exists()


def _receipt(run_id: str) -> bytes:
    return orjson.dumps({"identifier": {"value": run_id}})


def _write(folder: Path, receipt: bytes) -> None:
    async def write() -> None:
        store = LocalBlobStore(root=folder / "data" / "audit-trail")
        trail = AuditTrail(store=store, replica="r", clock=FixedClock())
        entry = AuditEntry(
            principal="p", conversation="c", run_id="run_1", actions=("turn",), outcome="done",
            receipt=digest_of(receipt),
        )  # fmt: skip
        await trail.record(entry)
        await store.close()

    asyncio.run(write())


@pytest.mark.slow
@with_cases("stored", "shown", "status", "said")
def test_a_receipt_is_proved_against_the_trail(
    blob: Path, capsys: pytest.CaptureFixture[str], stored: str, shown: str, status: int, said: str
) -> None:
    folder = blob.parents[5]
    _write(folder, _receipt(stored))
    file = folder / "receipt.json"
    file.write_bytes(_receipt(shown))
    assert main(["verify", "--receipt", str(file)]) == status
    assert said in capsys.readouterr().out


@pytest.mark.slow
def test_a_receipt_of_a_day_that_was_tampered_with_is_not_sound(
    blob: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = blob.parents[5]
    _write(folder, _receipt("run_1"))
    file = folder / "receipt.json"
    file.write_bytes(_receipt("run_1"))
    blob.write_bytes(blob.read_bytes().replace(b'"principal":"p"', b'"principal":"q"', 1))
    assert main(["verify", "--day", "2030-01-03", "--receipt", str(file)]) == 1
    assert "BROKEN" in capsys.readouterr().out
    assert main(["verify", "--receipt", str(folder / "absent.json")]) == 2
    assert "could not be read" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_runs_as_a_module(blob: Path) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "services.audit", "verify"],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(root), "DATA_DIR": str(blob.parents[4])},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "sound" in done.stdout
