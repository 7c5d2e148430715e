"""The sample patients' charts do not contradict themselves, and the checker sees it if one does."""

import base64
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.samples.stories import contradictions

PATIENTS = sorted((Path(__file__).parents[2] / "samples" / "patients").glob("*.json"))


def chart(name: str) -> dict[str, Any]:
    path = next(path for path in PATIENTS if path.stem == name)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return copy.deepcopy(found)


@pytest.mark.parametrize("path", PATIENTS, ids=lambda path: path.stem)
def test_a_sample_tells_a_true_story(path: Path) -> None:
    assert not list(contradictions(json.loads(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    ("note", "said", "found"),
    [
        ("note-5", "Laboratory on 2025-05-19: CEA risen to 9.7 ng/mL.", "tells of 2025-05-19"),
        ("note-7", "Stage IVB given the single extrathoracic lesion.", "one metastasis"),
        ("note-7", "Now cM1b, stage IVB.", "do not fit"),
        ("note-7", "Laboratory: haemoglobin 8.1 g/dL.", "haemoglobin 8.1"),
        ("note-7", "Stage IIIB as before.", "neither coded"),
        ("note-1", "A lady, 71, retired.", "says 71 years"),
    ],
)
def test_a_contradiction_is_found(note: str, said: str, found: str) -> None:
    bundle = chart("patient_4")
    (held,) = [e["resource"] for e in bundle["entry"] if e["resource"]["id"] == note]
    held["content"][0]["attachment"]["data"] = base64.b64encode(said.encode()).decode()
    assert any(found in line for line in contradictions(bundle))
