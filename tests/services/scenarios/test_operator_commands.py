"""An operator at the command line, on local files."""

import json
from pathlib import Path
from typing import Any

import pytest

from services.scenarios.__main__ import main

SAMPLES = Path(__file__).parents[3] / "samples" / "scenarios"
FIRST = str(SAMPLES / "appointment_booking.yaml")
SECOND = str(SAMPLES / "appointment_booking_v2.yaml")
BOOKING = "appointment-booking"


class Terminal:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str) -> dict[str, Any]:
        assert main(arguments) == 0, self._capsys.readouterr().err
        found: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return found

    def refused(self, *arguments: str) -> str:
        assert main(arguments) == 1
        return self._capsys.readouterr().err


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return Terminal(capsys)


def test_a_version_goes_from_proposal_to_deployment_and_back(terminal: Terminal) -> None:
    assert terminal.run("publish", FIRST)["active"] == 1
    plan = terminal.run("propose", SECOND, "--by", "ann", "--json")
    assert (plan["status"], plan["inserted"]) == ("pending", ["age_check", "rejected"])
    assert plan["summary"]["warnings"][0]["code"] == "redirect_blocked"
    assert "not approved" in terminal.refused("deploy", BOOKING)
    assert "second person" in terminal.refused("approve", BOOKING, "--by", "ann")
    assert terminal.run("approve", BOOKING, "--by", "bob")["approved_by"] == "bob"
    assert terminal.run("deploy", BOOKING)["state"] == "deployed"
    assert terminal.run("status", BOOKING)["active"] == 2

    back = terminal.run("rollback", BOOKING, "--to", "1", "--by", "bob")
    assert (back["from"], back["to"], back["deleted"]) == (2, 3, ["age_check", "rejected"])
    terminal.run("approve", BOOKING, "--by", "ann")
    terminal.run("deploy", BOOKING)
    assert terminal.run("status", BOOKING)["versions"] == [1, 2, 3]


def test_a_cancelled_plan_stays_cancelled(terminal: Terminal) -> None:
    terminal.run("publish", FIRST)
    terminal.run("propose", SECOND, "--by", "ann")
    assert terminal.run("cancel", BOOKING)["status"] == "cancelled"
    assert terminal.refused("approve", BOOKING, "--by", "bob")


def test_policies_come_from_a_file_and_are_checked(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("publish", FIRST)
    policies = tmp_path / "policies.json"
    policies.write_text('{"slot": {"update_downstream": "perhaps"}}', "utf-8")
    refused = terminal.refused("propose", SECOND, "--by", "ann", "--policies", str(policies))
    assert "slot.update_downstream" in refused
    policies.write_text('{"slot": {"update_downstream": false}}', "utf-8")
    plan = terminal.run("propose", SECOND, "--by", "ann", "--policies", str(policies))
    assert plan["status"] == "pending"


def test_what_is_not_there_is_refused(terminal: Terminal) -> None:
    for command in ("status", "deploy", "pause", "resume", "cancel"):
        assert terminal.refused(command, "nowhere")
    terminal.run("publish", FIRST)
    assert "blob_exists" in terminal.refused("publish", FIRST)
