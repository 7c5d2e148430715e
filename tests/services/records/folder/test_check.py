"""`python -m services.records check`, for operators."""

import json
from pathlib import Path

import pytest

from services.records.__main__ import main
from tests.services.records.charts import bundle, ecog, patient, resource

SHARED = Path(__file__).parents[4] / "samples"


def test_a_sound_folder_is_a_table_and_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(SHARED)]) == 0
    said = capsys.readouterr().out
    assert "6 files, 6 patients" in said
    assert "Skipped: nothing" in said


def test_what_is_skipped_is_told_with_file_resource_and_element(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = resource("Observation", "odd", status=["no"])
    stray = resource("Condition", "s", subject={"reference": "Patient/nobody"})
    content = bundle(patient(), ecog("e", "2024", "1"), odd, stray)
    (tmp_path / "chart.json").write_text(json.dumps(content), encoding="utf-8")
    (tmp_path / "cut.json").write_text("{", encoding="utf-8")
    assert main(["check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "cut.json: ends in the middle" in said
    assert "patient_9: Observation/odd: status: is not as R4 has it" in said
    assert "1 resources name Patient/nobody, who is in no file" in said


def test_no_folder_is_a_plain_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "/nowhere/at/all"]) == 2
    assert "SAMPLES_DIR" in capsys.readouterr().err
