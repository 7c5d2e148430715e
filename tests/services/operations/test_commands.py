"""The commands work on the containers that the settings name, while a server may run."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from services.operations.__main__ import main
from services.stores import SESSIONS
from tests.e2e.server import running_server
from tests.e2e.talks import talking


async def _talk(url: str) -> None:
    async with talking(url, "plain") as talk:
        for text in ("start a tumor board for patient_4", "yes proceed", "switch to patient_15"):
            await talk.say(text, last_words="")


@pytest.mark.slow
def test_a_hospitals_day_is_backed_up_restored_and_a_patient_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, backup, anew = tmp_path / "data", tmp_path / "backup", tmp_path / "anew"
    with running_server(tmp_path / "server", DATA_DIR=str(data)) as server:
        asyncio.run(_talk(server.url))
        monkeypatch.setenv("DATA_DIR", str(data))
        assert main(["backup", str(backup), "--json"]) == 0
        made = json.loads(capsys.readouterr().out)
    monkeypatch.setenv("DATA_DIR", str(anew))
    assert main(["restore", str(backup)]) == 0
    assert made["blobs"] == len([each for each in backup.rglob("*") if each.is_file()]) - 2
    assert main(["restore", str(backup)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["forget", "patient_4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["deleted"] >= 1
    left = [each.name for each in (anew / SESSIONS).rglob("*") if "patient_4_" in each.name]
    assert left == []
    assert main(["verify", str(backup)]) == 0


def test_a_name_that_is_no_patient_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    assert main(["forget", "../patient_4"]) == 2
    assert "patient id" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [("backup", "made"), ("forget", "patient_4"), ("forget", "patient_4", "--dry-run")]
)
def test_a_folder_that_is_not_there_is_no_empty_installation(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "typing-error"))
    assert main(command) == 2
    assert "DATA_DIR" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["backup", "verify", "restore"])
def test_a_place_that_is_no_folder_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    (tmp_path / "a-file").touch()
    assert main([command, str(tmp_path / "a-file")]) == 2
    assert "a-file" in capsys.readouterr().err


def test_a_backup_that_is_named_by_its_time_lies_below_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    place = tmp_path / "backups"
    assert main(["backup", "--dated", str(place)]) == 0
    (made,) = place.iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}Z", made.name)
    assert main(["verify", str(made)]) == 0
    assert main(["backup", "https://a.blob.core.windows.net/backups"]) == 2
    assert "names no backup" in capsys.readouterr().err
