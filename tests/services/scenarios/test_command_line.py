"""`python -m services.scenarios`, as an author runs it."""

import json
from io import StringIO
from pathlib import Path

import pytest

from services.scenarios.__main__ import main

SAMPLES = Path(__file__).parents[3] / "samples" / "scenarios"


def test_the_samples_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", *map(str, sorted(SAMPLES.glob("*.yaml")))]) == 0
    assert capsys.readouterr().out.count("is valid") == 5


def test_a_broken_definition_fails_with_its_problems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("id: it\nentry_step: a\nsteps: [{id: b}]", "utf-8")
    assert main(["validate", "--json", str(broken)]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["problems"] == ["entry_step: there is no step 'a'"]


def test_a_plan_names_the_checkpoint_that_blocks_minors(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["appointment_booking.yaml", "appointment_booking_v2.yaml"]
    assert main(["plan", *(str(Path(__file__).parent / name) for name in files)]) == 0
    told = capsys.readouterr().out
    assert "'Order Confirmation' for which 'age < 18' holds" in told
    assert "'Payment Processed' is completed it prevents this" in told


def test_the_sample_cases_end_as_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(SAMPLES / "age_fork_cases.json")]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    before = results["minor before payment is redirected"]["events"]
    assert [row["action"] for row in before] == ["collect", "teleport"]
    (paid,) = results["minor who has paid stays"]["events"]
    assert (paid["step"], paid["v"], paid["blocked"]) == ("Order Confirmation", 2, True)


def test_a_case_that_cannot_be_read_is_an_error_and_the_others_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"id": "good", "graphs": [{"v": 1, "entry": "A", "steps": {"A": {}}}]}
    bad_edge = {**good, "id": "edge", "graphs": [{**good["graphs"][0], "edges": ["A>Z"]}]}  # type: ignore[dict-item]
    unknown = {**good, "id": "unknown", "events": [{"dance": True}]}
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": [bad_edge, unknown, 7, good]}), "utf-8")
    assert main(["simulate", str(file)]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert "no step 'Z'" in results["edge"]["error"]
    assert set(results["unknown"]) == set(results["case 3"]) == {"error"}
    assert results["good"] == {"plan": {"anchors": {}, "deleted": []}, "events": []}


@pytest.mark.parametrize("text", ["", "[]", '{"cases": 3}', "[" * 100_000])
def test_what_is_no_case_file_fails(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text, "utf-8")
    assert main(["simulate", str(file)]) == 1
    assert capsys.readouterr().err


def test_an_absent_file_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "nowhere.yaml"]) == 1
    assert "cannot be read" in capsys.readouterr().err


FAULTY = Path(__file__).with_name("faulty.yaml").read_text("utf-8")


def test_validate_names_every_fault_with_its_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "faulty.yaml"
    file.write_text(FAULTY, "utf-8")
    assert main(["validate", str(file)]) == 1
    told = capsys.readouterr().out
    assert "step 'a', endless loop: nothing leads out of the loop a → b" in told
    assert "step 'a', unknown tool: there is no tool 'rm_rf'" in told


def test_validate_against_the_version_that_runs_names_a_checkpoint_that_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    head = "id: it\nentry_step: a\nsteps:\n"
    old.write_text(head + "  - {id: a, transitions: [{target: b}]}\n  - {id: b}", "utf-8")
    steps = "  - {id: a, transitions: [{target: k}]}\n  - {id: k, is_checkpoint: true, "
    new.write_text(f"{head}{steps}transitions: [{{target: b}}]}}\n  - {{id: b}}", "utf-8")
    assert main(["validate", str(new)]) == 0
    assert main(["validate", str(new), "--against", str(old)]) == 1
    assert "sessions at b now never pass the checkpoint 'k'" in capsys.readouterr().out


def test_a_preview_is_played_in_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(SAMPLES / "oncology_intake.yaml")
    assert main(["preview", file, "--auto"]) == 0
    assert "Oncology intake is complete." in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", StringIO("\nno\n"))
    assert main(["preview", file]) == 1  # the input ended before the scenario did
    assert "Intake without records" in capsys.readouterr().out
