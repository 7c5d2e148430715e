"""The sample patients' charts do not contradict themselves, and the checker sees it if one does."""

import base64
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.samples.stories import contradictions
from tests.tables import with_cases

PATIENTS = sorted((Path(__file__).parents[2] / "samples" / "patients").glob("*.json"))


def chart(name: str) -> dict[str, Any]:
    path = next(path for path in PATIENTS if path.stem == name)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return copy.deepcopy(found)


@pytest.mark.parametrize("path", PATIENTS, ids=lambda path: path.stem)
def test_a_sample_tells_a_true_story(path: Path) -> None:
    assert not list(contradictions(json.loads(path.read_text(encoding="utf-8"))))


@with_cases("note", "said", "found")
def test_a_contradiction_is_found(note: str, said: str, found: str) -> None:
    bundle = chart("patient_4")
    (held,) = [e["resource"] for e in bundle["entry"] if e["resource"]["id"] == note]
    held["content"][0]["attachment"]["data"] = base64.b64encode(said.encode()).decode()
    assert any(found in line for line in contradictions(bundle))
